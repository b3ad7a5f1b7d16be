"""The charts of training metrics whose meaning is known, and one for any other series: computed without a screen."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from components import theme
from components.i18n import _
from components.metric_drawing import Chart, Drawing, Look
from rewards_lib.training_metrics import Run, canonical_names, group_families

CLIP2_LIMIT = 1e-4
"""Above it the dual clip binds on more than odd tokens."""
CLIP_HEALTHY = 1e-2
TRUNCATION_LIMIT = 0.3
DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
CLIPPING = {
    "train/actor/pg_clipfrac": ("clipfrac", 0, "solid"),
    "train/actor/pg_clipfrac_high": ("high", 3, "dot"),
    "train/actor/pg_clipfrac_low": ("low", 2, "dash"),
    "train/actor/pg_clipfrac2": ("clipfrac2", 1, "solid"),
}
"""Canonical name to label, colour and dash."""
CLIPPING_OF_SEVERAL = {"train/actor/pg_clipfrac": "solid", "train/actor/pg_clipfrac2": "dash"}
"""What is drawn of each run when there are several, whose colours are taken by the runs."""


def draw(charts: list[Chart]) -> None:
    """Draw charts, two in a row, each under its title."""
    for start in range(0, len(charts), 2):
        for place, chart in zip(st.columns(2, gap="medium"), charts[start : start + 2], strict=False):
            with place.container(gap=None):
                st.markdown(f"**{theme.plain(chart.title)}**  :small[:gray[{theme.plain(chart.small)}]]")
                theme.show(chart.figure, alt=chart.alt, key=chart.key)


def main_charts(runs: Mapping[str, Run], look: Look) -> list[Chart]:
    """The charts whose meaning is known: final reward, length and truncation, each reward function, clipping."""
    functions = dict.fromkeys(
        family.name.removeprefix("test/").removeprefix("reward:")
        for run in runs.values()
        for family in group_families(run.names)
        if family.kind == "reward"
    )
    charts = [
        _final_reward(Drawing(look, runs)),
        _length(Drawing(look, runs)),
        *(_function(Drawing(look, runs), name) for name in functions),
        _clipping(Drawing(look, runs)),
    ]
    return [chart for chart in charts if chart is not None]


def series_chart(runs: Mapping[str, Run], members: Mapping[str, str], title: str, look: Look, *, key: str) -> Chart:
    """A chart of one series, or of a custom metric's mean between its minimum and its maximum."""
    drawing = Drawing(look, runs)
    main = members.get("mean") or next(iter(members.values()))
    for index, (label, run) in enumerate(runs.items()):
        colour = theme.palette().series[index % 5]
        if main not in run.names:
            continue
        banded = drawing.alone and {"min", "max"} <= set(members)
        if banded:
            low, high = (drawing.take(run, members[part]) for part in ("min", "max"))
            drawing.band(low, high, colour, _("min to max"), smoothed=False)
        name = _("mean") if banded else label or title
        drawing.curve(drawing.take(run, main), name, colour, DASHES[index // 5 % 5])
    return drawing.chart(title, "", key)


def _final_reward(drawing: Drawing) -> Chart | None:
    for place, run in enumerate(drawing.runs.values()):
        drawing.train_and_test(place, run, ["train/reward/final_rewards"], ["test/reward/final_rewards"])
    if drawing.best is not None and drawing.alone:
        (step, value), colours = drawing.best, theme.palette()
        drawing.figure.add_annotation(
            x=step, y=value, text=_("best test {value}", value=theme.number(value, 3)), showarrow=True, arrowhead=0,
            arrowcolor=colours.muted, ax=-46, ay=34, bgcolor=theme.tint(colours.ground, 0.8),
            font={"size": 11, "color": colours.text},
        )  # fmt: skip
    return drawing.chart(_("Final reward"), "", "chart_final_reward") if drawing.told else None


def _function(drawing: Drawing, name: str) -> Chart | None:
    train, test = (
        [f"{split}/reward/functions/{name}/rewards({part})" for part in ("mean", "won", "bon")]
        for split in ("train", "test")
    )
    for place, run in enumerate(drawing.runs.values()):
        drawing.train_and_test(place, run, train, test)
    return drawing.chart(name, "", f"chart_function_{name}") if drawing.told else None


def _clipping(drawing: Drawing) -> Chart | None:
    colours, zeros = theme.palette(), False
    for place, (label, run) in enumerate(drawing.runs.items()):
        speaking = canonical_names(run.names)
        for canonical, (short, colour, dash) in CLIPPING.items():
            if canonical not in speaking or not (drawing.alone or canonical in CLIPPING_OF_SEVERAL):
                continue
            series = drawing.take(run, speaking[canonical])
            zeros = zeros or bool((series.values <= 0).any())
            name = short if drawing.alone else f"{label} {short}"
            style = (colour, dash) if drawing.alone else (place % 5, CLIPPING_OF_SEVERAL[canonical])
            drawing.curve(series, name, colours.series[style[0]], style[1], raw=False, positive=True)
    if not drawing.told:
        return None
    drawing.figure.update_yaxes(type="log", exponentformat="power", dtick=1)
    drawing.figure.add_hrect(y0=CLIP2_LIMIT, y1=CLIP_HEALTHY, fillcolor=colours.good_zone, line_width=0, layer="below")
    if any("clipfrac2" in name for name, _series in drawing.told):
        drawing.figure.add_hline(y=CLIP2_LIMIT, line={"color": colours.series[1], "width": 1, "dash": "dot"})
        below = _("clipfrac2 should stay below")
        drawing.note(below, colour=colours.muted, x=0, xref="paper", y=-4, xanchor="left", yanchor="bottom")
    small = _("log scale; zeros are not drawn") if zeros else _("log scale; healthy range shaded")
    return drawing.chart(_("Clipping"), small, "chart_clipping", means=False)


def _length(drawing: Drawing) -> Chart | None:
    colours = theme.palette().series
    for place, (label, run) in enumerate(drawing.runs.items()):
        first, second = (colours[0], colours[1]) if drawing.alone else (colours[place % 5],) * 2
        before, speaking = "" if drawing.alone else f"{label} ", canonical_names(run.names)
        mean, longest, share, tested = (
            speaking.get(f"{split}/generation/response_length.{part}")
            for split, part in (("train", "mean"), ("train", "max"), ("train", "clipfrac"), ("test", "clipfrac"))
        )
        if mean:
            drawing.curve(drawing.take(run, mean), f"{before}{_('mean')}", first, raw=False)
        if longest and drawing.alone:
            drawing.curve(drawing.take(run, longest), _("max"), colours[4], "dot", raw=False, width=1)
        if share:
            name = f"{before}{_('cut (right)')}"
            drawing.curve(drawing.take(run, share), name, second, "dash", raw=False, yaxis="y2")
        if tested and drawing.alone:
            drawing.marks(drawing.take(run, tested), _("cut, test"), second, yaxis="y2")
    if not drawing.told:
        return None
    drawing.figure.update_yaxes(rangemode="tozero")
    if any(trace.yaxis == "y2" for trace in drawing.figure.data):
        _add_share_axis(drawing)
    return drawing.chart(_("Length and truncation"), _("tokens, share cut"), "chart_length", means=False)


def _add_share_axis(drawing: Drawing) -> None:
    """A right axis from 0 to 100 % with the zone where too many answers are cut."""
    colours = theme.palette()
    drawing.figure.update_layout(
        margin={"r": 40},
        yaxis2={
            "overlaying": "y", "side": "right", "range": [0, 1], "tickvals": [0, TRUNCATION_LIMIT, 1],
            "tickformat": ".0%", "showgrid": False, "zeroline": False,
            "tickfont": {"size": 11, "color": colours.muted},
        },
    )  # fmt: skip
    drawing.figure.add_hrect(
        y0=TRUNCATION_LIMIT, y1=1, yref="y2", fillcolor=colours.bad_zone, line_width=0, layer="below"
    )
    told, place = _("over 30 %: too many cut"), {"x": 0, "xref": "paper", "y": TRUNCATION_LIMIT, "yref": "y2"}
    drawing.note(told, colour=colours.bad, xanchor="left", yanchor="bottom", **place)


def drawn_names(charts: list[Chart]) -> frozenset[str]:
    """The series that charts draw, under their own names."""
    return frozenset[str]().union(*(chart.names for chart in charts))
