"""Before there is a result: choose a file, see what it holds, choose the mix, start."""

from __future__ import annotations

import os
from pathlib import Path

import streamlit as st

from components import address, state
from components.i18n import _
from components.result_table import tail
from components.rollouts import progress
from components.rollouts.cases import cases_tab
from components.rollouts.datasets import datasets_view
from components.rollouts.scorers import Scorer, choose_scorer
from components.rollouts.sources import choose_source, look_into
from components.rollouts.stored_files import stored_files
from components.shell import panel_head, show_failure
from components.state import RolloutSource
from components.theme import plain
from rewards_lib.errors import boundary
from rewards_lib.jobs import JobRequest
from rewards_lib.jobs.job import MANY_BYTES
from rewards_lib.rollouts import ColumnMap
from rewards_lib.rollouts.filtering import prompt_text
from rewards_lib.rollouts.survey import Survey
from rewards_lib.strict_json import write_json

VIEW = "rollouts_view"
MOST_WORKERS = 4


def setup() -> None:
    """Draw what comes before a result."""
    views = {
        "score": _("Score rollouts"),
        "cases": _("Regression cases"),
        "datasets": _("Data sets"),
        "stored": _("Stored files"),
    }
    if not state.is_drawn(VIEW):
        state.put_widget(VIEW, next(iter(address.named_options(VIEW, views)), "score"))
    view = st.segmented_control(
        _("View"), list(views), required=True, format_func=views.__getitem__, key=VIEW, label_visibility="collapsed"
    )
    address.keep_options(VIEW, [view] if view and view != "score" else [])
    if view == "cases":
        cases_tab(choose_scorer(key="all_cases"))
    elif view == "datasets":
        datasets_view()
    elif view == "stored":
        stored_files()
    else:
        _score()


def _score() -> None:
    source = state.rollout_source.get()
    if source is None:
        left, right = st.columns([7, 4], gap="medium")
        with left:
            choose_source("first")
        with right:
            progress.earlier_jobs()
        return
    with st.container(border=True, gap="xsmall", key="source_facts"):
        read = look_into(source)
    if read is None:
        st.button(_("Another file"), key="leave_source", icon=":material/upload_file:", on_click=_leave)
        return
    counted = read[1]
    left, right = st.columns([4, 7], gap="medium")
    with left, st.container(border=True, gap="small", key="score_panel"):
        scorer = choose_scorer(key="score")
        if scorer is not None:
            _rules(scorer)
        _start(source, scorer, counted)
    with right:
        _first_rows(counted)


def _leave() -> None:
    state.rollout_source.set(None)


def _rules(scorer: Scorer) -> None:
    st.markdown(
        "  \n".join(
            f"{plain(rule.name)}  :small[:gray[× {rule.weight:f} · {plain(rule.preset or rule.function or '')}]]"
            for rule in scorer.mix.rules
        )
    )


def _start(source: RolloutSource, scorer: Scorer | None, counted: Survey) -> None:
    if st.button(
        _("Score rollouts"), type="primary", icon=":material/play_arrow:", key="start_scoring", disabled=scorer is None
    ) and scorer is not None:  # fmt: skip
        with boundary(show_failure):
            progress.start(_request(source, "score", scorer))
            st.rerun()
    if scorer is None:
        st.caption(_("Choose a mix that can score first."))
    if counted.rewarded and st.button(
        _("Look at the file's own rewards"), icon=":material/visibility:", key="read_rewards",
        help=_("Nothing is scored: the rewards that the trainer wrote are analysed."),
    ):  # fmt: skip
        with boundary(show_failure):
            progress.start(_request(source, "read", None))
            st.rerun()


def _request(source: RolloutSource, kind: str, scorer: Scorer | None) -> JobRequest:
    path = Path(source.path)
    is_large = path.stat().st_size >= MANY_BYTES
    return JobRequest(
        kind="score" if kind == "score" else "read", source=path, title=source.title,
        mix=scorer.mix if scorer else None, mix_label=scorer.label if scorer else "",
        functions=scorer.functions if scorer else {}, format_name=source.format_name,
        columns=ColumnMap(**source.columns) if source.columns else None,
        workers=min(os.cpu_count() or 1, MOST_WORKERS) if is_large else 1,
    )  # fmt: skip


def _first_rows(counted: Survey) -> None:
    """What the first rollouts were read as, so that a wrong column is seen before the start."""
    panel_head(_("The first of them, as they were read"))
    for place, rollout in enumerate(counted.first_rollouts):
        with st.container(border=True, gap="xsmall", key=f"first_{place}"):
            answer = (rollout.sample.get("extra") or {}).get("answer")
            shown = answer if isinstance(answer, str) else write_json(answer) if answer is not None else _("none")
            prompt = tail(prompt_text(rollout)) or _("(no prompt)")
            st.markdown(f":small[:gray[{_('Prompt')}]  {plain(prompt)}]")
            st.markdown(f":small[:gray[{_('Ground truth')}]  {plain(shown)}]")
            text = rollout.text
            st.code(
                text or _("(an empty completion)"), language=None, wrap_lines=True,
                height=120 if len(text) > 400 else "content",
            )  # fmt: skip
