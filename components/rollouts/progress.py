"""A job while it runs, and what is offered when it did not come to its end."""

from __future__ import annotations

from datetime import UTC, datetime

import streamlit as st

from components import cache, drafts, state
from components.i18n import _, say
from components.rollouts.stored_files import job_removal
from components.rollouts.tabs import AT, TABS, tab_names
from components.theme import count, plain
from rewards_lib.jobs import Job, JobRequest

JOB = "job"
"""The address names the job that is looked at."""
REFRESH_SECONDS = 0.5
MOST_LISTED = 8


def start(request: JobRequest) -> None:
    """Start a job and look at it, from the first tab on."""
    state.put_widget(TABS, tab_names()["overview"])
    look_at(cache.job_runner().start(request).id)


def look_at(job_id: str | None) -> None:
    """Put a job into the address; None takes it out. What was looked at in another is left."""
    st.query_params.pop(AT, None)
    state.rollout_place.clear()
    if job_id is None:
        st.query_params.pop(JOB, None)
    else:
        st.query_params[JOB] = job_id


def open_job() -> Job | None:
    """The job that the address names; of an attack, the job whose result it attacks. None when it is gone."""
    job_id = st.query_params.get(JOB)
    job = cache.job_runner().find(job_id) if job_id else None
    return cache.job_runner().find(job.request.of) if job is not None and job.request.kind == "attack" else job


def watch(job_id: str) -> None:
    """Draw the progress of a running job, redrawn by itself; the page is drawn anew when it has ended."""

    @st.fragment(run_every=REFRESH_SECONDS)
    def follow() -> None:
        job = cache.job_runner().find(job_id)
        if job is None or job.state != "running":
            st.rerun()
        else:
            _bar(job)

    follow()


def _bar(job: Job) -> None:
    with st.container(border=True, gap="xsmall", key="job_progress"):
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            st.markdown(
                f":material/description: **{plain(job.request.title)}**  :small[:gray[{_('scored with')}]] "
                f"**{plain(job.request.mix_label)}**",
                width="content",
            )
            st.button(
                _("Cancel"), icon=":material/stop:", key="cancel_job", on_click=cache.job_runner().cancel,
                args=(job.id,),
            )  # fmt: skip
        share = job.done / job.total if job.total else 0.0
        st.progress(min(share, 1.0), text=progress_line(job, datetime.now(UTC)))
        st.caption(_("Goes on when you leave or reload. What is finished is kept when you cancel."))


def progress_line(job: Job, now: datetime) -> str:
    """``41 200 of 200 000 · 3 100 a second · 51 s left · 12 unscored so far``."""
    if not job.total:
        return _("Counting the rollouts ...") if job.request.kind != "attack" else _("Attacking ...")
    parts = [_("{done} of {total}", done=count(job.done), total=count(job.total))]
    rate, left = job.rate(now), job.seconds_left(now)
    if rate is not None and left is not None:
        parts += [_("{rate} a second", rate=count(round(rate))), _("{time} left", time=time_text(left))]
    parts.append(_("{count} unscored so far", count=count(job.unscored)))
    return " · ".join(parts)


def time_text(seconds: float) -> str:
    """A time that is left: ``51 s``, ``3 min 20 s``, ``2 h 5 min``."""
    whole = max(round(seconds), 0)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def ended_early(job: Job) -> None:
    """Say why a job has no result, and offer what goes on from here."""
    at = _("{done} of {total}", done=count(job.done), total=count(job.total)) if job.total else _("the beginning")
    if job.state == "failed":
        st.error(plain(say(job.error)), title=_("The rollouts were not scored"), icon=":material/error:")
    elif job.state == "cancelled":
        told = _("Cancelled at {place}. What was finished is kept.", place=at)
        st.info(told, icon=":material/stop_circle:")
    else:
        told = _("Stopped at {place}: the console or the machine ended while it ran. Nothing is lost.", place=at)
        st.warning(told, icon=":material/power_off:")
    with st.container(horizontal=True, gap="xsmall"):
        if job.is_one_cause:
            st.button(
                _("Score on all the same"), key="keep_going", icon=":material/play_arrow:",
                on_click=_go_on, args=(job.id,), kwargs={"keep_going": True},
            )  # fmt: skip
        else:
            st.button(
                _("Go on from {place}", place=at), key="resume_job", type="primary", icon=":material/play_arrow:",
                on_click=_go_on, args=(job.id,),
            )  # fmt: skip
        st.button(_("Another file"), key="leave_job", icon=":material/upload_file:", on_click=look_at, args=(None,))


def _go_on(job_id: str, *, keep_going: bool | None = None) -> None:
    cache.job_runner().resume(job_id, keep_going=keep_going)


def earlier_jobs() -> None:
    """Draw the results there are, the newest first, to be opened again or removed."""
    jobs = [job for job in cache.job_runner().list() if job.request.kind != "attack"]
    if not jobs:
        return
    st.markdown(f"**{_('Earlier results')}**")
    with st.container(gap=None, key="earlier_jobs"):
        for job in jobs[:MOST_LISTED]:
            with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
                st.button(
                    plain(job.request.title), key=f"open_{job.id}", type="tertiary", icon=":material/description:",
                    on_click=look_at, args=(job.id,),
                )  # fmt: skip
                st.markdown(f":small[:gray[{plain(told(job))}]]", width="stretch")
                job_removal(job)


def told(job: Job) -> str:
    """``math · draft 7f3a · 320 completions · 12:08:31``."""
    states = {
        "running": _("running"), "failed": _("failed"), "cancelled": _("cancelled"), "stopped": _("stopped"),
        "done": "",
    }  # fmt: skip
    parts = [job.request.mix_label, states[job.state], _("{count} completions", count=count(job.done))]
    parts.append(drafts.clock(job.started_at) if job.started_at else "")
    return " · ".join(filter(None, parts))
