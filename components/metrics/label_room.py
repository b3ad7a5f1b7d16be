"""Where a chart has room for words: the height at which its curves stay farthest away."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plotly.graph_objects as go

if TYPE_CHECKING:
    from rewards_lib.training_metrics.series import Floats

LEVELS = 12


def free_level(figure: go.Figure, begin: float, end: float) -> float:
    """The height, as a share of the chart, that is farthest from all curves between two steps."""
    import numpy as np

    heights = [np.array([-0.04, 1.04])]  # words stay a little inside the chart
    for trace in figure.data:
        if trace.x is not None:
            steps = np.asarray(trace.x, dtype="float64")
            shares = _shares(figure, trace)[(steps >= begin) & (steps <= end)]
            heights.append(shares[np.isfinite(shares)])
    taken = np.concatenate(heights)
    levels = np.linspace(0.94, 0.06, LEVELS)
    return float(levels[abs(levels[:, None] - taken).min(axis=1).argmax()])


def value_at(figure: go.Figure, level: float) -> float:
    """The value on the left axis at a height."""
    low, high = _ends(figure)
    return low + level * (high - low)


def _shares(figure: go.Figure, trace: go.Scatter) -> Floats:
    """A curve's heights as shares of the chart."""
    import numpy as np

    values = np.asarray(trace.y, dtype="float64")
    right = trace.yaxis == "y2"
    axis = figure.layout.yaxis2 if right else figure.layout.yaxis
    low, high = axis.range if right else _ends(figure)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.log10(values) if axis.type == "log" else values
    return (values - low) / ((high - low) or 1.0)


def _ends(figure: go.Figure) -> tuple[float, float]:
    """The lowest and highest value on the left axis; of a logarithmic one their exponents."""
    import numpy as np

    values = [np.asarray(trace.y, dtype="float64") for trace in figure.data if trace.yaxis != "y2"]
    drawn = np.concatenate(values) if values else np.zeros(1)
    drawn = drawn[np.isfinite(drawn)]
    if figure.layout.yaxis.type == "log":
        drawn = np.log10(drawn[drawn > 0])
    if not len(drawn):
        return 0.0, 1.0
    low = 0.0 if figure.layout.yaxis.rangemode == "tozero" else float(drawn.min())
    return min(low, float(drawn.min())), float(drawn.max())
