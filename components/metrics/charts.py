"""The charts of training metrics whose meaning is known, and one for any other series: computed without a screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from html import escape

import streamlit as st

from components import theme
from components.i18n import _, language
from components.metrics import axes
from components.metrics.drawing import Chart, Drawing, Limits, Look
from components.metrics.label_room import free_level, value_at
from components.metrics.step_range import zoom_to_selection
from rewards_lib.training_metrics import MetricFinding, Run, canonical_names, group_families, in_language, means_around

CLIP_HEALTHY = 1e-2
FEWEST_TESTS = 3
LABEL_SHARE = 0.25
"""About how much of a chart's width the name of a finding takes."""
UNMARKED = ("restart", "too_short", "on_policy")
"""Findings about the whole run, which no zone in a chart would tell better."""
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


def draw(charts: Sequence[Chart], runs: Mapping[str, Run], look: Look) -> None:
    """Draw charts, two in a row, each under its title. Steps dragged over in one are shown in all of them."""
    for start in range(0, len(charts), 2):
        for place, chart in zip(st.columns(2, gap="medium"), charts[start : start + 2], strict=False):
            with place.container(gap=None, key=chart.key):
                st.markdown(f"**{theme.plain(chart.title)}**  :small[:gray[{theme.plain(chart.small)}]]")
                # a chart of other steps is another chart: it must not show the box that was dragged in this one
                key = f"plot_{chart.key}_{look.step_range[0]}_{look.step_range[1]}"
                st.plotly_chart(
                    chart.figure,
                    theme=None,
                    alt=chart.alt,
                    key=key,
                    on_select=partial(zoom_to_selection, runs, key),
                    selection_mode="box",
                    config=_config(chart.title),
                )


def _config(title: str) -> dict[str, object]:
    """Plotly's tool bar with one tool: the picture of this chart."""
    picture = {"format": "png", "scale": 2, "filename": title.replace("/", "_")}
    return {"displaylogo": False, "modeBarButtons": [["toImage"]], "toImageButtonOptions": picture}


def chart_of(finding: MetricFinding, charts: Sequence[Chart]) -> Chart | None:
    """The chart that draws the series a finding is about: the narrowest of those that draw most of its series."""
    drawn = [chart for chart in charts if finding.series and finding.series[0] in chart.names]
    return max(drawn, key=lambda c: (len(c.names & set(finding.series)), -len(c.names), c.key), default=None)


def mark_findings(findings: Sequence[MetricFinding], charts: Sequence[Chart]) -> None:
    """Shade in the charts the steps that findings are about; what is one step long is a line.

    Each is named where it begins, those that begin close together in one label, where the curves leave room.
    """
    colours = theme.palette()
    of_chart: dict[str, list[MetricFinding]] = {}
    for finding in findings:
        chart = chart_of(finding, charts)
        if chart is not None and finding.rule not in UNMARKED:
            of_chart.setdefault(chart.key, []).append(finding)
    for chart in charts:
        found = of_chart.get(chart.key, [])
        for place, finding in enumerate(found):
            begin, end = finding.steps
            if begin == end or finding.severity == "note" or place:
                chart.figure.add_vline(x=begin, line={"color": colours.watch, "width": 1, "dash": "dash"})
            else:
                chart.figure.add_vrect(x0=begin, x1=end, fillcolor=colours.bad_zone, line_width=0, layer="below")
        _name_findings(chart, sorted(found, key=lambda finding: finding.steps[0]))


def _name_findings(chart: Chart, found: Sequence[MetricFinding]) -> None:
    """Write the names of findings, in the order of their first steps, into a chart."""
    if not found:
        return
    colours, (first, last) = theme.palette(), chart.figure.layout.xaxis.range
    groups: list[list[MetricFinding]] = []
    for finding in found:
        apart = (
            axes.place(chart.figure, finding.steps[0]) - axes.place(chart.figure, groups[-1][0].steps[0])
            if groups
            else 0
        )
        if groups and apart < LABEL_SHARE * (last - first):
            groups[-1].append(finding)
        else:
            groups.append([finding])
    for group in groups:
        begin, names = (
            axes.place(chart.figure, group[0].steps[0]),
            [in_language(one.title, language()) for one in group],
        )
        late = begin > (first + last) / 2
        reach = (last - first) * LABEL_SHARE
        near = [axes.step_at(chart.figure, end) for end in (begin - reach * late, begin + reach * (not late))]
        level = free_level(chart.figure, *near)
        chart.figure.add_annotation(
            text=escape(names[0]) + (f" +{len(names) - 1}" if len(names) > 1 else ""), hovertext=", ".join(names),
            font={"size": 10, "color": colours.bad}, bgcolor=theme.tint(colours.ground, 0.7), borderpad=1,
            showarrow=False, x=begin, xanchor="right" if late else "left", xshift=-2 if late else 2, y=level,
            yref="paper", yanchor="middle",
        )  # fmt: skip


def charts_of_findings(
    findings: Sequence[MetricFinding], charts: Sequence[Chart], runs: Mapping[str, Run], look: Look
) -> list[Chart]:
    """A chart for each series that a finding is about and no chart draws."""
    made: dict[str, Chart] = {}
    for finding in findings:
        name = finding.series[0] if finding.series else ""
        if name and finding.rule not in UNMARKED and chart_of(finding, [*charts, *made.values()]) is None:
            made[name] = series_chart(runs, {"value": name}, name, look, key=f"chart_found_{len(made)}")
    return list(made.values())


def main_charts(runs: Mapping[str, Run], look: Look, limits: Limits) -> list[Chart]:
    """The charts whose meaning is known: final reward, length and truncation, each reward function, clipping."""
    functions = dict.fromkeys(
        family.name.removeprefix("test/").removeprefix("reward:")
        for run in runs.values()
        for family in group_families(run.names)
        if family.kind == "reward"
    )
    charts = [
        _final_reward(Drawing(look, runs)),
        _train_and_test(Drawing(look, runs)),
        _length(Drawing(look, runs), limits),
        *(_function(Drawing(look, runs), name) for name in functions),
        _clipping(Drawing(look, runs), limits),
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
        bucket = run.band(main) if drawing.alone else None
        if bucket:
            drawing.band(*bucket, colour, _("min to max"), smoothed=False)
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
        first, last = drawing.figure_span()
        aside = (last - first) * LABEL_SHARE * (1 if step < (first + last) / 2 else -1)  # to the middle, to be whole
        level = free_level(drawing.figure, min(step, step + aside), max(step, step + aside))
        drawing.figure.add_annotation(
            x=step, y=value, text=_("best test {value}", value=theme.number(value, 3)), showarrow=True, arrowhead=0,
            arrowcolor=colours.muted, axref="x", ax=step + aside / 2, ayref="y", ay=value_at(drawing.figure, level),
            bgcolor=theme.tint(colours.ground, 0.7), font={"size": 11, "color": colours.text},
        )  # fmt: skip
    return drawing.chart(_("Final reward"), "", "chart_final_reward") if drawing.told else None


def _train_and_test(drawing: Drawing) -> Chart | None:
    """Training averaged round each evaluation, the tests, and what lies between them; for one run."""
    run = next(iter(drawing.runs.values()))
    speaking, colours = canonical_names(run.names), theme.palette().series
    names = [speaking.get(f"{split}/reward/final_rewards") for split in ("train", "test")]
    if not drawing.alone or None in names:
        return None
    train, test = (drawing.take(run, name) for name in names if name)
    around = means_around(train, test.steps)
    if len(around) < FEWEST_TESTS:
        return None
    tested = test.within((float(around.steps[0]), float(around.steps[-1])))
    drawing.gap(tested, around, colours[1])
    drawing.marks(around, _("train, mean round each test"), colours[0], symbol="circle", dash="solid")
    drawing.marks(tested, _("test"), colours[1])
    return drawing.chart(_("Train and test"), _("the gap is shaded"), "chart_train_and_test", means=False)


def _function(drawing: Drawing, name: str) -> Chart | None:
    train, test = (
        [f"{split}/reward/functions/{name}/rewards({part})" for part in ("mean", "won", "bon")]
        for split in ("train", "test")
    )
    for place, run in enumerate(drawing.runs.values()):
        drawing.train_and_test(place, run, train, test)
    return drawing.chart(name, "", f"chart_function_{name}") if drawing.told else None


def _clipping(drawing: Drawing, limits: Limits) -> Chart | None:
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
    if not any((series.values > 0).any() for _name, series in drawing.told):
        return None
    drawing.figure.update_yaxes(type="log", exponentformat="power", dtick=1)
    healthy = sorted((limits.dual_clip, CLIP_HEALTHY))
    drawing.figure.add_hrect(y0=healthy[0], y1=healthy[1], fillcolor=colours.good_zone, line_width=0, layer="below")
    if any("clipfrac2" in name for name, _series in drawing.told):
        drawing.figure.add_hline(y=limits.dual_clip, line={"color": colours.series[1], "width": 1, "dash": "dot"})
    small = [_("log scale, healthy range shaded")]
    small += [_("clipfrac2 belongs below the dotted line")] * any("clipfrac2" in name for name, _series in drawing.told)
    small += [_("zeros are not drawn")] * zeros
    return drawing.chart(_("Clipping"), "; ".join(small), "chart_clipping", means=False)


def _length(drawing: Drawing, limits: Limits) -> Chart | None:
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
        _add_share_axis(drawing, limits.truncation)
        small = _("tokens; share cut, in red where too many are")
    else:
        small = _("tokens")
    return drawing.chart(_("Length and truncation"), small, "chart_length", means=False)


def _add_share_axis(drawing: Drawing, limit: float) -> None:
    """A right axis from 0 to 100 % with the zone where too many answers are cut."""
    colours = theme.palette()
    drawing.figure.update_layout(
        margin={"r": 40},
        yaxis2={
            "overlaying": "y", "side": "right", "range": [0, 1], "tickvals": [0, limit, 1],
            "tickformat": ".0%", "showgrid": False, "zeroline": False,
            "tickfont": {"size": 11, "color": colours.muted},
        },
    )  # fmt: skip
    drawing.figure.add_hrect(y0=limit, y1=1, yref="y2", fillcolor=colours.bad_zone, line_width=0, layer="below")


def optimiser_charts(runs: Mapping[str, Run], look: Look) -> list[Chart]:
    """Loss, gradient norm, KL, entropy and learning rate, as far as they are there: a chart each."""
    titles = {
        "train/actor/loss": _("Loss"), "train/actor/grad_norm": _("Gradient norm"), "train/actor/kl_loss": _("KL"),
        "train/actor/entropy": _("Entropy"), "train/actor/lr": _("Learning rate"),
    }  # fmt: skip
    charts = []
    for canonical, title in titles.items():
        drawing = Drawing(look, runs)
        for place, (label, run) in enumerate(runs.items()):
            name = canonical_names(run.names).get(canonical)
            if name:
                colour = theme.palette().series[place % 5]
                drawing.curve(drawing.take(run, name), label or title, colour, DASHES[place // 5 % 5])
        if drawing.told:
            charts.append(drawing.chart(title, "", f"chart_optimiser_{canonical.rpartition('/')[2]}"))
    return charts


def drawn_names(charts: list[Chart]) -> frozenset[str]:
    """The series that charts draw, under their own names."""
    return frozenset[str]().union(*(chart.names for chart in charts))
