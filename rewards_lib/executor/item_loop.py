"""Inside a worker that stays: items in, values out, over one socket, until the host closes it.

Runs in a confined child; only the standard library, and whatever the entries of ours import. Invariant: one line out
for each line in, in order.
"""

from __future__ import annotations

import importlib
import io
import json
import os
import sys
import time
from typing import Any

SOCKET_FD = 4
"""Where a child finds the socket that its host passed along."""
_PIECE_BYTES = 1 << 16


class _Silence(io.TextIOBase):
    """Nobody reads what this child prints, and a full pipe would stop it."""

    def write(self, text: str) -> int:
        """Forget the text."""
        return len(text)


def answer_items(_item: object) -> None:
    """Answer ``{"entry", "item"}`` and ``{"import": [...]}`` lines until the socket is closed.

    An answer is ``{"value", "ms"}``, ``{"raised": {"kind", "text"}, "ms"}`` or ``{"memory": true, "ms"}``; after the
    last of these the child is of no more use.
    """
    sys.stdout = sys.stderr = _Silence()
    rest = b""
    while piece := os.read(SOCKET_FD, _PIECE_BYTES):
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            _send(_answer(json.loads(line)))


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    start = time.perf_counter()
    try:
        for name in request.get("import", ()):
            importlib.import_module(name)
        row: dict[str, Any] = {"value": _call(request)}
    except MemoryError:
        row = {"memory": True}
    except BaseException as error:
        row = {"raised": {"kind": type(error).__name__, "text": str(error)[:2_000]}}
    return row | {"ms": (time.perf_counter() - start) * 1e3}


def _call(request: dict[str, Any]) -> Any:
    if "entry" not in request:
        return None
    module, _, name = request["entry"].partition(":")
    return getattr(importlib.import_module(module), name)(request["item"])


def _send(row: dict[str, Any]) -> None:
    try:
        data = json.dumps(row, allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        kind = type(error).__name__
        data = json.dumps({"raised": {"kind": kind, "text": str(error)[:2_000]}, "ms": row["ms"]}).encode()
    data += b"\n"
    while data:
        data = data[os.write(SOCKET_FD, data) :]
