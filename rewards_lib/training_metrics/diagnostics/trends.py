"""Arithmetic on series: means of windows, trends with their error, robust deviations, stretches of hits.

Invariant: nothing here knows what a metric means, and a series too short for a figure gives none rather than a guess.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rewards_lib.training_metrics.diagnostics.sorted_windows import middle, middle_deviation, sorted_windows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rewards_lib.training_metrics.series import Floats

    Hits = NDArray[np.bool_]

ERRORS = 2.0
"""A trend is one beyond this many standard errors."""
LEAST_MOVE = 0.01
"""And beyond this share of the series' own range."""
SAMPLED_POINTS, LEAST_USUAL, DIGITS_LOST = 1000, 1e-6, 1e9
"""How many points tell what is usual, what is at least, and how many times that leaves a sum too few digits."""

FLOOR_SHARE = 0.05
"""A deviation is at least this share of the median: in a very calm history a ripple is no spike."""
CHUNK_POINTS = 8192
"""So many windows at once stay in the processor's cache."""


@dataclass(frozen=True, slots=True)
class Trend:
    """How far a straight line through a series goes from its first to its last step."""

    change: float
    error: float
    """Standard error of the change; infinite for fewer than three points."""
    span: float
    """The range of the series' values."""

    @property
    def rises(self) -> bool:
        """Whether it goes up beyond its error and beyond one percent of the range."""
        return self.change > max(ERRORS * self.error, LEAST_MOVE * self.span)

    @property
    def falls(self) -> bool:
        """Whether it goes down beyond its error and beyond one percent of the range."""
        return -self.change > max(ERRORS * self.error, LEAST_MOVE * self.span)


def trend(steps: Floats, values: Floats) -> Trend:
    """The least-squares line, with the standard error of its rise over the whole span.

    >>> import numpy as np
    >>> trend(np.arange(4.0), np.array([0.0, 1.0, 2.0, 3.0])).change
    3.0
    """
    import numpy as np

    if len(values) < 3 or steps[-1] == steps[0]:
        return Trend(0.0, float("inf"), 0.0)
    x = (steps - steps.mean()) / (steps[-1] - steps[0])
    spread = float((x * x).sum())
    slope = float((x * values).sum() / spread)
    rest = values - values.mean() - slope * x
    error = float(np.sqrt((rest * rest).sum() / (len(values) - 2) / spread))
    return Trend(slope, error, float(np.ptp(values)))


def window_means(values: Floats, window: int, starts: Sequence[int] = ()) -> tuple[NDArray[np.int64], Floats]:
    """The mean of each ``window`` values in a row, and the index each window ends at.

    No window reaches over an index in ``starts``, where the run began again.
    """
    import numpy as np

    ends, means = [], []
    for begin, end in zip([0, *starts], [*starts, len(values)], strict=True):
        if end - begin < window:
            continue
        ends.append(np.arange(begin + window - 1, end))
        means.append(_means_of(values[begin:end], window))
    if not ends:
        return np.empty(0, "int64"), np.empty(0)
    return np.concatenate(ends), np.concatenate(means)


def _means_of(values: Floats, window: int) -> Floats:
    """The mean of each window; by running sums, unless one value is so large that it would swallow those after it."""
    import numpy as np

    usual = max(float(np.median(np.abs(values[:: len(values) // SAMPLED_POINTS + 1]))), LEAST_USUAL)
    if max(float(values.max()), -float(values.min())) > DIGITS_LOST * usual:
        means: Floats = np.lib.stride_tricks.sliding_window_view(values, window).mean(axis=1)
        return means
    sums = np.zeros(len(values) + 1)
    np.cumsum(values, out=sums[1:])
    return (sums[window:] - sums[:-window]) / window


def stretches(hits: Hits, least: int) -> list[tuple[int, int]]:
    """First and last index of every run of at least ``least`` hits.

    >>> import numpy as np
    >>> stretches(np.array([True, False, True, True]), 2)
    [(2, 3)]
    """
    import numpy as np

    edges = np.diff(np.concatenate(([0], hits.astype("int8"), [0])))
    begins, ends = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1) - 1
    return [(int(a), int(b)) for a, b in zip(begins, ends, strict=True) if b - a + 1 >= least]


def robust_deviations(
    values: Floats, window: int, starts: Sequence[int] = (), *, among: Hits | None = None
) -> tuple[Floats, Floats]:
    """How many robust deviations values lie above the median of the ``window`` values before them, and that median.

    ``z = (x - median) / max(1.4826 MAD, 5 % of the median)``; 0 where there is no such history and where it is all 0.
    Points outside ``among`` are 0 too.
    """
    import numpy as np

    z, medians = np.zeros(len(values)), np.zeros(len(values))
    for begin, end in zip([0, *starts], [*starts, len(values)], strict=True):
        for first in range(begin + window, end, CHUNK_POINTS):
            here = slice(first, min(first + CHUNK_POINTS, end))
            if among is not None and not among[here].any():
                continue
            ranks = sorted_windows(values[first - window : here.stop - 1], window)
            median = middle(ranks)
            scale = np.maximum(1.4826 * middle_deviation(ranks, median), FLOOR_SHARE * np.abs(median))
            medians[here] = median
            np.divide(values[here] - median, scale, out=z[here], where=scale > 0)
    if among is not None:
        z[~among] = medians[~among] = 0
    return z, medians


def thirds(values: Floats) -> list[tuple[float, float]]:
    """Mean and standard error of the first, middle and last third."""
    import numpy as np

    parts = np.array_split(values, 3)
    return [
        (float(part.mean()), float(part.std(ddof=1) / np.sqrt(len(part))) if len(part) > 1 else float("inf"))
        for part in parts
        if len(part)
    ]


def noise(values: Floats) -> float:
    """The standard deviation of one value around a smoothed series, from the differences of neighbours."""
    import numpy as np

    return float(np.std(np.diff(values)) / np.sqrt(2)) if len(values) > 2 else float("inf")
