"""The journal beside an output file: which chunks are whole, so that a killed run can go on behind the last of them.

Invariant: a chunk stands in the journal only after its lines are on the disk; a torn last line counts as absent.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from rewards_lib.contract import JsonObject
from rewards_lib.errors import InputError
from rewards_lib.rollouts.tally import Tally
from rewards_lib.whole_files import write_whole


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run came."""

    chunks: int
    size: int
    """Bytes of the output that are whole."""
    tally: Tally


def journal_path(out: Path) -> Path:
    """Where the journal of an output file lies."""
    return out.with_name(out.name + ".journal")


def read_progress(out: Path) -> Progress | None:
    """How far an unfinished run on an output file came; None when there is no such run."""
    rows = _rows(journal_path(out))
    last = rows[-1] if len(rows) > 1 else None
    return None if last is None else Progress(last["chunks"], last["size"], Tally.from_json(last["tally"]))


def _rows(path: Path) -> list[JsonObject]:
    """The whole lines of a journal; a torn last one counts as absent."""
    try:
        lines = path.read_bytes().split(b"\n")[:-1]
    except FileNotFoundError:
        return []
    return [row for row in map(_read, lines) if row is not None]


class Journal:
    """Written as the run goes on; removed when it is complete."""

    def __init__(self, out: Path) -> None:
        self._out = out
        self.path = journal_path(out)
        self._file: IO[bytes] | None = None

    def resume(self, run: JsonObject) -> Progress | None:
        """Read how far an earlier run of the same kind came; None when there is none.

        ``run`` describes everything that decides the output. Raises InputError when the earlier run differs in it.
        """
        rows = _rows(self.path)
        if not rows or "run" not in rows[0]:
            return None
        earlier = rows[0]["run"]
        changed = [name for name in run if earlier.get(name) != run[name]]
        if changed:
            raise InputError(
                "The earlier run cannot go on: {changed} changed since.",
                where=self.path.name,
                changed=", ".join(changed),
                remedy="Start anew without --resume.",
            )
        return read_progress(self._out)

    def start(self, run: JsonObject, progress: Progress | None) -> None:
        """Open the journal, with the earlier run's progress where one goes on; at no moment is that progress lost."""
        with write_whole(self.path) as file:
            file.writelines(map(_line, [{"run": run}] + ([] if progress is None else [_chunks_row(progress)])))
        self._file = self.path.open("ab")

    def add(self, progress: Progress) -> None:
        """Note that the output is whole up to here."""
        if self._file is None:
            raise ValueError("the journal is not open")
        self._file.write(_line(_chunks_row(progress)))
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self, *, complete: bool) -> None:
        """Close the journal; a complete run leaves none behind."""
        if self._file is not None:
            self._file.close()
        if complete:
            self.path.unlink(missing_ok=True)


def _chunks_row(progress: Progress) -> JsonObject:
    return {"chunks": progress.chunks, "size": progress.size, "tally": progress.tally.to_json()}


def _line(row: JsonObject) -> bytes:
    return json.dumps(row).encode() + b"\n"


def _read(line: bytes) -> JsonObject | None:
    try:
        row = json.loads(line)
    except ValueError:
        return None
    return row if isinstance(row, dict) else None
