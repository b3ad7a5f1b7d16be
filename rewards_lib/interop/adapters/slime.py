"""slime's ``--custom-rm-path``: an async function of one sample or of a batch, the reward back."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from rewards_lib.interop.adapters.arguments import number_of, plain, sample_of
from rewards_lib.interop.runtime import Reward
from rewards_lib.payloads.texts import extra_of, without_special_tokens


def reward_function(reward: Reward) -> Callable[..., Awaitable[Any]]:
    """The coroutine function that slime awaits; a list of samples gives a list. Raises UnscoredError."""

    def score(sample: Any) -> float:
        metadata = plain(getattr(sample, "metadata", None))
        extra = (metadata if isinstance(metadata, dict) else {}) | extra_of(plain(sample.label))
        return number_of(reward.score(sample_of(sample.prompt, extra), [without_special_tokens(sample.response)]))

    async def reward_func(args: Any, sample: Any, **_rest: Any) -> Any:  # noqa: ARG001 -- slime's signature
        if isinstance(sample, list):
            return list(await asyncio.gather(*(asyncio.to_thread(score, one) for one in sample)))
        return await asyncio.to_thread(score, sample)

    return reward_func
