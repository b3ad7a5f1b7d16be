"""Where scored lines go: a JSONL file as it grows, and from it the wished form when the run is complete.

Invariant: the finished file appears under its name at once and whole, unless it is the growing JSONL itself; until the
journal is gone the growing file is there, so that a kill while finishing costs nothing.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from rewards_lib.errors import InputError
from rewards_lib.whole_files import write_whole

_PARQUET_ROWS = 8192
_JSON_COLUMNS = ("sample", "completion", "metrics", "recorded", "meta")
"""Columns whose shape differs from row to row: JSON text in parquet."""


class GrowingOutput:
    """The lines of a run, appended chunk by chunk."""

    def __init__(self, out: Path, *, is_scattered: bool) -> None:
        self.out = out
        self.kind = "parquet" if out.suffix == ".parquet" else "gzip" if out.suffix == ".gz" else "jsonl"
        is_final = self.kind == "jsonl" and not is_scattered
        self.growing = out if is_final else out.with_name(out.name + ".part")
        self._file: IO[bytes] | None = None

    def open(self, size: int) -> None:
        """Start the file, or go on behind its first ``size`` bytes. Raises InputError when it cannot be written."""
        try:
            self._file = self.growing.open("r+b" if size else "wb")
            self._file.seek(0, os.SEEK_END)
            if self._file.tell() < size:
                raise InputError(
                    "The file is shorter than its journal says.",
                    where=self.growing.name,
                    remedy="Start anew without --resume.",
                )
            self._file.truncate(size)
            self._file.seek(size)
        except OSError as error:
            raise InputError(
                "The file cannot be written: {reason}.",
                where=str(self.growing),
                reason=(error.strerror or "unknown reason").lower(),
            ) from None

    def append(self, lines: bytes) -> int:
        """Append a chunk, bring it to the disk, and return the size of the file."""
        file = self._opened()
        file.write(lines)
        file.flush()
        os.fsync(file.fileno())
        return file.tell()

    def close(self) -> None:
        """Close the growing file."""
        if self._file is not None:
            self._file.close()

    def finish(self, reorder: Callable[[IO[bytes], IO[bytes]], None] | None) -> None:
        """Bring the lines into the file's order where they are not, then into the wished form, under its name."""
        self.close()
        if self.growing == self.out:
            return
        with self.growing.open("rb") as lines, tempfile.TemporaryFile(dir=self.out.parent) as ordered:
            if reorder is not None:
                reorder(lines, ordered)
                ordered.seek(0)
            with write_whole(self.out) as whole:
                _FORMS[self.kind](lines if reorder is None else ordered, whole)

    def discard_growing(self) -> None:
        """Remove the growing file where the finished one stands beside it."""
        if self.growing != self.out:
            self.growing.unlink(missing_ok=True)

    def _opened(self) -> IO[bytes]:
        if self._file is None:
            raise ValueError("the output is not open")
        return self._file


def _write_gzip(lines: IO[bytes], target: IO[bytes]) -> None:
    # No name and no time in the header: the same lines give the same bytes.
    with gzip.GzipFile(filename="", mode="wb", fileobj=target, mtime=0) as packed:
        shutil.copyfileobj(lines, packed)


def _write_jsonl(lines: IO[bytes], target: IO[bytes]) -> None:
    shutil.copyfileobj(lines, target)


def _write_parquet(lines: IO[bytes], target: IO[bytes]) -> None:
    """Write the lines as parquet: rules as columns ``rules.NAME``, what has no fixed shape as JSON text."""
    import pyarrow
    import pyarrow.parquet

    first = json.loads(lines.readline())
    names = list(first["rules"])
    text, number = pyarrow.string(), pyarrow.float64()
    schema = pyarrow.schema(
        [("line", pyarrow.int64()), ("id", text), ("group", text), ("reward", number)]
        + [(f"rules.{name}", number) for name in names]
        + [("status", text), ("error", text), ("mix_version", text)]
        + [(name, text) for name in _JSON_COLUMNS]
    )
    lines.seek(0)
    with pyarrow.parquet.ParquetWriter(target, schema) as writer:
        rows: list[dict[str, Any]] = []
        for line in lines:
            rows.append(_parquet_row(json.loads(line), names))
            if len(rows) == _PARQUET_ROWS:
                writer.write_table(pyarrow.Table.from_pylist(rows, schema))
                rows = []
        if rows:
            writer.write_table(pyarrow.Table.from_pylist(rows, schema))


def _parquet_row(row: dict[str, Any], names: list[str]) -> dict[str, Any]:
    flat = {key: row.get(key) for key in ("line", "id", "group", "reward", "status", "error", "mix_version")}
    rules = {f"rules.{name}": row["rules"].get(name) for name in names}
    shaped = {key: json.dumps(row[key], ensure_ascii=False) if key in row else None for key in _JSON_COLUMNS}
    return flat | rules | shaped


_FORMS: dict[str, Callable[[IO[bytes], IO[bytes]], None]] = {
    "jsonl": _write_jsonl, "gzip": _write_gzip, "parquet": _write_parquet,
}  # fmt: skip
