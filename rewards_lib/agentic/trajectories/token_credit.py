"""One trajectory's number on its tokens, by the strategy chosen."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from rewards_lib.agentic.credit import (
    assign_advantage,
    assign_reward_kl_weighted,
    assign_reward_last_token,
    assign_reward_uniform,
)
from rewards_lib.agentic.trajectories.token_track import TokenTrack
from rewards_lib.errors import InputError

if TYPE_CHECKING:
    from rewards_lib.agentic.arrays import Numbers


class Strategy(StrEnum):
    """How one number reaches many tokens."""

    LAST_TOKEN = "last token"  # noqa: S105 - a way to assign, no secret
    UNIFORM = "uniform"
    KL_WEIGHTED = "by KL"
    BROADCAST = "every token"
    """The whole number on each trained token: GRPO, RLOO, Dr. GRPO."""


def credit_tokens(strategy: Strategy, value: float, track: TokenTrack) -> Numbers:
    """Assign a reward or an advantage to the tokens of a track; one entry a token.

    Raises InputError for the KL-weighted strategy where the track carries no KL.
    """
    if strategy is Strategy.LAST_TOKEN:
        return assign_reward_last_token(value, track.mask)
    if strategy is Strategy.UNIFORM:
        return assign_reward_uniform(value, track.mask)
    if strategy is Strategy.BROADCAST:
        return assign_advantage(value, track.mask)
    if track.kl is None:
        raise InputError(
            "This trajectory carries no KL for each token.",
            remedy="Log the KL from the reference model while sampling, as a list under kl.",
        )
    return assign_reward_kl_weighted(value, track.mask, track.kl)
