"""What the rewards say group by group: best, mean and worst of n, pass at k, groups without signal.

Invariant: rollouts without a reward are left out of everything here, and so are groups without any.
Sources: bo1, bon, won are means over groups of the groups' mean, maximum and minimum; pass at k is the unbiased
estimate of arXiv 2107.03374; zero-variance groups are those that dynamic sampling drops (DAPO, arXiv 2503.14476).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rewards_lib.rollouts.reward_table import RewardTable

if TYPE_CHECKING:
    from rewards_lib.rollouts.reward_table import Flags, Numbers, Places

EQUAL_WITHIN = 1e-9
"""Rewards of a group that lie closer together than this are equal: what tells them apart is rounding."""
RIGHT_SHARE = 0.5
RESAMPLES = 1000
_SEED = 20240901
_LARGE = 5000


@dataclass(frozen=True, slots=True)
class GroupTable:
    """One entry for each group with at least one scored rollout, in the order of the file."""

    sizes: Places
    """Scored rollouts."""
    means: Numbers
    best: Numbers
    worst: Numbers
    right: Places
    """Rollouts that count as right."""
    numbers: Places
    """Each group's number in the reward table."""

    @property
    def has_no_variance(self) -> Flags:
        """Whether all rewards of the group are equal."""
        return self.best - self.worst < EQUAL_WITHIN


def right_from(table: RewardTable, *, largest: float | None = None) -> float:
    """The reward from which a rollout counts as right: half of the largest possible, or of the largest observed.

    Infinity when nothing earns anything above 0: then nothing is right.
    """
    import numpy as np

    scored = table.rewards[~np.isnan(table.rewards)]
    top = largest if largest is not None else float(scored.max()) if scored.size else 0.0
    return RIGHT_SHARE * top if top > 0 else math.inf


def group_table(table: RewardTable, *, right: float) -> GroupTable:
    """Sum up each group. ``right`` is the reward from which a rollout counts as right."""
    import numpy as np

    is_unscored = np.isnan(table.rewards)
    rewards, group_of = table.rewards, table.group_of
    if is_unscored.any():
        rewards, group_of = rewards[~is_unscored], group_of[~is_unscored]
    if np.any(group_of[1:] < group_of[:-1]):  # groups mostly stand together already
        order = np.argsort(group_of, kind="stable")
        rewards, group_of = rewards[order], group_of[order]
    if not rewards.size:
        nothing, none = np.zeros(0), np.zeros(0, dtype=np.int64)
        return GroupTable(none, nothing, nothing, nothing, none, none)
    starts = np.append(0, np.flatnonzero(group_of[1:] != group_of[:-1]) + 1)
    sizes = np.diff(starts, append=group_of.size)
    best, worst, count = _extremes(rewards, starts, sizes, right - EQUAL_WITHIN)
    return GroupTable(sizes, np.add.reduceat(rewards, starts) / sizes, best, worst, count, group_of[starts])


def _extremes(rewards: Numbers, starts: Places, sizes: Places, limit: float) -> tuple[Numbers, Numbers, Places]:
    """Of each group the largest reward, the smallest, and how many reach the limit."""
    import numpy as np

    if (sizes == sizes[0]).all():  # as samplers write them: columns of a table are gone through four times as fast
        table = np.ascontiguousarray(rewards.reshape(-1, sizes[0]).T)
        return table.max(axis=0), table.min(axis=0), (table >= limit).sum(axis=0)
    reach = np.add.reduceat((rewards >= limit).astype(np.int64), starts)
    return np.maximum.reduceat(rewards, starts), np.minimum.reduceat(rewards, starts), reach


def pass_at(n: int, c: int, k: int) -> float:
    """The chance that at least one of k completions, drawn from n of which c are right, is right.

    >>> [round(pass_at(8, 2, k), 6) for k in (1, 4, 8)]
    [0.25, 0.785714, 1.0]
    """
    return 1.0 if n - c < k else 1.0 - math.comb(n - c, k) / math.comb(n, k)


def passes(groups: GroupTable) -> dict[int, Numbers]:
    """Pass at k of each group, for k = 1, 2, 4 ... up to the smallest group."""
    import numpy as np

    smallest = int(groups.sizes.min()) if groups.sizes.size else 0
    found: dict[int, Numbers] = {}
    k = 1
    while k <= smallest:
        pairs, which = np.unique(np.stack([groups.sizes, groups.right]), axis=1, return_inverse=True)
        values = np.array([pass_at(int(n), int(c), k) for n, c in pairs.T])
        found[k] = values[which.reshape(-1)]
        k *= 2
    return found


def interval(values: Numbers) -> tuple[float, float] | None:
    """The 95 % bootstrap interval of the mean over groups, resampled 1,000 times with a fixed seed.

    Above 5,000 groups the normal interval, which is the same to three digits there. None below two groups.
    """
    import numpy as np

    count = len(values)
    if count < 2:
        return None
    if count > _LARGE:
        half = 1.959964 * float(values.std(ddof=1)) / math.sqrt(count)
        return float(values.mean()) - half, float(values.mean()) + half
    random = np.random.default_rng(_SEED)
    means = values[random.integers(0, count, (RESAMPLES, count))].mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)


def wilson(successes: float, count: int) -> tuple[float, float]:
    """The 95 % Wilson interval of a share; (0, 1) when nothing was counted.

    >>> [round(bound, 3) for bound in wilson(8, 10)]
    [0.49, 0.943]
    """
    if not count:
        return 0.0, 1.0
    z2, share = 1.959964**2, successes / count
    middle = (share + z2 / (2 * count)) / (1 + z2 / count)
    half = math.sqrt(z2 * (share * (1 - share) / count + z2 / (4 * count * count))) / (1 + z2 / count)
    return max(0.0, middle - half), min(1.0, middle + half)


def pearson(one: Numbers, other: Numbers) -> float | None:
    """Pearson's correlation where both have a number; None below two of them, or without spread on one side."""
    import numpy as np

    both = ~(np.isnan(one) | np.isnan(other))
    first, second = one[both], other[both]
    if first.size < 2 or np.ptp(first) < EQUAL_WITHIN or np.ptp(second) < EQUAL_WITHIN:
        return None
    return float(np.corrcoef(first, second)[0, 1])


def mean_of(values: Numbers) -> float | None:
    """The mean; None of nothing."""
    return float(values.mean()) + 0.0 if len(values) else None


Statistic = Callable[[GroupTable], "Numbers"]
BEST_OF_N: dict[str, Statistic] = {
    "bo1": lambda groups: groups.means,
    "bon": lambda groups: groups.best,
    "won": lambda groups: groups.worst,
}
"""Name -> the groups' values whose mean it is."""
