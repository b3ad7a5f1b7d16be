"""The tabs of a result, and how one of them opens another."""

from __future__ import annotations

from components import state
from components.i18n import _

TABS = "evidence"
"""The key of the tabs; the address holds the open one."""
AT = "at"
"""The address names the completion by its number in the file, from 1."""
FILTER_TEXT = "rollout_filter_text"
"""The key of the completions' filter."""


def show_completions(wanted: str) -> None:
    """Open the completions with this filter."""
    state.rollout_filter.set(wanted)
    state.put_widget(FILTER_TEXT, wanted)
    state.rollout_place.set(-1)
    state.put_widget(TABS, tab_names()["completions"])


def tab_names() -> dict[str, str]:
    """The tabs of a result by their short names."""
    return {
        "overview": _("Overview"), "groups": _("Groups"), "completions": _("Completions"), "attacks": _("Attacks"),
        "what_if": _("What if"), "compare": _("Compare"), "cases": _("Cases"),
    }  # fmt: skip
