"""A payload a line, in any of its dialects: the Ark envelope, the bare form, a dataset row with completions.

A row is a group.
"""

from __future__ import annotations

from rewards_lib.contract import JsonObject
from rewards_lib.errors import InputError
from rewards_lib.payloads.shapes import read_completions, read_sample
from rewards_lib.rollouts.formats import samples_per_row
from rewards_lib.rollouts.rollout import Recorded, Rollout, finite


def matches(row: JsonObject) -> bool:
    """Messages, or a sample with completions, also in an envelope."""
    body = _body(row)
    is_row = "messages" in body and ("completions" in body or not samples_per_row.matches(body))
    return is_row or {"sample", "completions"} <= body.keys()


def read(row: JsonObject, line: int) -> list[Rollout]:
    """Read one row: a rollout for each completion, with its entry of ``rewards`` where the row has them."""
    row = _body(row)
    body = row["sample"] if isinstance(row.get("sample"), dict) else row
    sample = read_sample(body, "").to_json()
    if "completions" not in row:
        raise InputError(
            "The row is a sample without completions.",
            remedy="Use it as a prompt, or add what the model wrote under completions.",
        )
    rewards = row.get("rewards")
    given = rewards if isinstance(rewards, list) else []
    group = str(row["group"]) if row.get("group") is not None else f"row-{line}"
    return [
        Rollout(
            line=line,
            id=f"{row['id']}.{place}" if row.get("id") is not None else f"{line}.{place}",
            group=group,
            sample=sample,
            completion=completion.raw,
            recorded=Recorded(finite(given[place - 1])) if place <= len(given) else None,
        )
        for place, completion in enumerate(read_completions(row, ""), 1)
    ]


def _body(row: JsonObject) -> JsonObject:
    """Take a payload out of its envelope."""
    data = row.get("data")
    return data if isinstance(data, dict) else row
