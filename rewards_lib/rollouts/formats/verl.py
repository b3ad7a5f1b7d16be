"""verl's rollout and validation dumps: ``input``, ``output``, ``score``, ``step``, and what the reward function logged.

Source: volcengine/verl, trainer.rollout_data_dir. Texts were decoded without special tokens: roles are bare words, so
that prompt and completion stay texts here.
"""

from __future__ import annotations

from dataclasses import replace

from rewards_lib.contract import JsonObject
from rewards_lib.errors import InputError
from rewards_lib.rollouts.rollout import Rollout, finite, prompt_key, read_reward

_FIELDS = {"input", "output", "score", "step", "gts", "reward", "request_id"}


def matches(row: JsonObject) -> bool:
    """What went in, what came out and the score of it."""
    return {"input", "output", "score"} <= row.keys()


def read(row: JsonObject, line: int) -> list[Rollout]:
    """Read one row; the keys of the reward function's extra information are metrics where they are numbers."""
    given, written = row["input"], row["output"]
    if not isinstance(given, str) or not isinstance(written, str):
        raise InputError("input and output must be texts.")
    others = {key: value for key, value in row.items() if key not in _FIELDS}
    numbers = {key: finite(value) for key, value in others.items()}
    extra = {key: value for key, value in others.items() if numbers[key] is None}
    if row.get("gts") is not None:
        extra["answer"] = row["gts"]
    step = row.get("step")
    return [
        Rollout(
            line=line,
            id=str(row.get("request_id") or line),
            group=prompt_key(given) + (f"@{step}" if step is not None else ""),
            sample={"messages": [{"role": "user", "content": given}], "extra": extra, "tools": []},
            completion=written,
            recorded=replace(
                read_reward(row["score"]), metrics={key: value for key, value in numbers.items() if value is not None}
            ),
            meta={} if step is None else {"step": step},
        )
    ]
