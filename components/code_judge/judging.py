"""Judging beside the page: started, watched, ended, and its answer taken when the page is drawn next."""

from __future__ import annotations

from concurrent.futures import wait
from datetime import UTC, datetime
from typing import Any

import streamlit as st

from components import state
from components.code_judge.draft import submission_of
from components.functions import background
from components.i18n import _
from components.scoring import fingerprint
from components.state import JudgeAnswer, OpenDraft, Remembered
from rewards_lib.code_judge.cancellation import Cancellation
from rewards_lib.code_judge.responses import submit_response
from rewards_lib.code_judge.shared import shared_judge
from rewards_lib.errors import RewardConsoleError, boundary
from rewards_lib.executor.stopping import StopSwitch
from rewards_lib.strict_json import write_json


def question_of(content: dict[str, Any]) -> str:
    """What tells one submission from another."""
    return fingerprint(write_json(content), "code judge")


def start(draft: OpenDraft) -> None:
    """Judge the submission in a thread of its own; what is unusable is the answer at once."""
    if state.judging.get() is not None:
        return
    with boundary(lambda error: _keep(question_of(draft.content), JudgeAnswer(None, error))):
        submission, stop = submission_of(draft.content), StopSwitch()

        def judge() -> JudgeAnswer:
            with Cancellation() as cancellation, stop.ending(cancellation.cancel):
                judgement = shared_judge().judge(submission, cancellation=cancellation)
            return JudgeAnswer(judgement, None, write_json(submit_response(submission, judgement), indent=1))

        state.judging.set(background.start(judge, question=question_of(draft.content), stop=stop))


def collect(wait_seconds: float = 1.5) -> None:
    """Take the answer of a judging that has ended; one that was just started is worth a moment's wait."""
    work = state.judging.get()
    if work is None:
        return
    if work.is_new():
        wait([work.outcome], timeout=wait_seconds)
    if not work.outcome.done():
        return
    state.judging.clear()
    error = work.outcome.exception()
    if error is None:
        _keep(work.question, work.outcome.result())
    elif isinstance(error, RewardConsoleError):
        _keep(work.question, JudgeAnswer(None, error))


def progress() -> None:
    """Say that a judging is in progress, and offer to end it."""
    work = state.judging.get()
    if work is not None:
        background.progress(work, _("Judging …"), _("Stop judging"), key="stop_judging")


def download(answer: Remembered[JudgeAnswer] | None) -> None:
    """Offer the verdict as the service would answer it."""
    known = answer.result if answer else None
    body = "" if known is None or known.judgement is None else known.response
    st.download_button(
        _("Download"), body, "verdict.json", "application/json", icon=":material/download:", type="tertiary",
        key="download_verdict", disabled=not body, on_click="ignore",
    )  # fmt: skip


def _keep(question: str, answer: JudgeAnswer) -> None:
    state.judged.set(Remembered(question, answer, datetime.now(UTC)))
