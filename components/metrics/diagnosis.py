"""The diagnosis of the opened runs for a visitor: with their thresholds, their own rules and the mix they chose."""

from __future__ import annotations

import json
from collections.abc import Mapping

import streamlit as st

from components import cache, state
from components.i18n import _
from components.shell import show_failure
from rewards_lib.errors import InputError, RewardConsoleError
from rewards_lib.mix import mix_from_json
from rewards_lib.training_metrics import (
    Diagnosis,
    RuleBook,
    Run,
    diagnose,
    read_rules,
    rule_book,
)

MIX = "metric_mix"


def book_of_visitor() -> RuleBook:
    """The forty rules with the visitor's thresholds and own rules; own rules that are broken are told and left out."""
    book = rule_book()
    own = state.metric_own_rules.get()
    if own.strip():
        try:
            book = book.with_rules(read_rules(own, name=_("own rules")))
        except InputError as error:
            show_failure(error)
    return book.with_thresholds(state.metric_thresholds.get())


def judge_runs(
    read: str, runs: Mapping[str, Run], book: RuleBook, weights: Mapping[str, float] | None
) -> dict[str, Diagnosis]:
    """Judge every run, by its label, with the visitor's rules; each once for what was read, rules and weights."""
    rules = [state.metric_thresholds.get(), state.metric_own_rules.get()]
    judged = {}
    for label, run in runs.items():
        at = json.dumps([read, label, weights], sort_keys=True)
        try:
            with st.spinner(_("Judging the run ...")):
                judged[label] = _judge(at, json.dumps(rules, sort_keys=True), run, book, weights)
        except RewardConsoleError as error:
            show_failure(error)
            judged[label] = _judge(at, "", run, rule_book(), weights)
    return judged


@st.cache_resource(max_entries=32, show_spinner=False)
def _judge(
    at: str,  # noqa: ARG001 -- what is judged and against which mix, as a key
    rules: str,  # noqa: ARG001 -- what it is judged by, as a key
    _run: Run,
    _book: RuleBook,
    _weights: Mapping[str, float] | None,
) -> Diagnosis:
    return diagnose(_run, book=_book, weights=_weights)


def judged_by() -> str:
    """What the runs are judged by beside the usual rules, in one sentence; empty where there is nothing."""
    changed = sum(map(len, state.metric_thresholds.get().values()))
    parts = [_("thresholds changed: {count}", count=changed)] if changed else []
    parts += [_("own rules")] if state.metric_own_rules.get().strip() else []
    parts += [_("the mix {name}", name=state.widget(MIX))] if state.widget(MIX) else []
    return _("Judged not only by the usual rules: {what}.", what=_(", ").join(parts)) if parts else ""


def mix_chooser() -> None:
    """Draw the choice of a mix among the drafts."""
    st.selectbox(
        _("Check against the mix"),
        [one.name for one in cache.store().list_drafts("mix")],
        index=None,
        placeholder=_("Choose a mix of Compose"),
        help=_("Is the final reward the weighted sum of this mix?"),
        key=MIX,
        persist_state="session",
    )


def weights_of_mix() -> dict[str, float] | None:
    """The weights of the chosen mix by function; None when none is chosen or it is gone."""
    chosen = state.widget(MIX)
    if chosen is None or chosen not in {one.name for one in cache.store().list_drafts("mix")}:
        return None
    try:
        mix = mix_from_json({**cache.store().load_draft("mix", chosen).content, "name": chosen})
    except RewardConsoleError as error:
        show_failure(error)
        return None
    return {rule.name: float(rule.weight) for rule in mix.rules}
