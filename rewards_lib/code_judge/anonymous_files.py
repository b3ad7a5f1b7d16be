"""Files without a name: how input, output and programs cross into the confinement.

A program writes into memory that the judge reads afterwards, so that no reader can be too slow for it. Invariant: what
was handed over once (``shared``) can be changed by nobody.
"""

from __future__ import annotations

import fcntl
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

_SEALS = getattr(fcntl, "F_SEAL_WRITE", 8) | getattr(fcntl, "F_SEAL_SHRINK", 2) | getattr(fcntl, "F_SEAL_GROW", 4)
_PIECE = 1 << 20


def anonymous_file(name: str = "run") -> int:
    """Make an empty file and return its descriptor, which closes on exec."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def shared(content: bytes, name: str = "input") -> int:
    """Make a file that holds ``content`` and can no longer be changed; its position is the start."""
    descriptor = anonymous_file(name)
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]
    seal(descriptor)
    return descriptor


def seal(descriptor: int) -> None:
    """Let nobody change the file any more, and go to its start."""
    if sys.platform == "linux":
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, _SEALS)
    os.lseek(descriptor, 0, os.SEEK_SET)


def size_of(descriptor: int) -> int:
    """The bytes in a file."""
    return os.fstat(descriptor).st_size


def read_head(descriptor: int, most: int | None = None) -> bytes:
    """Read the first bytes of a file, or all of them."""
    return os.pread(descriptor, size_of(descriptor) if most is None else most, 0)


def read_tail(descriptor: int, most: int) -> bytes:
    """Read the last bytes of a file."""
    return os.pread(descriptor, most, max(0, size_of(descriptor) - most))


def pieces(descriptor: int, start: int = 0, piece: int = _PIECE) -> Iterator[bytes]:
    """Yield the content from ``start`` on, a piece at a time."""
    while part := os.pread(descriptor, piece, start):
        yield part
        start += len(part)


@contextmanager
def closing(*descriptors: int) -> Iterator[None]:
    """Close the descriptors when the block ends."""
    try:
        yield
    finally:
        for descriptor in descriptors:
            os.close(descriptor)
