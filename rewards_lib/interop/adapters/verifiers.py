"""verifiers: a function for ``Rubric`` (0.3) and a method for ``Task`` (0.4).

verifiers turns an exception into 0.0 without a word; here an unscored completion is NaN, and marked.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from typing import Any

from rewards_lib.contract import MixResult
from rewards_lib.interop.adapters.arguments import plain, sample_of, with_answer
from rewards_lib.interop.runtime import Reward


def rubric_function(reward: Reward) -> Callable[..., float]:
    """The function for ``vf.Rubric(funcs=[...])``; ``state["unscored"]`` tells why there is no number."""

    def score(prompt: Any, completion: Any, answer: Any = None, info: Any = None, **rest: Any) -> float:
        row = plain(info)
        extra = with_answer(row if isinstance(row, dict) else {}, answer)
        result = reward.score(sample_of(prompt, extra), [plain(completion)])
        state = rest.get("state")
        if result.rewards[0] is None and isinstance(state, dict):
            state["unscored"] = str(result.error or "every rule abstained")
        return _number(result)

    score.__name__ = reward.name
    return score


def task_reward(reward: Reward) -> Callable[[Any, Any], Awaitable[float]]:
    """The method for a ``vf.Task`` class, to be decorated with ``@vf.reward(weight=1.0)``."""

    async def score(self: Any, trace: Any) -> float:
        task = plain(getattr(trace, "task", None) or getattr(self, "data", None) or {})
        row = task if isinstance(task, dict) else {}
        messages = _messages(trace)
        last = max((place for place, one in enumerate(messages) if one.get("role") == "assistant"), default=-1)
        prompt, completion = messages[:last] if last > 0 else [], messages[last:] if last >= 0 else []
        extra = {name: value for name, value in row.items() if name != "prompt"}
        result = reward.score(sample_of(row.get("prompt") or prompt, with_answer(extra)), [completion])
        return _number(result)

    score.__name__ = reward.name
    return score


def _messages(trace: Any) -> list[dict[str, Any]]:
    """The turns of a trace: its ``messages``, or its last branch."""
    found = getattr(trace, "messages", None)
    if found is None:
        branches = getattr(trace, "branches", None)
        found = getattr(branches[-1], "messages", []) if branches else []
    dumped = [one.model_dump() if hasattr(one, "model_dump") else one for one in found]
    return [one for one in (plain(row) for row in dumped) if isinstance(one, dict)]


def _number(result: MixResult) -> float:
    reward = result.rewards[0]
    return math.nan if reward is None else reward
