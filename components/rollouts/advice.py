"""Which method and settings the figures of a result speak for, each with its reason and its source."""

from __future__ import annotations

import streamlit as st

from components.i18n import _, say
from components.rollouts.results import Opened
from components.rollouts.sources import open_source
from components.state import RolloutSource
from components.theme import plain
from rewards_lib.jobs import Job
from rewards_lib.rollouts.advice import Advice, advise
from rewards_lib.rollouts.survey import Survey, survey


@st.cache_data(max_entries=16, show_spinner=False)
def _counted(job_id: str, _job: Job) -> Survey:  # noqa: ARG001 -- the id is the key
    request = _job.request
    columns = None
    if request.columns:
        columns = {part: value for part in request.columns.__slots__ if (value := getattr(request.columns, part))}
    return survey(open_source(RolloutSource(str(request.source), request.title, request.format_name, columns)))


def advice(opened: Opened) -> None:
    """Draw the advice; nothing when the file that was scored is gone."""
    if not opened.job.request.source.exists():
        return
    found = advise(opened.groups, opened.readiness, _counted(opened.job.id, opened.job), opened.mix)
    certain = {"clear": _("clear"), "likely": _("likely"), "open": _("open")}
    with (
        st.expander(_("What to train with"), icon=":material/tune:", expanded=True, key="advice"),
        st.container(gap="xsmall"),
    ):
        for one in found:
            st.markdown(_advice_line(one, certain[one.certainty]))


def _advice_line(one: Advice, certainty: str) -> str:
    colour = {"clear": "green", "likely": "blue", "open": "gray"}[one.certainty]
    value = f" **{plain(one.value)}**" if one.value else ""
    source = f" :gray[({plain(one.source)})]" if one.source != "-" else ""
    return f":{colour}-badge[{certainty}] `{one.what}`{value}  :small[{plain(say(one.why))}{source}]"
