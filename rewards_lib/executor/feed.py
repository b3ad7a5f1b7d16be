"""The entries of a batch on their way to the child that works through them.

Invariant: no more than a pipe holds is ahead of the child, so that a batch of any length takes little memory.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator

_PIECE_BYTES = 1 << 16
_PIPE_BYTES = 1 << 20
_MAKING_SECONDS = 0.05
"""Whoever makes entries slowly must not keep the host from looking after the child."""
_HEAD_BYTES = 4


class Feed:
    """A pipe that is filled as it empties, each entry behind four bytes of its length."""

    def __init__(self, entries: Iterator[bytes]) -> None:
        self._entries = entries
        self._buffer = memoryview(b"")
        self.making_seconds = 0.0
        """How long the entries took to make so far: time that nobody's limit counts."""
        self.reader, self._writer = os.pipe()
        os.set_blocking(self._writer, False)
        if sys.platform == "linux":
            import fcntl

            with contextlib.suppress(OSError):  # above what this user may have in pipes the usual size will do
                fcntl.fcntl(self._writer, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)

    def fileno(self) -> int:
        """The writing end, to wait for."""
        return self._writer

    def pump(self) -> bool:
        """Write what fits, once; False when there is nothing more to write, or nobody who reads."""
        if not self._buffer:
            self._buffer = memoryview(self._gather())
        if not self._buffer:
            return False
        try:
            self._buffer = self._buffer[os.write(self._writer, self._buffer) :]
        except BlockingIOError:
            pass
        except BrokenPipeError:  # how the child ended is told by its status
            return False
        return True

    def close(self) -> None:
        """Close the writing end: the child reads what is in the pipe and then meets the end."""
        os.close(self._writer)

    def _gather(self) -> bytes:
        """Make entries until they fill a piece, have taken a moment, or there are no more."""
        start, parts, size = time.monotonic(), [], 0
        for entry in self._entries:
            parts += [len(entry).to_bytes(_HEAD_BYTES, "little"), entry]
            size += len(entry)
            if size >= _PIECE_BYTES or time.monotonic() - start > _MAKING_SECONDS:
                break
        self.making_seconds += time.monotonic() - start
        return b"".join(parts)
