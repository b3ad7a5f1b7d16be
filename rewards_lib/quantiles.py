"""The middle and the upper end of some values.

Invariant: nothing has no middle: without values the answer is None, never 0.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence


def median(values: Sequence[float]) -> float | None:
    """The middle value, the mean of the two in the middle of an even number; None without values.

    >>> median([4, 1, 3, 2]), median([])
    (2.5, None)
    """
    return statistics.median(values) if values else None


def percentile(values: Sequence[float], share: float) -> float | None:
    """The smallest value that at least this share of the values does not exceed; None without values.

    >>> percentile([4.0, 1.0, 3.0, 2.0], 0.5)
    2.0
    """
    if not values:
        return None
    ordered = sorted(values)
    return ordered[max(math.ceil(share * len(ordered)) - 1, 0)]
