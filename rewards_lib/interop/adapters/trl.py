"""TRL's ``GRPOTrainer(reward_funcs=[...])``: one reward for each completion, None where there is none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

from rewards_lib.interop.adapters.arguments import plain, sample_of, with_answer
from rewards_lib.interop.runtime import Reward
from rewards_lib.strict_json import write_json

_OWN = ("trainer_state", "log_extra", "log_metric", "completion_ids", "environments", "extra")
"""What TRL passes besides the columns of the dataset, and the column that holds many."""

RewardFunction = Callable[..., list[float | None]]


def reward_function(reward: Reward) -> RewardFunction:
    """The function to pass to the trainer. Each dataset column becomes a key of ``sample.extra``.

    Neighbours with the same prompt and columns are scored as one group, as the trainer lays them out.
    """

    def reward_func(prompts: Sequence[Any], completions: Sequence[Any], **columns: Any) -> list[float | None]:
        rows = [_extra(columns, place) for place in range(len(completions))]
        keys = [write_json([plain(prompt), row]) for prompt, row in zip(prompts, rows, strict=True)]
        rewards: list[float | None] = []
        log_metric = columns.get("log_metric")
        for _, group in groupby(range(len(completions)), key=keys.__getitem__):
            places = list(group)
            sample = sample_of(prompts[places[0]], rows[places[0]])
            result = reward.score(sample, [plain(completions[place]) for place in places])
            rewards += result.rewards
            if callable(log_metric):
                for name, value in result.metrics.items():
                    log_metric(name, value)
        return rewards

    reward_func.__name__ = reward.name  # the name under which TRL logs it
    return reward_func


def _extra(columns: dict[str, Any], place: int) -> dict[str, Any]:
    row = {
        name: plain(values[place]) for name, values in columns.items()
        if name not in _OWN and isinstance(values, (list, tuple)) and place < len(values)
    }  # fmt: skip
    many = columns.get("extra")
    if isinstance(many, (list, tuple)) and isinstance(many[place], dict):
        row |= {name: plain(value) for name, value in many[place].items() if value is not None}
    return with_answer(row)
