"""Atropos groups: ``tokens``, ``masks``, ``scores`` as lists of lists, with the conversations under ``messages``.

Source: NousResearch/atropos, ScoredDataGroup. One row is one group; without messages there is no text to score.
"""

from __future__ import annotations

from typing import Any

from rewards_lib.contract import JsonObject
from rewards_lib.errors import InputError
from rewards_lib.rollouts.formats.evaluation_row import split_conversation
from rewards_lib.rollouts.rollout import Recorded, Rollout, finite

_NOT_TRAINED = -100


def matches(row: JsonObject) -> bool:
    """Tokens, masks and scores beside each other."""
    return {"tokens", "masks", "scores"} <= row.keys()


def read(row: JsonObject, line: int) -> list[Rollout]:
    """Read one group: a rollout for each trajectory; ``meta.trained_tokens`` counts what the mask lets through."""
    scores, masks = _lists(row, "scores"), _lists(row, "masks")
    talks = row.get("messages")
    if not isinstance(talks, list) or len(talks) != len(scores):
        raise InputError("The group holds tokens without messages; there is no text to score.")
    return [_read_one(line, place, talks[place - 1], scores, masks) for place in range(1, len(scores) + 1)]


def _lists(row: JsonObject, key: str) -> list[Any]:
    if not isinstance(row[key], list):
        raise InputError("{key} is no list.", key=key)
    found: list[Any] = row[key]
    return found


def _read_one(line: int, place: int, talk: Any, scores: list[Any], masks: list[Any]) -> Rollout:
    messages = [message for message in talk if isinstance(message, dict)] if isinstance(talk, list) else []
    prompt, completion = split_conversation(messages)
    mask = masks[place - 1] if place <= len(masks) and isinstance(masks[place - 1], list) else []
    return Rollout(
        line=line,
        id=f"{line}.{place}",
        group=f"row-{line}",
        sample={"messages": prompt, "extra": {}, "tools": []},
        completion={"messages": completion},
        recorded=Recorded(finite(scores[place - 1])),
        meta={"trained_tokens": sum(token != _NOT_TRAINED for token in mask)},
    )
