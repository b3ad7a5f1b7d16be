"""The log of requests: one line of JSON each, in files that are rotated by size.

Invariant: a line is whole in the file before its answer leaves, so that a killed service has lost none; where the disk
takes no line, the answer leaves without it, and standard error says so.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rewards_lib.contract import JsonObject
from rewards_lib.strict_json import write_json

FILE_NAME = "requests.jsonl"
MOST_BYTES = 20 << 20
KEPT_FILES = 5
"""Older files are named ``requests.1.jsonl`` and so on, 1 the newest of them."""
TAIL_BYTES = 4 << 20


class RequestLog:
    """Writes lines. Thread-safe."""

    def __init__(self, folder: Path, *, most_bytes: int = MOST_BYTES, kept_files: int = KEPT_FILES) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.path = folder / FILE_NAME
        self._most_bytes = most_bytes
        self._kept_files = kept_files
        self._lock = threading.Lock()
        self._is_losing = False
        self._open()

    def _open(self) -> None:
        self._file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self._size = os.fstat(self._file).st_size
        # Without an end of line the machine, not the service, was stopped in mid-line.
        self._is_mid_line = bool(self._size) and not _ends_with_line(self.path)

    def write(self, row: JsonObject) -> None:
        """Append one line. Where that fails, the first line lost of a row is told on standard error."""
        data = write_json(row).encode() + b"\n"
        with self._lock:
            try:
                self._append(data)
            except OSError as error:
                if not self._is_losing:
                    print(f"The log of requests cannot be written: {error}", file=sys.stderr, flush=True)
                self._is_losing = True
            else:
                self._is_losing = False

    def _append(self, data: bytes) -> None:
        if self._size + len(data) > self._most_bytes and self._size:
            self._rotate()
        if self._is_mid_line:
            data = b"\n" + data
        while data:
            written = os.write(self._file, data)
            self._size += written
            data = data[written:]
            self._is_mid_line = bool(data)

    def _rotate(self) -> None:
        """Begin a new file; where that fails, the open one stays in use under its name."""
        fresh = self.path.with_suffix(f".new{self.path.suffix}")
        opened = os.open(fresh, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            for number in range(self._kept_files, 0, -1):
                older = _numbered(self.path, number - 1)
                if older.exists():
                    older.replace(_numbered(self.path, number))
            fresh.replace(self.path)
        except OSError:
            os.close(opened)
            raise
        before, self._file, self._size, self._is_mid_line = self._file, opened, 0, False
        os.close(before)  # last: the number of a closed descriptor is soon a client's

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            os.close(self._file)


def _numbered(path: Path, number: int) -> Path:
    return path.with_suffix(f".{number}{path.suffix}") if number else path


def _ends_with_line(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"


def read_log(folder: Path, *, most_bytes: int = TAIL_BYTES) -> list[dict[str, Any]]:
    """The newest lines of a log, oldest first, as many as fit ``most_bytes``; empty when there is no log."""
    return list(_rows(_tail(folder / FILE_NAME, most_bytes)))


def _tail(path: Path, most_bytes: int) -> bytes:
    """The end of the newest file; a file just begun is filled up from the one before it."""
    data = b""
    for file in (path, _numbered(path, 1)):
        left = most_bytes - len(data)
        if left <= 0 or not file.exists():
            break
        with file.open("rb") as opened:
            size = opened.seek(0, os.SEEK_END)
            opened.seek(max(size - left, 0))
            piece = opened.read(left)
        if size > left:
            piece = piece.partition(b"\n")[2]  # the first line was cut
        data = piece + data
    return data


def _rows(data: bytes) -> Iterator[dict[str, Any]]:
    for line in data.splitlines():
        try:
            row = json.loads(line)
        except ValueError:  # a line that is being written
            continue
        if isinstance(row, dict):
            yield row
