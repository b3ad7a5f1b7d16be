"""TRL's completion logs: ``step``, ``prompt``, ``completion``, one column a reward function, ``advantage``.

Source: huggingface/trl, GRPOTrainer(log_completions=True), completions_*.parquet. The file does not hold the weights
of the reward functions: without a ``reward`` column the total is their plain sum.
"""

from __future__ import annotations

from rewards_lib.contract import Json, JsonObject
from rewards_lib.errors import InputError
from rewards_lib.payloads.shapes import read_completion
from rewards_lib.rollouts.formats.prompts import as_prompt
from rewards_lib.rollouts.rollout import Recorded, Rollout, finite, prompt_key

_COLUMNS = {"step", "prompt", "completion", "advantage", "reward"}


def matches(row: JsonObject) -> bool:
    """A step with prompt, completion and what it was worth."""
    return {"step", "prompt", "completion"} <= row.keys() and ("advantage" in row or "reward" in row)


def read(row: JsonObject, line: int) -> list[Rollout]:
    """Read one row; a reward function that gave no number (NaN) has none here, whole numbers are logged extras."""
    prompt, completion = as_prompt(row["prompt"]), row["completion"]
    if completion is None:
        raise InputError("completion is missing.")
    others = {key: value for key, value in row.items() if key not in _COLUMNS}
    rules = {key: finite(value) for key, value in others.items() if value is None or isinstance(value, float)}
    extra = {key: value for key, value in others.items() if key not in rules}
    return [
        Rollout(
            line=line,
            id=str(line),
            group=f"{prompt_key(prompt)}@{row['step']}",
            sample={"messages": prompt, "extra": extra, "tools": []},
            completion=read_completion(completion, "completion"),
            recorded=Recorded(_total(row, rules), rules),
            meta={"step": row["step"], "advantage": finite(row.get("advantage"))},
        )
    ]


def _total(row: JsonObject, rules: dict[str, float | None]) -> float | None:
    if "reward" in row:
        return finite(row["reward"])
    given: list[Json] = [value for value in rules.values() if value is not None]
    return sum(float(value) for value in given if isinstance(value, float)) if given else None
