"""From the text of a request to a ``Payload``: size, JSON, dialect, shapes, likely accidents."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from rewards_lib.contract import JsonObject, Payload
from rewards_lib.errors import InputError
from rewards_lib.payloads import ark, bare, dataset_row
from rewards_lib.payloads.accidents import find_accidents
from rewards_lib.payloads.shapes import kind_of
from rewards_lib.strict_json import read_json

MAX_PAYLOAD_BYTES = 64 * 2**20
"""Larger requests are refused: one call scores one group, and no group of completions comes near this."""

DIALECTS: dict[str, tuple[Callable[[JsonObject], Payload], Callable[[Payload], JsonObject]]] = {
    "ark": (ark.decode, ark.encode),
    "bare": (bare.decode, bare.encode),
    "dataset row": (dataset_row.decode, dataset_row.encode),
}
"""Name -> (decode, encode)."""


def read_payload(text: str | bytes, *, name: str = "") -> Payload:
    """Read a request as a trainer sends it: the Ark envelope, the bare form, or a dataset row with completions.

    The payload carries findings for likely accidents. Raises InputError with line and column, or with a JSON path.
    """
    size = len(text) if isinstance(text, bytes) else len(text.encode("utf-8", "surrogatepass"))
    if size > MAX_PAYLOAD_BYTES:
        raise InputError(
            "The request has {size_mb} MB; at most {limit_mb} MB are taken.",
            where=name,
            size_mb=round(size / 2**20, 1),
            limit_mb=MAX_PAYLOAD_BYTES // 2**20,
            remedy="Send one group of completions a request; for files of rollouts use `score`.",
        )
    return decode(read_json(text, name=name))


def decode(value: Any) -> Payload:
    """Decode a JSON value into a Payload, telling the dialect by its keys. Raises InputError with a JSON path."""
    if not isinstance(value, dict):
        raise InputError(
            "The request is {kind}; an object is expected.",
            kind=kind_of(value),
            remedy='Send {{"sample": {{...}}, "completions": [...]}} or the Ark envelope around it.',
        )
    dialect = "ark" if "data" in value else "dataset row" if "messages" in value and "sample" not in value else "bare"
    payload = DIALECTS[dialect][0](value)
    return replace(payload, dialect=dialect, findings=find_accidents(value, payload))
