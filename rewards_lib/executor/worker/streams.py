"""The pipes of one run as its child sees them: standard output and error, the result pipe, the feed of a batch.

Invariant: a result is one line of strict JSON, whole or not there; what is printed never gets into it.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from collections.abc import Iterator
from typing import Any

from .refusals import Row

RESULT_FD, FEED_FD = 3, 5
_FEED_BYTES = 1 << 16
_HEAD_BYTES = 4
_encode = json.JSONEncoder(allow_nan=False).encode
_written = {1: 0, 2: 0}


def emit(row: Row) -> None:
    """Write one line to the result pipe. Raises TypeError or ValueError for what is no strict JSON."""
    data = _encode(row).encode() + b"\n"
    while data:
        data = data[os.write(RESULT_FD, data) :]


def feed() -> Iterator[bytes]:
    """Yield what the host hands over entry by entry: four bytes of length, then so many bytes."""
    with io.BufferedReader(io.FileIO(FEED_FD), _FEED_BYTES) as pipe:
        while len(head := pipe.read(_HEAD_BYTES)) == _HEAD_BYTES:
            yield pipe.read(int.from_bytes(head, "little"))


def open_streams() -> None:
    """Point ``sys.stdout`` and ``sys.stderr`` at the run's pipes."""
    for name, number in (("stdout", 1), ("stderr", 2)):
        buffered = io.BufferedWriter(_stream(number), 8192)
        setattr(sys, name, io.TextIOWrapper(buffered, encoding="utf-8", errors="replace", line_buffering=True))


def _stream(number: int) -> io.RawIOBase:
    """A raw stream that is no FileIO: its class, which reward code can get hold of, opens nothing."""

    class Stream(io.RawIOBase):
        """Writes to one descriptor."""

        def writable(self) -> bool:
            return True

        def fileno(self) -> int:
            return number

        def write(self, data: Any) -> int:
            size = os.write(number, data)
            _written[number] += size
            return size

    return Stream()


def flush() -> None:
    """Write out what the streams still hold."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(BaseException):
            stream.flush()


def printed() -> list[int]:
    """How many bytes each stream has written so far: standard output, standard error."""
    return [_written[1], _written[2]]
