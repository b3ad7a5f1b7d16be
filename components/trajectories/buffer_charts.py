"""The charts of a simulated run: who did what when, how old groups were, how full the buffer was."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import plotly.graph_objects as go

from components.i18n import _
from components.theme import figure, palette, tint
from rewards_lib.agentic import Fate, Group, Phase, SimulatedRun, SimulationSummary

SHOWN_WORKERS = 24
OLDEST_SHADE = 4
"""Groups at least so many versions old share the darkest shade."""
SHOWN_STEPS = 12
SHOWN_GROUPS = 1_500
"""A browser draws no more bars than this at ease; the timeline then ends earlier."""
ROW_PX = 13


def timeline_chart(run: SimulatedRun) -> go.Figure:
    """Draw the trainer and the first workers over the first steps, one bar a group or phase."""
    colours = palette()
    workers = min(run.settings.workers, SHOWN_WORKERS)
    started = [group.started for group in run.groups if group.worker < workers]
    end = min([_end_of_step(run, SHOWN_STEPS), *started[SHOWN_GROUPS : SHOWN_GROUPS + 1]])
    drawn = figure(70 + ROW_PX * (workers + 2), legend=True, x_title=_("seconds"))
    shown = [group for group in run.groups if group.worker < workers and group.started < end]
    for age in range(OLDEST_SHADE + 1):
        name = _("{age} old", age=age) if age < OLDEST_SHADE else _("{age} or more", age=age)
        own = [group for group in shown if group.staleness is not None and min(group.staleness, OLDEST_SHADE) == age]
        label = str(age) if age < OLDEST_SHADE else f"{age}+"
        _add_bars(drawn, _group_bars(own, name, end), _Look(name, age_shade(age), label=label), least_width=end / 60)
    others = (
        (_Look(_("thrown away"), colours.bad, "x"), (Fate.DROPPED, Fate.DISCARDED)),
        (_Look(_("not trained on yet"), colours.line, "/"), (Fate.RUNNING, Fate.QUEUED)),
    )
    for look, fates in others:
        _add_bars(drawn, _group_bars([group for group in shown if group.fate in fates], look.name, end), look)
    looks = {
        Phase.TRAINING: _Look(_("trains"), colours.muted, width=1.6),
        Phase.SYNCING: _Look(_("updates weights"), colours.watch, "/", width=1.6),
        Phase.DRAINING: _Look(_("waits to update"), tint(colours.watch, 0.35), ".", width=1.6),
    }
    for phase, look in looks.items():
        spans = [span for span in run.trainer if span.phase is phase and span.start < end]
        _add_bars(drawn, [_Bar(-1.4, span.start, min(span.end, end), look.name) for span in spans], look)
    drawn.update_layout(
        barmode="overlay",
        hovermode="closest",
        bargap=0.1,
        margin={"t": 46},
        yaxis={
            "autorange": "reversed",
            "tickvals": [-1.4, 0, workers - 1],
            "ticktext": [_("trainer"), _("worker 1"), _("worker {number}", number=workers)],
            "showgrid": False,
        },
        xaxis={"range": [0, end]},
    )
    return drawn


def age_shade(age: int) -> str:
    """The colour of groups so many versions old: the older the stronger."""
    return tint(palette().series[0], 0.25 + 0.75 * min(age, OLDEST_SHADE) / OLDEST_SHADE)


def _end_of_step(run: SimulatedRun, step: int) -> float:
    """When training step ``step`` ended, or the run."""
    ends = [span.end for span in run.trainer if span.phase is Phase.TRAINING]
    return ends[step - 1] if len(ends) >= step else run.seconds


class _Look(NamedTuple):
    name: str
    colour: str
    pattern: str = ""
    label: str = ""
    """Stands in every bar."""
    width: float = 0.86


class _Bar(NamedTuple):
    row: float
    start: float
    end: float
    told: str


def _group_bars(groups: Iterable[Group], name: str, end: float) -> list[_Bar]:
    told = _("group {number} of version {version}: {name}")  # looked up once: there may be 1,500 bars
    return [
        _Bar(
            float(group.worker), group.started, min(group.finished, end),
            told.format(number=group.number, version=group.version, name=name),
        )
        for group in groups
    ]  # fmt: skip


def _add_bars(drawn: go.Figure, bars: list[_Bar], look: _Look, *, least_width: float = 0.0) -> None:
    """Add bars of one look; those below the least width carry no label, which would stand over their ends."""
    if bars:
        drawn.add_bar(
            orientation="h", name=look.name, width=look.width,
            y=[bar.row for bar in bars], base=[bar.start for bar in bars], x=[bar.end - bar.start for bar in bars],
            text=[look.label if bar.end - bar.start > least_width else "" for bar in bars],
            textposition="inside", insidetextanchor="middle", textangle=0, constraintext="none",
            textfont={"size": 9},
            marker={
                "color": look.colour, "pattern": {"shape": look.pattern},
                "line": {"width": 0.5, "color": palette().ground},
            },
            customdata=[bar.told for bar in bars],
            hovertemplate="%{customdata}<br>%{base:.1f} s + %{x:.1f} s<extra></extra>",
        )  # fmt: skip


def staleness_chart(run: SimulatedRun, summary: SimulationSummary) -> go.Figure:
    """Draw how many groups were how old, with the limit of the rule."""
    colours = palette()
    drawn = figure(200, x_title=_("versions old"))
    last = max(summary.max_staleness, run.settings.staleness_limit or 0, 1)
    ages = list(range(last + 1))
    counts = [summary.staleness.get(age, 0) for age in ages]
    drawn.add_bar(
        x=ages,
        y=counts,
        marker={"color": [age_shade(age) for age in ages]},
        text=counts,
        width=0.7,
        hovertemplate="%{x}: %{y}<extra></extra>",
    )
    limit = run.settings.staleness_limit
    if limit is not None and limit <= last:
        drawn.add_vline(limit + 0.5, line={"color": colours.bad, "dash": "dash", "width": 1.2})
        drawn.add_annotation(
            x=limit + 0.5,
            y=1,
            yref="paper",
            text=_("limit"),
            showarrow=False,
            yanchor="bottom",
            font={"size": 11, "color": colours.bad},
        )
    drawn.update_layout(hovermode="closest", margin={"t": 22}, xaxis={"dtick": 1 if last < 20 else None})
    return drawn


def queue_chart(run: SimulatedRun) -> go.Figure:
    """Draw how many groups stood in the buffer."""
    colours = palette()
    drawn = figure(200, x_title=_("seconds"))
    shown = run.queue_depth[:: max(1, len(run.queue_depth) // 2000)]
    drawn.add_scatter(
        x=[time for time, _depth in shown],
        y=[depth for _time, depth in shown],
        mode="lines",
        line={"shape": "hv", "width": 1.3, "color": colours.series[0]},
        fill="tozeroy",
        fillcolor=tint(colours.series[0], 0.12),
        hovertemplate="%{x:.0f} s: %{y}<extra></extra>",
    )
    drawn.update_layout(hovermode="closest", yaxis={"rangemode": "tozero"})
    return drawn
