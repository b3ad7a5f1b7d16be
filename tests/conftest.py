"""What holds for every test: on a busy machine a slow example is no failure; what takes longest begins first."""

from hypothesis import HealthCheck, settings

LONGEST_FIRST = ("tests/e2e/", "tests/pages/", "tests/rewards_lib/code_judge/", "tests/rewards_lib/executor/")

settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


def pytest_collection_modifyitems(items):
    """Put the folders that take minutes before those that take seconds, so that no worker ends long after another."""
    items.sort(
        key=lambda item: next((n for n, folder in enumerate(LONGEST_FIRST) if item.nodeid.startswith(folder)), 9)
    )
