"""What happens to the order inside groups when every reward changes: advantages follow ranks, not heights.

Invariant: only pairs of one group with a reward on both sides count; rewards within rounding of each other are equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rewards_lib.rollouts.group_statistics import EQUAL_WITHIN

if TYPE_CHECKING:
    from rewards_lib.rollouts.reward_table import Numbers, Places

_MOST_OF_A_GROUP = 512
"""Pairs grow with the square of a group; of a larger one the first that many are looked at."""


@dataclass(frozen=True, slots=True)
class RankChanges:
    """Counts of pairs over all groups."""

    pairs: int = 0
    flips: int = 0
    """One order became the opposite."""
    ties_broken: int = 0
    ties_made: int = 0
    groups: int = 0
    """Groups with at least one flip."""
    kendall_tau: float | None = None
    """The mean of tau-b over the groups that have an order on both sides; None where there is no such group."""


def rank_changes(before: Numbers, after: Numbers, group_of: Places) -> RankChanges:
    """Count how pairs inside groups change their order between two columns of rewards.

    Groups of one size are looked at together, so that the time grows with the pairs and not with the groups.
    """
    import numpy as np

    known = np.flatnonzero(~(np.isnan(before) | np.isnan(after)))
    order = known[np.argsort(group_of[known], kind="stable")]
    _, starts, sizes = np.unique(group_of[order], return_index=True, return_counts=True)
    pairs = flips = broken = made = groups = 0
    taus: list[Numbers] = []
    for size in np.unique(sizes):
        if size < 2:
            continue
        width = min(int(size), _MOST_OF_A_GROUP)
        one, other = np.triu_indices(width, 1)
        for part in np.array_split(starts[sizes == size], max(1, int((sizes == size).sum()) * len(one) // 2_000_000)):
            places = order[part[:, None] + np.arange(width)[None, :]]
            old, new = (_signs(rewards[places], one, other) for rewards in (before, after))
            opposite = old * new < 0
            pairs += opposite.size
            flips += int(opposite.sum())
            groups += int(opposite.any(axis=1).sum())
            broken += int(((old == 0) & (new != 0)).sum())
            made += int(((old != 0) & (new == 0)).sum())
            taus.append(_taus(old, new))
    known_taus = np.concatenate(taus) if taus else np.zeros(0)
    tau = float(known_taus.mean()) if known_taus.size else None
    return RankChanges(pairs, flips, broken, made, groups, tau)


def _taus(old: Numbers, new: Numbers) -> Numbers:
    """Kendall's tau-b of each group, a row of signs each, where both sides have an order."""
    import numpy as np

    ordered = (old != 0).sum(axis=1) * (new != 0).sum(axis=1)
    found: Numbers = (old * new).sum(axis=1)[ordered > 0] / np.sqrt(ordered[ordered > 0])
    return found


def _signs(rewards: Numbers, one: Places, other: Places) -> Numbers:
    import numpy as np

    gaps = rewards[:, one] - rewards[:, other]
    signs: Numbers = np.where(np.abs(gaps) < EQUAL_WITHIN, 0.0, np.sign(gaps))
    return signs
