"""The bare form: ``{"context"?, "sample", "completions"}``."""

from __future__ import annotations

from rewards_lib.contract import JsonObject, Payload
from rewards_lib.payloads.shapes import read_body

FIELDS = frozenset({"context", "sample", "completions"})


def decode(body: JsonObject) -> Payload:
    """Read the bare form. Raises InputError with a JSON path."""
    return read_body(body, "")


def encode(payload: Payload) -> JsonObject:
    """Write the bare form."""
    return {
        "context": payload.context,
        "sample": payload.sample.to_json(),
        "completions": [completion.raw for completion in payload.completions],
    }
