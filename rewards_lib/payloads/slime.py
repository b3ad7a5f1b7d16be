"""slime's remote reward: ``{"prompt", "response", "label"}`` in; the body of the answer is the reward itself."""

from __future__ import annotations

from rewards_lib.contract import Json, JsonObject, Payload
from rewards_lib.errors import InputError
from rewards_lib.payloads.shapes import kind_of
from rewards_lib.payloads.texts import payload_of, text_at


def decode(body: Json) -> list[Payload]:
    """Read the request: one payload with one completion. Raises InputError with a JSON path."""
    if not isinstance(body, dict):
        raise InputError("The request is {kind}; an object is expected.", kind=kind_of(body))
    return [payload_of(body.get("prompt") or "", [text_at(body, "response")], body.get("label"), path="prompt")]


def encode(rewards: list[float], _metrics: list[JsonObject]) -> Json:
    """Write the answer: the one number."""
    return rewards[0]
