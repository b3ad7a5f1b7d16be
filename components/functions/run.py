"""Running the function that is being written on the sample that is looked at, beside the page: it can be stopped."""

from __future__ import annotations

from concurrent.futures import wait
from datetime import UTC, datetime

import streamlit as st

from components import cache, scoring, state
from components.functions import background
from components.i18n import _
from components.samples import current_sample
from components.state import Answer, OpenDraft, Remembered
from rewards_lib.contract import Finding
from rewards_lib.executor import Limits
from rewards_lib.executor.stopping import StopSwitch
from rewards_lib.function_sources import draft_version, from_content, function_alone
from rewards_lib.scoring import ResolvedFunction, score_payload

PATIENCE_SECONDS = 2.0
"""A run that is this short is shown in the rerun that began it."""


def start(draft: OpenDraft) -> None:
    """Begin a run of the draft as it stands on the current sample; one that is in progress is stopped first."""
    stop_run(draft)
    function, payload, stop = _function(draft), current_sample(), StopSwitch()
    executor = cache.executor().stopped_by(stop)
    mix, resolve = function_alone(draft.name, function)
    texts = tuple(one.text for one in payload.completions)

    def job() -> Answer:
        result = score_payload(mix, payload, executor=executor, resolve=resolve)
        return Answer(result, None, f"function:{draft.name}", texts)

    state.runs_in_progress.get()[draft.name] = background.start(job, question=question_of(draft), stop=stop)


def stop_run(draft: OpenDraft) -> None:
    """End the run in progress, if there is one; nothing is kept of it."""
    running = state.runs_in_progress.get().pop(draft.name, None)
    if running is not None:
        running.stop.press()


def collect() -> None:
    """Remember the answers of the runs that have ended, each with what it is the answer to; wait for a short one."""
    running = state.runs_in_progress.get()
    for name, work in list(running.items()):
        if work.is_new():
            with st.spinner(_("Running …"), show_time=True):
                wait([work.outcome], PATIENCE_SECONDS)
        if work.outcome.done():
            running.pop(name)
            answer = work.outcome.result()
            state.last_runs.get()[name] = Remembered(work.question, answer, datetime.now(UTC))


def progress(draft: OpenDraft, limits: Limits) -> bool:
    """Draw the run in progress and the button that stops it; False when there is none."""
    work = state.runs_in_progress.get().get(draft.name)
    if work is None:
        return False
    told = _("Running, {seconds:g} s at most", seconds=limits.wall_seconds)
    background.progress(work, told, _("Stop"), key="stop_run")
    return True


def question_of(draft: OpenDraft) -> str:
    """A fingerprint of what a run depends on: code, requirements, hosts, secrets, limits and sample."""
    function = _function(draft)
    names = str([name for name, _value in function.source.secrets])
    return scoring.fingerprint(function.sha256, names, str(function.limits), scoring.payload_text(current_sample()))


def raised_at(run: Remembered[Answer] | None) -> tuple[Finding, ...]:
    """The line that raised in a run, for the editor to mark; empty when nothing did or the line is not known."""
    rule = run.result.result.rules[0] if run and run.result.result else None
    if rule is None or rule.error is None or rule.error_line is None:
        return ()
    return (Finding("error", rule.error, rule="raised", line=rule.error_line),)


def _function(draft: OpenDraft) -> ResolvedFunction:
    return from_content(draft.name, draft.content, version=draft_version(draft.content))
