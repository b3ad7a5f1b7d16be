"""One chart of training metrics while it is drawn: curves, tests, bands, restarts, and what they say in words.

Invariant: at most about 2 000 points a line leave Python, and the smallest and largest value are among them. Test
values are drawn as they were measured: they are few, and smoothing would move them away from their steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go

from components import theme
from components.i18n import _
from components.metrics import axes
from rewards_lib.contract import fill
from rewards_lib.training_metrics import (
    RuleBook,
    Run,
    Series,
    StepRange,
    canonical_name,
    canonical_names,
    drawn_points,
    rule_book,
    smooth_series,
)

if TYPE_CHECKING:
    from rewards_lib.training_metrics.series import Floats

HEIGHT = 182
END_POINTS = 20
"""How many points the first and the last value of a series are averaged over."""
MARKED_TESTS = 60
"""Up to this many points a test line shows its evaluations as marks."""
MARKED_POINTS = 8
"""Up to this many points any line does: one point alone would not be seen."""


@dataclass(frozen=True)
class Limits:
    """From where on charts mark values as too high: where the rules find that they are."""

    truncation: float
    dual_clip: float

    @classmethod
    def of(cls, book: RuleBook) -> Limits:
        """Those of a visitor's rules; of an own rule in place of one of ours, which may have none, ours."""
        found = {
            rule.id: rule.thresholds["limit"]
            for rule in (*rule_book().rules, *book.rules)
            if "limit" in rule.thresholds
        }
        return cls(found["truncation_high"], found["dual_clip"])


@dataclass(frozen=True)
class Look:
    """How curves are looked at."""

    step_range: StepRange = (None, None)
    weight: float = 0.0
    """Of the smoothing, 0 to below 1."""
    log_x: bool = False
    """Steps on a logarithmic axis, from the first above 0 on."""
    log_y: bool = False
    """Logarithmic, on both sides of 0 where values change sign."""
    clip: bool = False
    """Show the middle 90 % of the values; those beyond are told at the edge, never dropped."""


@dataclass(frozen=True)
class Chart:
    """A chart and what it says in words."""

    title: str
    small: str
    """Small print beside the title, as plain text."""
    figure: go.Figure
    alt: str
    key: str
    names: frozenset[str]
    """The series it draws, under their own names."""


class Drawing:
    """A figure that is being drawn, and what it has said so far."""

    def __init__(self, look: Look, runs: Mapping[str, Run]) -> None:
        self.look = look
        self.runs = runs
        self.alone = len(runs) == 1
        self.figure = theme.figure(HEIGHT, legend=True)
        bar = {"bgcolor": "rgba(0,0,0,0)", "color": theme.palette().muted}
        self.figure.update_layout(
            dragmode="select", selectdirection="h", modebar=bar,
            yaxis_exponentformat="e",  # learning rates are read as 3e-6, never as 3µ
        )  # fmt: skip
        self.told: list[tuple[str, Series]] = []
        """Names of curves with what they show within the range."""
        self.shown: dict[str, list[Series]] = {"y": [], "y2": []}
        """The same by axis: left and right."""
        self.names: list[str] = []
        self.thinned: tuple[int, int] | None = None
        """Of the longest curve that is not drawn point by point: how many points are drawn, and of how many."""
        self.best: tuple[float, float] | None = None
        """Step and value of the best test."""

    def take(self, run: Run, name: str) -> Series:
        """A series of a run, which is now part of this chart."""
        self.names.append(name)
        return run.series(name)

    def train_and_test(self, place: int, run: Run, train: Sequence[str], test: Sequence[str]) -> None:
        """Draw a metric's training curve and its tests; with worst and best of n named too, the band between them."""
        colours, speaking = theme.palette().series, canonical_names(run.names)
        before = "" if self.alone else f"{list(self.runs)[place]} "
        for split, canonicals, index in ((_("train"), train, 0), (_("test"), test, 1)):
            own = [speaking[name] for name in canonicals if name in speaking]
            if canonicals[0] not in speaking:
                continue
            colour = colours[(index if self.alone else place) % 5]
            bucket = run.band(own[0]) if self.alone else None
            if bucket:
                self.band(*bucket, colour, _("{split} min to max", split=split), smoothed=False)
            if self.alone and len(own) == 3:
                low, high = self.take(run, own[1]), self.take(run, own[2])
                self.band(low, high, colour, _("{split} won to bon", split=split), smoothed=index == 0)
            if index == 0:
                self.curve(self.take(run, own[0]), f"{before}{split}", colour)
            else:
                self.marks(self.take(run, own[0]), f"{before}{split}", colour)

    def curve(
        self, series: Series, name: str, colour: str, dash: str = "solid", *, raw: bool = True, positive: bool = False,
        **more: Any,
    ) -> None:  # fmt: skip
        """Draw a smoothed line, over the raw values in a faint tint; ``positive`` keeps what a log axis can show."""
        if raw and self.look.weight:
            self._line(series, name, theme.tint(colour, 0.35), width=1, showlegend=False, hoverinfo="skip")
        line = smooth_series(series, self.look.weight)
        if positive:
            line = Series(line.steps[line.values > 0], line.values[line.values > 0])
        self._line(line, name, colour, dash=dash, **more)
        self._tell(name, series, more.get("yaxis", "y"))

    def marks(
        self, series: Series, name: str, colour: str, *, symbol: str = "diamond", dash: str = "dash", **more: Any
    ) -> None:
        """Draw tests as they were measured: a dashed line with diamonds."""
        shown = series.within(self.look.step_range)
        mode = "lines+markers" if len(shown) <= MARKED_TESTS else "lines"
        self._line(series, name, colour, dash=dash, mode=mode, marker={"symbol": symbol, "size": 6}, **more)
        self._tell(name, series, more.get("yaxis", "y"))
        if len(shown) and "yaxis" not in more:
            best = int(shown.values.argmax())
            self.best = float(shown.steps[best]), float(shown.values[best])

    def band(self, low: Series, high: Series, colour: str, name: str, *, smoothed: bool) -> None:
        """Shade what lies between two series."""
        both = [smooth_series(end, self.look.weight) if smoothed else end for end in (low, high)]
        lower, upper = (drawn_points(end.within(self.look.step_range)) for end in both)
        # edges keep two bands apart where they lie over each other
        line = {"width": 0.8, "color": theme.tint(colour, 0.45), "dash": "solid" if smoothed else "dot"}
        edge: dict[str, Any] = {"mode": "lines", "line": line, "hoverinfo": "skip", "legendgroup": name}
        self.figure.add_scatter(x=upper[0], y=upper[1], showlegend=False, **edge)
        fill = theme.tint(colour, 0.14 if smoothed else 0.08)
        self.figure.add_scatter(x=lower[0], y=lower[1], fill="tonexty", fillcolor=fill, name=escape(name), **edge)

    def gap(self, low: Series, high: Series, colour: str) -> None:
        """Shade what lies between two lines that are drawn besides."""
        bare: dict[str, Any] = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", "showlegend": False}
        for line, filled in ((low, None), (high, "tonexty")):
            steps, values = drawn_points(line.within(self.look.step_range))
            self.figure.add_scatter(x=steps, y=values, fill=filled, fillcolor=theme.tint(colour, 0.14), **bare)

    def note(self, text: str, *, colour: str, **place: Any) -> None:
        """Write a few words into the chart."""
        self.figure.add_annotation(text=text, showarrow=False, font={"size": 10, "color": colour}, **place)

    def chart(self, title: str, small: str, key: str, *, means: bool = True) -> Chart:
        """The finished chart, with the restarts marked and its words put together."""
        self._span()
        small = " · ".join(filter(None, [small, self._scale()]))
        for run in self.runs.values() if self.alone else ():
            for restart in run.restarts:
                self._restart(restart.step)
        if len(self.figure.data) == 1 or {trace.name for trace in self.figure.data} == {escape(title)}:
            self.figure.update_layout(showlegend=False, margin={"t": 8})
        foreign = [name for name in self.names if title != name != (canonical_name(name) or name)]
        told = [small, *dict.fromkeys(foreign[:2]), self._means() if means and self.alone else "", self._points()]
        moves = [_("{name} from {first} to {last}", name=name, **_ends_of(shown)) for name, shown in self.told]
        words = f"{title}: {'; '.join(moves)}"
        return Chart(title, " · ".join(filter(None, told)), self.figure, words, key, frozenset(self.names))

    def _means(self) -> str:
        if len(self.told) == 1:
            if len(self.told[0][1]) == 1:
                return _("one value")
            return _("mean {mean} over {count} steps", **_mean_of(self.told[0][1]))
        pairs = [f"{name} {short_number(mean(shown))}" for name, shown in self.told]
        return _("means: {pairs}", pairs=", ".join(pairs))

    def _points(self) -> str:
        if self.thinned is None:
            return ""
        drawn, points = map(theme.count, self.thinned)
        return _("{drawn} of {points} points drawn, extremes kept", drawn=drawn, points=points)

    def figure_span(self) -> tuple[float, float]:
        """The first and last step that all charts show."""
        steps = [run.steps for run in self.runs.values() if len(run.steps)]
        low, high = self.look.step_range
        first = min((float(one[0]) for one in steps), default=0.0) if low is None else low
        last = max((float(one[-1]) for one in steps), default=1.0) if high is None else high
        return first, last

    def _span(self) -> None:
        """Let all charts begin and end at the same steps, and count few whole steps one by one."""
        steps = [run.steps for run in self.runs.values()]
        first, last = self.figure_span()
        if self.look.log_x and last > 0:
            above = [float(one[one > 0].min()) for one in steps if (one > 0).any()] if first <= 0 else [first]
            axes.spread_steps(self.figure, min(above), last)
            return
        margin = (last - first) * 0.015 or 0.5
        self.figure.update_xaxes(range=[first - margin, last + margin])
        if last - first <= MARKED_POINTS and all((one % 1 == 0).all() for one in steps):
            self.figure.update_xaxes(dtick=1)

    def _scale(self) -> str:
        """Scale each axis as it is looked at, by its own values; say what is unusual about it."""
        import numpy as np

        values, shares = self._values("y"), self._values("y2")
        told, height = [], None
        if self.look.log_y and len(values) and self.figure.layout.yaxis.type != "log":
            if values.min() > 0:
                axes.spread_values(self.figure)
            else:
                height = axes.spread_both_signs(self.figure, values)
                told.append(_("log scale on both sides of 0"))
        if self.look.log_y and len(shares) and axes.spread_shares(self.figure, shares):
            told.append(_("right: log scale from 0 on"))
        if self.look.clip and len(values):
            low, high = np.percentile(values, [5, 95])
            told.append(self._clip(float(low), float(high), height))
        return "; ".join(filter(None, told))

    def _clip(self, low: float, high: float, height: Callable[[float], float] | None) -> str:
        """Show what lies between two values and a little more; say what lies beyond. ``height`` is the axis' own."""
        import numpy as np

        margin = (high - low) * 0.1
        if margin <= 0:
            return ""
        low, high = low - margin, high + margin
        log = self.figure.layout.yaxis.type == "log"
        if log:
            low = max(low, float(self._values("y").min()))
        ends = [(math.log10 if log else height or float)(end) for end in (low, high)]
        self.figure.layout.yaxis.update(range=ends, rangemode="normal")
        values, told = self._values("y"), []
        for beyond, place, template in (
            (values > high, values.argmax(), _("points above: {count}, farthest {value} at step {step}")),
            (values < low, values.argmin(), _("points below: {count}, farthest {value} at step {step}")),
        ):
            if count := int(np.count_nonzero(beyond)):
                step = np.concatenate([one.steps for one in self.shown["y"]])[place]
                where = {"value": short_number(float(values[place])), "step": f"{step:g}"}
                told.append(fill(template, {"count": theme.count(count), **where}))
        return "; ".join(told)

    def _restart(self, step: float) -> None:
        muted = theme.palette().muted
        first, last = self.look.step_range
        if (first is None or step >= first) and (last is None or step <= last):
            self.figure.add_vline(x=step, line={"color": muted, "width": 1, "dash": "dot"})
            self.note(
                _("restart"), colour=muted, x=axes.place(self.figure, step), y=1, yref="paper", xanchor="right",
                xshift=-3, yanchor="top",
            )  # fmt: skip

    def _line(
        self, series: Series, name: str, colour: str, *, width: float = 2, dash: str = "solid", **more: Any
    ) -> None:
        shown = series.within(self.look.step_range)
        steps, values = drawn_points(shown)
        if len(steps) < len(shown) and (self.thinned is None or self.thinned[1] < len(shown)):
            self.thinned = len(steps), len(shown)
        mode = "lines+markers" if len(shown) <= MARKED_POINTS else "lines"
        style = {"color": colour, "width": width, "dash": dash}
        hover = {} if more.get("hoverinfo") == "skip" else {"hovertemplate": "%{y:.4g}"}  # a template undoes skip
        options = {"mode": mode} | hover | more
        self.figure.add_scatter(x=steps, y=values, name=escape(name), line=style, **options)

    def _tell(self, name: str, series: Series, axis: str) -> None:
        shown = series.within(self.look.step_range)
        self.told.append((name, shown))
        self.shown[axis].append(shown)

    def _values(self, axis: str) -> Floats:
        """All values that an axis shows, in one row."""
        import numpy as np

        parts = [shown.values for shown in self.shown[axis]]
        return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0), *parts])


# --- words ---------------------------------------------------------------------------------------------------------


def mean(series: Series) -> float | None:
    """The mean of a series; None when it has no value."""
    return float(series.values.mean()) if len(series) else None


def ends(series: Series) -> tuple[float | None, float | None]:
    """The first and the last value, each the mean of up to 20 points."""
    count = min(END_POINTS, max(1, len(series) // 2))
    first, last = (Series(series.steps[part], series.values[part]) for part in (slice(count), slice(-count, None)))
    return mean(first), mean(last)


def short_number(value: float | None) -> str:
    """A statistic as it is read; very small and very large ones with fewer decimals.

    >>> short_number(0.55), short_number(5.2e-06), short_number(1234.5678)
    ('0.55', '5.2e−06', '1234.6')
    """
    if value is None or value == 0 or 1e-3 <= abs(value) < 1e3:
        return theme.number(value)
    return (f"{value:.1e}" if abs(value) < 1 else f"{value:.1f}").replace("-", "−")


def _mean_of(series: Series) -> dict[str, str]:
    return {"mean": short_number(mean(series)), "count": theme.count(len(series))}


def _ends_of(series: Series) -> dict[str, str]:
    first, last = ends(series)
    return {"first": short_number(first), "last": short_number(last)}
