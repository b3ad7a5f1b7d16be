"""One metric over steps: smoothing, cutting, down-sampling and summary.

Invariant: steps rise strictly and values are finite; down-sampling keeps the smallest and the largest value.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rewards_lib.contract import JsonObject
from rewards_lib.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

CHART_POINTS = 2000
"""How many points a line on a chart gets: about two a pixel on a wide screen."""
CENTRED_POINTS = 11
"""How many points of a training series are averaged round an evaluation."""
WHOLE_NUMBERS = 2.0**53
"""Below it a float knows its whole number exactly."""
HUGE = 1e300
"""Beyond it values are divided before they are summed, since their sum may be no float."""
NEGLIGIBLE = 1e-20
"""A share of a sum that no digit of it shows."""
BLOCK_POINTS = 16_384
"""So many points at once are smoothed in the processor's cache."""
GAP_STEPS = 5
"""A line breaks where the next value is more than this many median steps away."""

StepRange = tuple[float | None, float | None]
"""First and last step, both included; None is open."""


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """The values of one metric at the steps that have one."""

    steps: Floats
    """Rises strictly."""
    values: Floats
    """Finite; one for each step."""

    def __len__(self) -> int:
        return len(self.steps)

    def within(self, step_range: StepRange | None) -> Series:
        """The part between two steps, both included."""
        first, last = step_range or (None, None)
        begin = 0 if first is None else int(self.steps.searchsorted(first, "left"))
        end = len(self) if last is None else int(self.steps.searchsorted(last, "right"))
        return Series(self.steps[begin:end], self.values[begin:end])

    def summary(self) -> JsonObject:
        """Mean, min, max, last and count over the steps that have a value; None where there is none."""
        if not len(self):
            return {"mean": None, "min": None, "max": None, "last": None, "n": 0}
        huge = abs(self.values).max() > HUGE
        return {
            "mean": float((self.values / len(self)).sum() if huge else self.values.mean()),
            "min": float(self.values.min()),
            "max": float(self.values.max()),
            "last": float(self.values[-1]),
            "n": len(self),
        }

    def to_json(self) -> list[list[float]]:
        """``[[step, value], ...]``; whole steps are integers."""
        whole = bool((self.steps % 1 == 0).all() and (abs(self.steps) < WHOLE_NUMBERS).all())
        steps = self.steps.astype("int64").tolist() if whole else self.steps.tolist()
        return [[step, value] for step, value in zip(steps, self.values.tolist(), strict=True)]


def smooth_series(series: Series, weight: float) -> Series:
    """TensorBoard's debiased exponential moving average, over the points there are; 0 changes nothing.

    ``s[t] = sum(w^k x[t-k]) / sum(w^k)``, so that the first point stands for itself
    (tensorboard/components/vz_line_chart2). Raises InputError unless 0 <= weight < 1.

    >>> import numpy as np
    >>> smooth_series(Series(np.array([1.0, 2.0]), np.array([1.0, 2.0])), 0.5).values.round(4).tolist()
    [1.0, 1.6667]
    """
    import numpy as np

    if not 0 <= weight < 1:
        raise InputError("The smoothing weight must be from 0 to below 1, not {weight}.", weight=weight)
    if not weight or len(series) < 2:
        return series
    sums, reach = np.empty(len(series)), _reach(weight)
    size = max(BLOCK_POINTS, 4 * reach)
    for begin in range(0, len(series), size):
        first = max(0, begin - reach)
        sums[begin : begin + size] = _weighted_sums(series.values[first : begin + size], weight)[begin - first :]
    # far from the start a sum of all shares is 1
    near = min(len(series), math.ceil(math.log(NEGLIGIBLE) / math.log(weight)))
    sums[:near] /= -np.expm1(np.arange(1, near + 1) * math.log(weight))
    return Series(series.steps, sums)


def _reach(weight: float) -> int:
    """How many points before one have a share in its sum: a power of two."""
    reach, far = 1, weight
    while far > NEGLIGIBLE:
        reach, far = 2 * reach, far * far
    return reach


def _weighted_sums(values: Floats, weight: float) -> Floats:
    """At each point ``sum((1 - weight) weight^k x[t-k])``, negligible shares left out."""
    sums, reach, far = values * (1 - weight), 1, weight
    while reach < len(values) and far > NEGLIGIBLE:
        # a sum over the last `reach` points and one that ends where it begins are the sum over twice as many
        sums[reach:] += far * sums[:-reach]
        reach, far = 2 * reach, far * far
    return sums


def means_around(series: Series, steps: Floats, points: int = CENTRED_POINTS) -> Series:
    """At each of the given steps the mean of the ``points`` points of the series nearest to it, half on either side.

    Steps outside the series are left out. A mean over the points before a step alone would lag behind a rising series.
    """
    import numpy as np

    inside = steps[(steps >= series.steps[0]) & (steps <= series.steps[-1])] if len(series) else steps[:0]
    after = np.minimum(series.steps.searchsorted(inside), max(0, len(series) - 1))
    before = np.maximum(after - 1, 0)
    nearer = abs(series.steps[before] - inside) < abs(series.steps[after] - inside)
    places, half = np.where(nearer, before, after), points // 2
    means = [series.values[max(0, place - half) : place + half + 1].mean() for place in places.tolist()]
    return Series(inside, np.array(means, dtype="float64"))


def downsample(series: Series, points: int = CHART_POINTS) -> Series:
    """At most about ``points`` points of the series that keep its shape, its first, last, smallest and largest value.

    MinMaxLTTB (tsdownsample) picks them; it may pass over an extreme that lies in a bucket with a taller triangle, so
    the two extremes are put back.
    """
    if len(series) <= points:
        return series
    import numpy as np
    from tsdownsample import MinMaxLTTBDownsampler

    kept = MinMaxLTTBDownsampler().downsample(series.steps, series.values, n_out=points)
    extremes = [int(series.values.argmin()), int(series.values.argmax()), 0, len(series) - 1]
    index = np.union1d(kept.astype("int64"), extremes)
    return Series(series.steps[index], series.values[index])


def drawn_points(series: Series, points: int = CHART_POINTS) -> tuple[Floats, Floats]:
    """Steps and values for a line: down-sampled, with a NaN wherever the line must break at a gap."""
    import numpy as np

    kept = downsample(series, points)
    if len(series) < 3:
        return kept.steps, kept.values
    widths = np.diff(series.steps)
    if widths.max() <= GAP_STEPS * widths.min():
        return kept.steps, kept.values
    gaps = np.flatnonzero(widths > GAP_STEPS * np.median(widths))
    if not len(gaps):
        return kept.steps, kept.values
    places = np.unique(kept.steps.searchsorted(series.steps[gaps], "right"))
    places = places[(places > 0) & (places < len(kept))]
    middles = (kept.steps[places - 1] + kept.steps[places]) / 2
    return np.insert(kept.steps, places, middles), np.insert(kept.values, places, np.nan)
