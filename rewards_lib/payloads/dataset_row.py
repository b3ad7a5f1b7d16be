"""A dataset row with completions added: ``{"messages", "extra", "tools"?, "completions"}``."""

from __future__ import annotations

from rewards_lib.contract import JsonObject, Payload
from rewards_lib.payloads.shapes import read_completions, read_sample

FIELDS = frozenset({"messages", "extra", "tools", "completions"})


def decode(row: JsonObject) -> Payload:
    """Read the row as a sample and its completions. Raises InputError with a JSON path."""
    return Payload(sample=read_sample(row, ""), completions=read_completions(row, ""))


def encode(payload: Payload) -> JsonObject:
    """Write the row; the context has no place in it."""
    return payload.sample.to_json() | {"completions": [completion.raw for completion in payload.completions]}
