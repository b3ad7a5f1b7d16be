"""Compiled programs by their content: the same source, flags and compiler are compiled once, by whoever comes first.

Invariant: a key names the language, the flags, the compiler's version and the source, so that a found binary is the
one that compiling would make; the least recently used go when the cache is full.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rewards_lib.code_judge import anonymous_files
from rewards_lib.whole_files import write_whole

MOST_BYTES = 1 << 30


class BinaryCache:
    """Keeps compiled programs in a folder. Thread-safe, and safe for several processes on one folder."""

    def __init__(self, folder: Path, *, most_bytes: int = MOST_BYTES) -> None:
        self._folder = folder
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._making: dict[str, threading.Lock] = {}
        self._waiting: dict[str, int] = {}
        self._bytes: int | None = None
        self.hits = 0
        self.misses = 0

    @staticmethod
    def key(*parts: str) -> str:
        """The name of a program: a hash over parts that cannot run into each other."""
        digest = hashlib.sha256()
        for part in parts:
            content = part.encode("utf-8", "surrogatepass")
            digest.update(len(content).to_bytes(8, "big") + content)
        return digest.hexdigest()

    @contextmanager
    def making(self, key: str) -> Iterator[None]:
        """Hold the turn for a key: whoever waits finds the program there afterwards."""
        with self._lock:
            turn = self._making.setdefault(key, threading.Lock())
            self._waiting[key] = self._waiting.get(key, 0) + 1
        try:
            with turn:
                yield
        finally:
            with self._lock:
                self._waiting[key] -= 1
                if not self._waiting[key]:
                    del self._waiting[key], self._making[key]

    def find(self, key: str) -> int | None:
        """The program as a sealed anonymous file; None when it is not there. The caller closes it."""
        try:
            content = self._place(key).read_bytes()
        except OSError:
            self.misses += 1
            return None
        self.hits += 1
        with contextlib.suppress(OSError):
            os.utime(self._place(key))
        return anonymous_files.shared(content, "program")

    def keep(self, key: str, program: int) -> None:
        """Store a program. A disk that is full or read-only costs the cache and nothing else."""
        content = anonymous_files.read_head(program)
        place = self._place(key)
        with contextlib.suppress(OSError):
            place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with write_whole(place, mode=0o600) as file:
                file.write(content)
            self._grow(len(content))

    def _place(self, key: str) -> Path:
        return self._folder / key[:2] / key

    def _grow(self, size: int) -> None:
        """Count, and make room when it is too much: down to nine tenths, oldest use first."""
        with self._lock:
            if self._bytes is not None:
                self._bytes += size
            if self._bytes is not None and self._bytes <= self._most_bytes:
                return
            entries = []
            for path in self._folder.glob("*/*"):
                with contextlib.suppress(OSError):
                    found = path.stat()
                    entries.append((found.st_mtime, found.st_size, path))
            self._bytes = sum(size for _, size, _ in entries)
            for _, own_size, path in sorted(entries) if self._bytes > self._most_bytes else []:
                if self._bytes <= 0.9 * self._most_bytes:
                    break
                path.unlink(missing_ok=True)
                self._bytes -= own_size
