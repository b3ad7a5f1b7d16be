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


def rank_changes(before: Numbers, after: Numbers, group_of: Places) -> RankChanges:
    """Count how pairs inside groups change their order between two columns of rewards.

    Groups of one size are looked at together, so that the time grows with the pairs and not with the groups.
    """
    import numpy as np

    known = np.flatnonzero(~(np.isnan(before) | np.isnan(after)))
    order = known[np.argsort(group_of[known], kind="stable")]
    _, starts, sizes = np.unique(group_of[order], return_index=True, return_counts=True)
    pairs = flips = broken = made = groups = 0
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
    return RankChanges(pairs, flips, broken, made, groups)


def _signs(rewards: Numbers, one: Places, other: Places) -> Numbers:
    import numpy as np

    gaps = rewards[:, one] - rewards[:, other]
    signs: Numbers = np.where(np.abs(gaps) < EQUAL_WITHIN, 0.0, np.sign(gaps))
    return signs
