"""The Ark envelope: ``{"data": {"context", "sample", "completions"}, "method", "path", "headers"}``."""

from __future__ import annotations

from rewards_lib.contract import JsonObject, Payload
from rewards_lib.errors import InputError
from rewards_lib.payloads import bare
from rewards_lib.payloads.shapes import kind_of, read_body

FIELDS = frozenset({"data", "method", "path", "headers"})


def decode(envelope: JsonObject) -> Payload:
    """Take the payload out of its envelope. Raises InputError with a JSON path below ``data``."""
    data = envelope["data"]
    if not isinstance(data, dict):
        raise InputError("data is {kind}; it must be an object.", kind=kind_of(data))
    return read_body(data, "data")


def encode(payload: Payload) -> JsonObject:
    """Wrap a payload as Ark sends it."""
    return {"data": bare.encode(payload), "method": "POST", "path": "/", "headers": {}}
