"""Plain values (texts, numbers, lists, objects) as bytes for another process of this program, faster than JSON.

Invariant: read only what a process of ours wrote; marshal is no format for what comes from outside.
"""

from __future__ import annotations

import json
import marshal
from typing import IO, Any

_MARSHAL_VERSION = 2
"""The last one that writes every object out: later ones let equal parts of a value become one object."""
_HEAD_BYTES = 8


def pack_frame(value: Any) -> bytes:
    """Write a value that JSON could hold; lists and objects of other kinds become plain ones."""
    try:
        return marshal.dumps(value, _MARSHAL_VERSION)
    except ValueError:
        return marshal.dumps(json.loads(json.dumps(value)), _MARSHAL_VERSION)


def unpack_frame(frame: bytes) -> Any:
    """Read what ``pack_frame`` wrote."""
    return marshal.loads(frame)  # noqa: S302 -- our own words


def write_frame(file: IO[bytes], frame: bytes) -> None:
    """Write a frame behind its length, at once."""
    file.write(len(frame).to_bytes(_HEAD_BYTES, "little") + frame)
    file.flush()


def read_frame(file: IO[bytes]) -> bytes | None:
    """Read what ``write_frame`` wrote; None at the end of the file, be it inside a frame."""
    head = file.read(_HEAD_BYTES)
    size = int.from_bytes(head, "little")
    frame = file.read(size) if len(head) == _HEAD_BYTES else b""
    return frame if len(head) == _HEAD_BYTES and len(frame) == size else None
