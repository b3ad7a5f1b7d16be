"""The line over a result: which file, scored with what; the file to take away, and what to do next."""

from __future__ import annotations

import math
from pathlib import Path

import streamlit as st

from components import cache, drafts, state
from components.i18n import _
from components.rollouts import progress
from components.rollouts.results import Opened
from components.rollouts.sources import use
from components.state import RolloutSource
from components.theme import count, duration, number, plain
from rewards_lib.jobs import Job

RIGHT_FROM = "right_from"
MOST_DOWNLOAD_BYTES = 100_000_000


def result_actions(job: Job) -> None:
    """Download the scored file, change the mix, or publish it: the next step."""
    path = job.scored_path
    size = path.stat().st_size if path.exists() else 0
    name = f"{Path(job.request.title).stem}.scored.jsonl"
    st.download_button(
        _("Download"), path.read_bytes if 0 < size <= MOST_DOWNLOAD_BYTES else b"", name,
        "application/jsonl", icon=":material/download:", key="download_scored", on_click="ignore",
        disabled=not 0 < size <= MOST_DOWNLOAD_BYTES,
        help=_("The scored file lies at {path}", path=str(path)),
    )  # fmt: skip
    if job.request.mix is None:
        return
    if st.button(_("Change the mix"), icon=":material/tune:", key="to_mix"):
        state.mix_name.set(_draft_of(job))
        st.switch_page("pages/compose.py")
    label = _("Publish {name}", name=plain(job.request.mix.name))
    if st.button(label, type="primary", icon=":material/arrow_forward:", icon_position="right", key="to_publish"):
        state.published_name.set(f"mix:{job.request.mix.name}")
        st.switch_page("pages/publish.py")


def _draft_of(job: Job) -> str | None:
    name = job.request.mix.name if job.request.mix else None
    return name if name and cache.store().find_draft("mix", name) else state.mix_name.get()


def result_head(opened: Opened) -> None:
    """Draw the file line."""
    job, summary = opened.job, opened.summary
    sizes = opened.groups.sizes
    same = bool(len(sizes)) and int(sizes.min()) == int(sizes.max())
    groups = _("{count} groups of {size}", count=count(summary["groups"]), size=int(sizes.max())) if same else _(
        "{count} groups", count=count(summary["groups"])
    )  # fmt: skip
    counts = f"{_('{count} completions', count=count(summary['rollouts']))} · {groups}"
    with st.container(border=True, gap="xsmall", key="result_head"), st.container(
        horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"
    ):  # fmt: skip
        by = (
            f":small[:gray[{_('scored with')}]] **{plain(job.request.mix_label)}**"
            if opened.mix
            else f":small[:gray[{_('with its own rewards')}]]"
        )
        st.markdown(
            f":material/description: **{plain(job.request.title)}**  :small[:gray[{plain(counts)}]]  {by}"
            f"  :small[:gray[{plain(_when(job))}]]",
            width="content",
        )
        with st.container(horizontal=True, width="content", gap="xsmall"):
            with st.popover(_("Right from"), type="tertiary", icon=":material/straighten:", key="right_from_pop"):
                _right_from(opened)
            st.button(
                _("Another file"), type="tertiary", icon=":material/upload_file:", key="another_result",
                on_click=_leave, args=(None,),
            )  # fmt: skip
            if job.request.source.exists():
                st.button(
                    _("Score again"), type="tertiary", icon=":material/refresh:", key="score_again", on_click=_leave,
                    args=(job,),
                )  # fmt: skip
    bad = job.result.get("bad_rows", 0)
    if bad:
        lines = ", ".join(str(row["line"]) for row in job.result.get("first_bad_rows", []))
        told = _("{count} rows are no rollouts and were kept apart: rows {lines}", count=count(bad), lines=lines)
        st.markdown(f":orange[:material/warning:] {told}")


def _when(job: Job) -> str:
    at = drafts.clock(job.started_at) if job.started_at else ""
    seconds = job.result.get("seconds")
    if seconds is None:
        return at
    return _("in {time}, {at}", time=duration(seconds * 1000), at=at)


def _right_from(opened: Opened) -> None:
    st.caption(_("From which reward on a completion counts as right, for pass at k and the verdict."))
    value = opened.right if math.isfinite(opened.right) else 0.5
    st.number_input(_("Right from"), value=value, step=0.05, format="%.3f", key=RIGHT_FROM, persist_state="session")
    st.caption(_("Half of the largest reward here is {value}.", value=number(value)))


def _leave(job: Job | None) -> None:
    """Put the result away; the file of a job stays chosen, to be scored again."""
    progress.look_at(None)
    if job is None:
        use(None)
        return
    columns = job.request.columns
    named = {part: value for part in columns.__slots__ if (value := getattr(columns, part))} if columns else None
    use(RolloutSource(str(job.request.source), job.request.title, job.request.format_name, named))
