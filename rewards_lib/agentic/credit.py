"""From one number a trajectory to one number a token.

Invariant: tokens outside the mask get 0; the three ways that share a reward out add up to it unless the mask is empty.
Rewards are made relative to their group first (``group_advantages``), then assigned: a difference of sums means
nothing once it is spread over different lengths.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rewards_lib.agentic.arrays import Values, as_mask, as_numbers
from rewards_lib.errors import InputError

if TYPE_CHECKING:
    from rewards_lib.agentic.arrays import Mask, Numbers

KL_FLOOR = 1e-8
"""A trajectory whose KL adds up to less has no token that stands out: the reward is shared out evenly."""


def assign_reward_last_token(reward: float, loss_mask: Values) -> Numbers:
    """Put the whole reward on the last trained token; one entry a token.

    That token need not be the end of the turn: a trajectory cut by its length ends in the middle of a word.
    Source: PPO for language models, e.g. verl's ``token_level_scores``.

    >>> assign_reward_last_token(1.0, [0, 1, 1, 0]).tolist()
    [0.0, 0.0, 1.0, 0.0]
    """
    mask = _row(loss_mask)
    assigned = _zeros(mask)
    trained = mask.nonzero()[0]
    if len(trained):
        assigned[trained[-1]] = _finite(reward)
    return assigned


def assign_reward_uniform(reward: float, loss_mask: Values) -> Numbers:
    """Share the reward out evenly over the trained tokens; one entry a token.

    >>> assign_reward_uniform(1.0, [0, 1, 1, 0]).tolist()
    [0.0, 0.5, 0.5, 0.0]
    """
    mask = _row(loss_mask)
    return _zeros(mask) if not mask.any() else mask.astype(float) * (_finite(reward) / int(mask.sum()))


def assign_reward_kl_weighted(reward: float, loss_mask: Values, kl_per_token: Values) -> Numbers:
    """Share the reward out by how far each trained token left the reference model; one entry a token.

    ``kl_per_token`` has one entry a token; estimates may be negative, their size counts. Below ``KL_FLOOR`` in total
    the reward is shared out evenly. Raises InputError for another length and for entries that are not finite.

    >>> assign_reward_kl_weighted(1.0, [0, 1, 1, 0], [9.0, 0.25, 0.75, 9.0]).tolist()
    [0.0, 0.25, 0.75, 0.0]
    """
    import numpy as np

    mask, divergence = _row(loss_mask), as_numbers(kl_per_token)
    if divergence.shape != mask.shape:
        raise InputError(
            "There are {numbers} KL values for {tokens} tokens.", numbers=divergence.size, tokens=mask.size
        )
    divergence = np.where(mask == 1, np.abs(divergence), 0.0)
    if not np.isfinite(divergence).all():
        raise InputError("The KL of a trained token is not a finite number.")
    total = divergence.sum()
    if total < KL_FLOOR:
        return assign_reward_uniform(reward, loss_mask)
    shares: Numbers = divergence * (_finite(reward) / float(total))
    return shares


def assign_advantage(advantage: float, loss_mask: Values) -> Numbers:
    """Put the same advantage on every trained token, as GRPO, RLOO and Dr. GRPO do; one entry a token.

    The sum grows with the length; how much a long answer weighs is decided by ``aggregate_loss``. Source: verl
    ``compute_grpo_outcome_advantage`` (``scores.unsqueeze(-1) * response_mask``), TRL, OpenRLHF.

    >>> assign_advantage(0.5, [0, 1, 1, 0]).tolist()
    [0.0, 0.5, 0.5, 0.0]
    """
    return _row(loss_mask).astype(float) * _finite(advantage)


def _row(loss_mask: Values) -> Mask:
    mask = as_mask(loss_mask)
    if mask.ndim != 1:
        raise InputError("A trajectory has one mask; this one has {count} axes.", count=mask.ndim)
    return mask


def _zeros(mask: Mask) -> Numbers:
    import numpy as np

    return np.zeros(mask.shape)


def _finite(reward: float) -> float:
    import math

    if not math.isfinite(reward):
        raise InputError(
            "A reward of {value} cannot be assigned.",
            value=reward,
            remedy="Leave unscored trajectories out of the batch.",
        )
    return float(reward)
