"""The verdict on a result and its six numbers: what is read first."""

from __future__ import annotations

import streamlit as st

from components.i18n import _, say
from components.rollouts.results import Opened
from components.theme import count, number, percent, plain

NEARLY = 0.6
"""Below this share of groups with a signal a result is nearly ready, not ready."""


def verdict(opened: Opened, leaking: int) -> None:
    """One block: ready, nearly, or what to do first. ``leaking`` attacks earn what they should not."""
    readiness = opened.readiness
    why = plain(say(readiness.why))
    kept = readiness.kept_share or 0.0
    titles = {
        "too_few": _("Too little to say"), "unscored": _("Repair the reward first"),
        "not_needed": _("Nothing left to teach"), "rft_first": _("Not ready for RL: the reward is too sparse"),
        "no_headroom": _("Not ready for RL: no headroom"),
    }  # fmt: skip
    flat = opened.summary["zero_variance"]
    lost = _(
        "In {flat} of {count} groups all completions earn the same and teach nothing: all right in {right}, all wrong "
        "in {wrong}.",
        flat=flat["all_right"] + flat["all_wrong"], count=len(opened.groups.sizes), right=flat["all_right"],
        wrong=flat["all_wrong"],
    )  # fmt: skip
    if leaking:
        lost += " " + _("Close the leaks under Attacks first: RL finds them.")
    if readiness.verdict == "ready" and kept >= NEARLY and not leaking:
        st.success(f"{why} {lost}", title=_("Ready for RL"), icon=":material/check_circle:")
    elif readiness.verdict == "ready":
        st.warning(f"{why} {lost}", title=_("Nearly ready for RL"), icon=":material/flag:")
    elif readiness.verdict == "unscored":
        st.error(why, title=titles["unscored"], icon=":material/error:")
    elif readiness.verdict == "too_few":
        st.info(why, title=titles["too_few"], icon=":material/info:")
    else:
        st.warning(f"{why} {lost}", title=titles[readiness.verdict], icon=":material/flag:")


def figures(opened: Opened, leaks: str) -> None:
    """Six numbers, each with its interval and its meaning."""
    summary, intervals = opened.summary, opened.summary["intervals"]
    shown = [
        (_("One try, bo1"), number(summary["bo1"]), _("Mean reward of a completion."), intervals["bo1"]),
        (_("Best, bon"), number(summary["bon"]), _("Mean over prompts of the best completion."), intervals["bon"]),
        (_("Worst, won"), number(summary["won"]), _("Mean over prompts of the worst completion."), intervals["won"]),
        (_("No signal"), percent(summary["zero_variance_share"]), _("Groups whose completions earn the same."), None),
        (_("Unscored"), count(summary["unscored"]), _("No number: a rule failed, or all abstained."), None),
        (_("Leaks"), leaks, _("Attacks that earn more than they should."), None),
    ]  # fmt: skip
    with st.container(key="rollout_figures"):
        for column, (label, value, meaning, span) in zip(st.columns(6, gap="small"), shown, strict=True):
            more = (
                _("95 % interval over groups: {low} to {high}.", low=number(span[0]), high=number(span[1]))
                if span
                else ""
            )
            column.metric(label, value, help=f"{meaning} {more}".strip())
