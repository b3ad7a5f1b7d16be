"""Axes that are not linear: logarithmic in steps or values, on both sides of 0 where values change sign.

Invariant: hovering tells the value as it was read; a shape stands at its step, a note beside its curve.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import plotly.graph_objects as go

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

MOST_TICKS = 5
"""Of either sign on an axis that is logarithmic on both sides of 0."""


def spread_steps(figure: go.Figure, first: float, last: float) -> None:
    """Make the steps' axis logarithmic from ``first``, above 0, to ``last``."""
    low, high = math.log10(first), math.log10(last)
    margin = (high - low) * 0.015 or 0.05
    figure.update_xaxes(type="log", range=[low - margin, high + margin], exponentformat="SI")
    for note in figure.layout.annotations:
        note.x = place(figure, note.x)
        if note.axref == "x":
            note.ax = place(figure, note.ax)


def place(figure: go.Figure, step: float) -> float:
    """Where a step stands on the steps' axis, as its range and notes measure it: its exponent on a logarithmic one."""
    if figure.layout.xaxis.type != "log":
        return step
    return math.log10(step) if step > 0 else float(figure.layout.xaxis.range[0])


def step_at(figure: go.Figure, place: float) -> float:
    """The step at a place on the steps' axis."""
    return float(10**place) if figure.layout.xaxis.type == "log" else place


def spread_values(figure: go.Figure) -> None:
    """Make the left axis logarithmic, for values above 0."""
    figure.layout.yaxis.update(type="log", rangemode="normal")
    _move_notes(figure, math.log10)


def spread_shares(figure: go.Figure, values: Floats) -> bool:
    """Make the right axis, of shares up to 1, logarithmic; say whether it holds 0 and is linear near it.

    Its marks stay where they are told, and more stand at the powers of ten below 1.
    """
    axis, zeros = figure.layout.yaxis2, bool((values <= 0).any())
    smallest = float(values[values > 0].min(initial=1.0))
    lowest = _near(values) if zeros else smallest
    powers = [10.0**power for power in range(round(math.log10(lowest)), 0)][-MOST_TICKS:]
    ticks = sorted({*axis.tickvals, *powers} - ({0.0} if not zeros else set()))
    if zeros:
        height = _stretch(figure, values, "y2")
        for shape in figure.layout.shapes:
            if shape.yref == "y2":
                shape.y0, shape.y1 = height(shape.y0), height(shape.y1)
        axis.update(range=[0, height(1.0)], tickvals=[height(tick) for tick in ticks])
    else:
        axis.update(type="log", range=[math.log10(smallest / 1.5), 0], tickvals=ticks)
    axis.update(ticktext=[f"{100 * tick:g}%" for tick in ticks], tickformat=None)
    return zeros


def spread_both_signs(figure: go.Figure, values: Floats) -> Callable[[float], float]:
    """Make the left axis linear near 0 and logarithmic on both sides of it; give where a value stands on it."""
    height = _stretch(figure, values, "y")
    near, largest = _near(values), float(abs(values).max(initial=0.0))
    decades = math.ceil(height(largest)) or 1
    powers = [near * 10.0**power for power in range(0, decades + 1, decades // MOST_TICKS + 1)]
    ticks = [*(-power for power in reversed(powers)), 0.0, *powers]
    figure.layout.yaxis.update(
        tickvals=[height(tick) for tick in ticks], ticktext=[f"{tick:g}".replace("-", "−") for tick in ticks],
        rangemode="normal",
    )  # fmt: skip
    _move_notes(figure, height)
    return height


def _near(values: Floats) -> float:
    """What is near 0: the power of ten of the values' median, zeros left out."""
    import numpy as np

    sizes = np.abs(values[values != 0])
    return float(10.0 ** math.floor(math.log10(float(np.median(sizes))))) if len(sizes) else 1.0


def _stretch(figure: go.Figure, values: Floats, axis: str) -> Callable[[float], float]:
    """Move the curves of one axis to ``sign(v) log10(1 + |v| / near)``; give where a value stands then."""
    import numpy as np

    near = _near(values)

    def height(value: float) -> float:
        return math.copysign(math.log10(1 + abs(value) / near), value)

    for trace in figure.data:
        if (trace.yaxis or "y") == axis:
            own = np.asarray(trace.y, dtype="float64")
            trace.customdata = own
            trace.y = np.sign(own) * np.log10(1 + np.abs(own) / near)
            if trace.hovertemplate:
                trace.hovertemplate = trace.hovertemplate.replace("%{y:", "%{customdata:")
    return height


def _move_notes(figure: go.Figure, height: Callable[[float], float]) -> None:
    for note in figure.layout.annotations:
        if note.yref in (None, "y"):
            note.y = height(note.y)
            if note.ayref == "y":
                note.ay = height(note.ay)
