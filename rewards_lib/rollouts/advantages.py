"""Advantages by algorithm: what a reward is worth against the other rewards of its group.

Invariant: an unscored rollout has no advantage and enters nobody's mean; equal rewards have advantage 0. Standard
deviations are unbiased. Sources: verl core_algos.compute_grpo_outcome_advantage and compute_rloo_outcome_advantage,
TRL GRPOTrainer (scale_rewards, normalize_then_sum), OpenRLHF; Dr. GRPO arXiv 2503.20783, RLOO arXiv 2402.14740.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rewards_lib.rollouts.group_statistics import EQUAL_WITHIN

if TYPE_CHECKING:
    from rewards_lib.rollouts.reward_table import Numbers, Places

EPSILONS = {"grpo": 1e-6, "grpo_trl": 1e-4, "grpo_openrlhf": 1e-9}
"""What each trainer adds to the standard deviation; ``grpo`` is verl's."""
_GDPO_EPSILON = 1e-4


def advantages(rewards: Numbers, group_of: Places) -> dict[str, Numbers]:
    """Advantages of every rollout by algorithm, in order; NaN where there is no reward.

    A group with one scored rollout has nothing to compare with: verl's GRPO and RLOO then take the reward itself, the
    others give 0.
    """
    import numpy as np

    count, mean, std = _moments(rewards, group_of)
    centred = np.where(std > 0, rewards - mean, 0.0)
    alone = count == 1
    found = {name: centred / (std + epsilon) for name, epsilon in EPSILONS.items()}
    found["grpo"] = np.where(alone, rewards, found["grpo"])
    found["dr_grpo"] = centred
    found["rloo"] = np.where(alone, rewards, centred * count / np.maximum(count - 1, 1))
    return {name: np.where(np.isnan(rewards), np.nan, values) + 0.0 for name, values in found.items()}


def gdpo(rules: Mapping[str, Numbers], weights: Mapping[str, float], rewards: Numbers, group_of: Places) -> Numbers:
    """Normalise each rule inside its group, then add up with the weights: keeps apart what equal sums hide.

    The trainer's last step, over its batch, is left out: a file is no batch. NaN where the rollout is unscored.
    """
    import numpy as np

    total = np.zeros(len(rewards))
    for name, values in rules.items():
        own = np.where(np.isnan(rewards), np.nan, values)
        _, mean, std = _moments(own, group_of)
        normal = np.where(std > 0, own - mean, 0.0) / (std + _GDPO_EPSILON)
        total = total + weights[name] * np.nan_to_num(normal)
    return np.where(np.isnan(rewards), np.nan, total)


def _moments(rewards: Numbers, group_of: Places) -> tuple[Numbers, Numbers, Numbers]:
    """Each rollout's group: scored count, mean, and standard deviation, which is 0 where all rewards are equal."""
    import numpy as np

    is_scored = ~np.isnan(rewards)
    places, values = group_of[is_scored], rewards[is_scored]
    groups = int(group_of.max()) + 1 if len(group_of) else 0
    count = np.bincount(places, minlength=groups).astype(float)
    mean = np.bincount(places, values, groups) / np.maximum(count, 1)
    best, worst = np.full(groups, -np.inf), np.full(groups, np.inf)
    np.maximum.at(best, places, values)
    np.minimum.at(worst, places, values)
    squares = np.bincount(places, (values - mean[places]) ** 2, groups)
    std = np.where(best - worst < EQUAL_WITHIN, 0.0, np.sqrt(squares / np.maximum(count - 1, 1)))
    return count[group_of], mean[group_of], std[group_of]
