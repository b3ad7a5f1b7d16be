"""Placeholder."""


def datasets_view() -> None:
    """Nothing yet."""
