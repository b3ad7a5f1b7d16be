"""Volcengine Ark: the console function ``reward_fn`` and the group grader of the SDK's plugins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rewards_lib.contract import MixResult
from rewards_lib.interop.adapters.arguments import plain
from rewards_lib.interop.runtime import Reward


def console_function(reward: Reward, result_type: Any) -> Callable[..., Any]:
    """``reward_fn(context, sample, completions)``; ``result_type`` is ``rl_types.RewardFunctionResult``.

    An unscored completion makes the status ``failure``, at which Ark asks again.
    """

    def reward_fn(context: Any, sample: Any, completions: Sequence[Any]) -> Any:
        result = reward.score(_object(sample), [plain(one) for one in completions], _object(context))
        return result_type(list(result.rewards), dict(result.metrics), _status(result), _error(result))

    return reward_fn


def grade(reward: Reward, sample: Any, trajectories: Sequence[Any]) -> MixResult:
    """Score the trajectories of a group grader: each carries the prompt's messages and the completion behind them."""
    row = _object(sample)
    count = len(row.get("messages") or [])
    return reward.score(row, [_completion(trajectory, count) for trajectory in trajectories])


def _completion(trajectory: Any, count: int) -> list[Any]:
    messages = _object(trajectory).get("messages") or []
    return messages[count:] if len(messages) > count else messages[-1:]


def _status(result: MixResult) -> str:
    return "failure" if any(reward is None for reward in result.rewards) else "success"


def _error(result: MixResult) -> str:
    return str(result.error or "") or ("every rule abstained" if _status(result) == "failure" else "")


def _object(value: Any) -> dict[str, Any]:
    """An object of the SDK or a plain one, as a dictionary."""
    if hasattr(value, "model_dump"):
        value = value.model_dump()
    elif not isinstance(value, dict) and hasattr(value, "__dict__"):
        value = vars(value)
    row = plain(value)
    return row if isinstance(row, dict) else {}
