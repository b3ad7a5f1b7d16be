"""verl's ``custom_reward_function``: one solution at a time, a dictionary with ``score`` back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rewards_lib.interop.adapters.arguments import number_of, plain, sample_of, with_answer
from rewards_lib.interop.runtime import Reward

TRIES = 3


def score_function(reward: Reward) -> Callable[..., dict[str, Any]]:
    """The function that verl calls ``compute_score``.

    ``extra_info`` is ``sample.extra``, and its ``messages`` or ``prompt``, where it has them, the prompt. A completion
    that is unscored is tried again and then raises UnscoredError, unless ``on_unscored`` in ``reward_kwargs`` names a
    number for it; the dumped key ``unscored`` tells which scores are such numbers.
    """

    def compute_score(
        data_source: str,
        solution_str: str,
        ground_truth: Any,
        extra_info: Any = None,
        *,
        on_unscored: float | None = None,
        **_reward_kwargs: Any,
    ) -> dict[str, Any]:
        row = plain(extra_info)
        extra = dict(row) if isinstance(row, dict) else {}
        prompt = extra.pop("messages", None) or extra.get("prompt") or extra.get("question") or ""
        sample = sample_of(prompt, with_answer(extra, ground_truth))
        for _ in range(TRIES):
            result = reward.score(sample, [solution_str], {"data_source": data_source})
            if result.rewards[0] is not None:
                return {"score": result.rewards[0], "unscored": 0.0}
        if on_unscored is None:
            number_of(result)
        return {"score": float(on_unscored or 0.0), "unscored": 1.0}

    return compute_score
