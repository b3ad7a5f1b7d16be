"""An Ark dataset row with completions added: ``{"messages", "extra"?, "tools"?, "completions"}``; a row is a group."""

from __future__ import annotations

from rewards_lib.contract import JsonObject
from rewards_lib.errors import InputError
from rewards_lib.payloads.shapes import read_completions, read_sample
from rewards_lib.rollouts.rollout import Recorded, Rollout, finite


def matches(row: JsonObject) -> bool:
    """Messages or a sample, without the metadata of an evaluation."""
    return ("completions" in row and ("messages" in row or "sample" in row)) or "messages" in row


def read(row: JsonObject, line: int) -> list[Rollout]:
    """Read one row: a rollout for each completion, with its entry of ``rewards`` where the row has them."""
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
