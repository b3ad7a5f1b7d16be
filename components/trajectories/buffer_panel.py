"""The rollout-buffer simulator on the page: settings at the left, what comes of them at the right."""

from __future__ import annotations

import hashlib

import pandas as pd
import streamlit as st

from components import shell, state
from components.i18n import _
from components.theme import count, number, percent, show
from components.trajectories.buffer_charts import queue_chart, staleness_chart, timeline_chart
from components.trajectories.buffer_controls import buffer_controls
from rewards_lib.agentic import Comparison, Phase, SimulatedRun, SimulationSummary, compare_with_synchronous
from rewards_lib.errors import boundary


@st.fragment
def buffer_panel() -> None:
    """Draw the simulator; a change of a setting reruns this part of the page alone."""
    controls, results = st.columns([3.3, 7.7], gap="medium")
    with controls:
        buffer_controls()
    with results, boundary(shell.show_failure):
        _results(compare_with_synchronous(state.simulation.get()))


def _results(comparison: Comparison) -> None:
    run, summary = comparison.run, comparison.summary
    st.markdown(_verdict(comparison))
    st.caption(
        _(
            "Seed {seed} · run {digest} · {groups} groups started, {seconds} simulated seconds",
            seed=run.settings.seed,
            digest=digest_of(run),
            groups=count(len(run.groups)),
            seconds=count(round(run.seconds)),
        )
    )
    with st.container(horizontal=True, gap="medium", key="simulation_facts"):
        for name, value, told in _facts(comparison):
            st.metric(name, value, help=told)
    shell.panel_head(_("Timeline"), _("the first steps; colour and number: versions old when trained on"))
    show(timeline_chart(run), alt=_timeline_words(summary), key="simulation_timeline")
    left, right = st.columns(2, gap="medium")
    with left:
        shell.panel_head(_("Staleness"), _("groups by versions old when trained on"))
        show(staleness_chart(run, summary), alt=_staleness_words(summary), key="simulation_staleness")
    with right:
        shell.panel_head(_("Queue"), _("groups in the buffer over time"))
        show(
            queue_chart(run),
            alt=_("{mean} groups on average", mean=number(summary.mean_queue, 1)),
            key="simulation_queue",
        )
    shell.panel_head(_("Beside the same workers in turns"))
    _table(comparison)


def digest_of(run: SimulatedRun) -> str:
    """Four digits that two runs share if and only if, as far as anybody will meet, they went the same way."""
    story = [(group.number, group.worker, group.version, group.finished, group.fate) for group in run.groups]
    return hashlib.sha256(repr(story).encode()).hexdigest()[:4]


def _verdict(comparison: Comparison) -> str:
    summary, settings = comparison.summary, comparison.run.settings
    told = [
        _("**{times} times** as many groups a minute as in turns.", times=number(comparison.speedup, 2)),
        _("The oldest group trained on was **{age}** versions old.", age=summary.max_staleness),
    ]
    limit = settings.staleness_limit
    if limit is not None and summary.max_staleness > limit:
        told.append(_("The limit of {limit} bounds how much is started: stragglers passed it.", limit=limit))
    if summary.wasted:
        told.append(_("{share} of the generating was thrown away.", share=percent(summary.wasted)))
    if comparison.run.ended_early:
        told.append(
            _(
                "Ended after {count} groups, at step {step}: nearly everything is thrown away.",
                count=count(len(comparison.run.groups)),
                step=comparison.run.steps,
            )
        )
    return " ".join(told)


def _facts(comparison: Comparison) -> list[tuple[str, str, str]]:
    summary = comparison.summary
    return [
        (_("Groups a minute"), number(summary.groups_per_minute, 1), _("Trained on, in simulated time")),
        (
            _("Trainer waits"),
            percent(summary.trainer_idle),
            _("Share of its time without a batch, or waiting for an update"),
        ),
        (
            _("Workers idle"),
            percent(summary.workers_idle),
            _("Share of all workers' time in which nothing is generated"),
        ),
        (
            _("Thrown away"),
            percent(summary.wasted),
            _("Share of the generating time that went into groups never trained on"),
        ),
        (
            _("Mean staleness"),
            number(summary.mean_staleness, 2),
            _("Versions between sampling and training, on average"),
        ),
        (_("Mean queue"), number(summary.mean_queue, 1), _("Groups in the buffer, averaged over time")),
    ]


def _table(comparison: Comparison) -> None:
    rows = [
        (_("groups a minute"), *(number(one.groups_per_minute, 2) for one in _both(comparison))),
        (_("trainer: trains"), *(percent(one.trainer[Phase.TRAINING]) for one in _both(comparison))),
        (_("trainer: updates weights"), *(percent(one.trainer[Phase.SYNCING]) for one in _both(comparison))),
        (_("trainer: waits for a batch"), *(percent(one.trainer[Phase.WAITING]) for one in _both(comparison))),
        (_("trainer: waits to update"), *(percent(one.trainer[Phase.DRAINING]) for one in _both(comparison))),
        (_("workers idle"), *(percent(one.workers_idle) for one in _both(comparison))),
        (_("thrown away"), *(percent(one.wasted) for one in _both(comparison))),
        (_("oldest group"), *(str(one.max_staleness) for one in _both(comparison))),
    ]
    st.dataframe(
        pd.DataFrame(rows, columns=["what", "this", "turns"]),
        hide_index=True,
        row_height=28,
        column_config={
            "what": st.column_config.TextColumn(_("what"), width=220),
            "this": st.column_config.TextColumn(_("this run"), alignment="right"),
            "turns": st.column_config.TextColumn(_("in turns"), alignment="right"),
        },
        alt=_("This run beside the synchronous one"),
        key="simulation_table",
    )


def _both(comparison: Comparison) -> tuple[SimulationSummary, SimulationSummary]:
    return comparison.summary, comparison.synchronous


def _timeline_words(summary: SimulationSummary) -> str:
    return _(
        "Workers generate {busy} of their time, the trainer trains {trains}.",
        busy=percent(1 - summary.workers_idle),
        trains=percent(summary.trainer[Phase.TRAINING]),
    )


def _staleness_words(summary: SimulationSummary) -> str:
    found = [_("{age} old: {count}", age=age, count=groups) for age, groups in summary.staleness.items()]
    return ", ".join(found) or _("No group was trained on.")
