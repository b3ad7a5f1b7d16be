"""Which cells that say NaN are values the trainer logged, and which only say that nothing was logged there.

Invariant: a NaN in a row that is no place for its metric (a row of tests alone, a step between two logged ones) is a
gap; a NaN beside finite values of its own family, alone in its row, or from some step on for good, is a value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rewards_lib.training_metrics.names import canonical_name, split_name

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rewards_lib.training_metrics.series import Floats

    Places = NDArray[np.int64]
    Rows = NDArray[np.bool_]

USUALLY = 0.9
"""The share of its split's rows from which on a metric is expected in every one of them."""
_ALWAYS_THERE = ("train/actor/loss", "train/actor/pg_loss", "train/actor/grad_norm")
FEWEST_LOST = 2
"""One row of tests alone at the end of a file is an evaluation of the finished run, not a collapse."""


def logged_nans(names: Sequence[str], steps: Floats, values: Floats, places: Mapping[str, Places]) -> dict[str, Places]:
    """Of the cells that say NaN those that are values, for each metric that has any.

    ``values`` has one row for each name and one column for each of ``steps``, which rise; ``places`` are columns of it.
    """
    import numpy as np

    if not places:
        return {}
    finite = np.isfinite(values)
    families = [_family(name) for name in names]
    in_family: dict[tuple[str, str], Rows] = {
        one: np.logical_or.reduce(finite[[own == one for own in families]]) for one in dict.fromkeys(families)
    }
    in_split: dict[str, Rows] = {
        split: np.logical_or.reduce([rows for own, rows in in_family.items() if own[0] == split])
        for split, _ in in_family
    }
    begins = np.flatnonzero(np.append(True, steps[1:] != steps[:-1]))
    # a row without any value stands for its step only where no other row of the step has one
    whole = np.logical_or.reduceat(np.logical_or.reduce(list(in_split.values())), begins)
    anything: Rows = np.repeat(whole, np.diff(np.append(begins, len(steps))))
    found = {}
    for name, said in places.items():
        place = names.index(name)
        split = families[place][0]
        kept = _kept(finite[place], said, in_family[families[place]], in_split[split], anything)
        if len(kept):
            found[name] = kept
    return found


def lost_losses(places: Mapping[str, Places], values: Floats) -> list[str]:
    """Of the columns in which nothing but NaN stands, those of a loss or its gradient that say so in every row.

    ``places`` are where they say so, ``values`` those of all metrics. Other metrics may be written so when they are
    switched off; there is no update without a loss.
    """
    import numpy as np

    if not places:
        return []
    rows = np.flatnonzero(np.isfinite(values).any(axis=0))
    return [
        name
        for name, said in places.items()
        if canonical_name(name) in _ALWAYS_THERE and len(rows) and np.isin(rows, said).all()
    ]


def _family(name: str) -> tuple[str, str]:
    """The split a metric belongs to, and the first part of its name within it."""
    split, _ = split_name(canonical_name(name) or name)
    first, slash, _rest = split_name(name)[1].partition("/")
    return split or "train", first if slash else ""


def _kept(filled: Rows, said: Places, family: Rows, split: Rows, anything: Rows) -> Places:
    """Of one metric: ``filled`` are its rows with a value, ``said`` those with NaN, the others where more is logged."""
    import numpy as np

    values = np.flatnonzero(filled)
    if not len(values):
        return said[:0]
    tail = said > values[-1]
    before = np.arange(len(filled)) <= values[-1]
    expected = _share(filled, split & before) >= USUALLY
    kept = family[said] | (split[said] & expected) | ~anything[said]
    others = anything & ~split
    lost = tail & others[said] & (_share(filled, anything & before) > 0.5)
    if lost.sum() >= FEWEST_LOST:
        kept |= lost
    inner = said[kept & ~tail]
    if len(inner) < len(values):
        return said[kept]
    # most of its rows say NaN, which is how this file spells a gap; only a gap longer than any before is the end
    widest = np.bincount(values.searchsorted(inner)).max()
    return said[kept & tail] if (kept & tail).sum() > widest else said[:0]


def _share(filled: Rows, among: Rows) -> float:
    count = int(among.sum())
    return float((filled & among).sum()) / count if count else 0.0
