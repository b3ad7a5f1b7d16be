"""What trainers hand over, as the plain values that a reward takes.

Invariant: nothing is made up: what has no JSON form is left out or becomes its text.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from rewards_lib.contract import Json, JsonObject, MixResult
from rewards_lib.errors import UnscoredError

ANSWER_NAMES = ("answer", "ground_truth", "solution", "label", "target")
"""Under which names trainers' datasets keep the ground truth, first match first."""


def plain(value: Any) -> Json:
    """A value as JSON: numpy and torch scalars and arrays become numbers and lists, anything unknown its text.

    NaN, which is how a table writes an empty cell, and infinity are None.
    """
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    return str(value)


def sample_of(prompt: Any, extra: Any) -> JsonObject:
    """A sample for a prompt (a text or messages) and what the dataset says of it."""
    messages = plain(prompt)
    if isinstance(messages, str):
        messages = [{"role": "user", "content": messages}] if messages else []
    row = plain(extra)
    return {"messages": messages or [], "extra": row if isinstance(row, dict) else {}}


def with_answer(extra: JsonObject, answer: Any = None) -> JsonObject:
    """``extra`` with the ground truth under ``answer``: as given, else under the first name that datasets use."""
    if answer is not None:
        row = plain(answer)
        return {**extra, **row} if isinstance(row, dict) else {**extra, "answer": row}
    if "answer" in extra:
        return extra
    name = next((name for name in ANSWER_NAMES if extra.get(name) is not None), None)
    return {**extra, "answer": extra[name]} if name else extra


def number_of(result: MixResult, place: int = 0) -> float:
    """The reward of one completion. Raises UnscoredError when there is none."""
    reward = result.rewards[place]
    if reward is None:
        raise UnscoredError(
            "Completion {place} is unscored: {why}", place=place + 1, why=result.error or "every rule abstained."
        )
    return reward
