"""Every window of a series in the order of size, by comparing whole arrays instead of sorting each window.

Neighbouring windows share their halves, so a window of 20 costs about fifty comparisons of arrays, whatever its values.
Source: K. E. Batcher, Sorting networks and their applications (1968); Knuth, The Art of Computer Programming 5.3.4.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rewards_lib.training_metrics.series import Floats

Ranks = Sequence["Floats"]
"""Arrays of one length, at each place in rising order: the smallest of each window, the second smallest, ..."""


def sorted_windows(values: Floats, window: int) -> Ranks:
    """The windows of ``window`` values in a row, sorted: ``window`` arrays, in each one value for every window.

    >>> import numpy as np
    >>> [rank.tolist() for rank in sorted_windows(np.array([3.0, 1.0, 2.0, 0.0]), 3)]
    [[1.0, 0.0], [2.0, 1.0], [3.0, 2.0]]
    """
    if window == 1:
        return [values]
    half, count = window // 2, len(values) - window + 1
    first = sorted_windows(values, half)
    second = first if 2 * half == window else sorted_windows(values, window - half)
    return merged([rank[:count] for rank in first], [rank[half : half + count] for rank in second])


def merged(first: Ranks, second: Ranks) -> Ranks:
    """Two sets of values that are sorted at each place, as one: Batcher's odd-even merge."""
    import numpy as np

    if not first or not second:
        return first or second
    if len(first) == len(second) == 1:
        return [np.minimum(first[0], second[0]), np.maximum(first[0], second[0])]
    low, high = merged(first[::2], second[::2]), merged(first[1::2], second[1::2])
    ranks = [low[0]]
    for above, below in zip(low[1:], high, strict=False):
        ranks += [np.minimum(above, below), np.maximum(above, below)]
    paired = min(len(low) - 1, len(high))
    return [*ranks, *low[paired + 1 :], *high[paired:]]


def middle(ranks: Ranks) -> Floats:
    """The median at each place."""
    half = len(ranks) // 2
    return ranks[half] if len(ranks) % 2 else (ranks[half - 1] + ranks[half]) / 2


def middle_deviation(ranks: Ranks, median: Floats) -> Floats:
    """The median of the distances from the median at each place."""
    half = len(ranks) // 2
    below = [median - rank for rank in ranks[:half][::-1]]
    return middle(merged(below, [rank - median for rank in ranks[half:]]))
