"""Running the function that is being written on the sample that is looked at."""

from __future__ import annotations

from datetime import UTC, datetime

import streamlit as st

from components import scoring, state
from components.i18n import _
from components.samples import current_sample
from components.state import Answer, OpenDraft, Remembered
from rewards_lib.contract import Finding
from rewards_lib.function_sources import draft_version, from_content
from rewards_lib.scoring import ResolvedFunction


def run(draft: OpenDraft) -> None:
    """Run the draft as it stands on the current sample, and remember the answer with what it is the answer to."""
    payload = current_sample()
    with st.spinner(_("Running …"), show_time=True):
        result = scoring.score_function(draft.name, _function(draft), payload)
    answer = Answer(result, None, f"function:{draft.name}", tuple(one.text for one in payload.completions))
    state.last_runs.get()[draft.name] = Remembered(question_of(draft), answer, datetime.now(UTC))


def question_of(draft: OpenDraft) -> str:
    """A fingerprint of what a run depends on: code, requirements, hosts, limits and sample."""
    function = _function(draft)
    return scoring.fingerprint(function.sha256, str(function.limits), scoring.payload_text(current_sample()))


def raised_at(run: Remembered[Answer] | None) -> tuple[Finding, ...]:
    """The line that raised in a run, for the editor to mark; empty when nothing did or the line is not known."""
    rule = run.result.result.rules[0] if run and run.result.result else None
    if rule is None or rule.error is None or rule.error_line is None:
        return ()
    return (Finding("error", rule.error, rule="raised", line=rule.error_line),)


def _function(draft: OpenDraft) -> ResolvedFunction:
    return from_content(draft.name, draft.content, version=draft_version(draft.content))
