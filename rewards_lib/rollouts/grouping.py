"""The groups of a file in the order in which they begin, each whole, in memory that does not grow with the file.

Groups mostly stand together; then the file is streamed as it is. Where they are scattered the rollouts go through a
temporary database on disk. Invariant: inside a group the order is the file's.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from itertools import groupby
from typing import IO

from rewards_lib.errors import InputError
from rewards_lib.rollouts.reading import RolloutFile
from rewards_lib.rollouts.rollout import BadRow, Rollout

FIRST_CHUNK = 50
"""Rollouts of the first chunk: enough to see that everything fails for one cause before much is spent."""


class GroupedRollouts:
    """A file seen as groups. Reads the file once when it is made, and once more each time ``chunks`` is called."""

    def __init__(self, file: RolloutFile, *, on_bad_row: Callable[[BadRow], None] | None = None) -> None:
        self.file = file
        self.rollouts = 0
        self.groups = 0
        self.bad_rows = 0
        self.is_scattered = False
        """Whether some group does not stand together in the file."""
        self._first_bad: BadRow | None = None
        self._count(on_bad_row)
        if not self.rollouts:
            raise self._nothing()

    def chunks(self, size: int) -> Iterator[list[Rollout]]:
        """Yield the rollouts in chunks of whole groups, at least ``size`` each but for the first and the last."""
        chunk: list[Rollout] = []
        wanted = min(FIRST_CHUNK, size)
        for _, group in groupby(self._in_group_order(), key=lambda rollout: rollout.group):
            chunk += group
            if len(chunk) >= wanted:
                yield chunk
                chunk, wanted = [], size
        if chunk:
            yield chunk

    def put_in_file_order(self, lines: IO[bytes], out: IO[bytes]) -> None:
        """Copy lines, one a rollout in the order of ``chunks``, into the order of the file."""
        with closing(_spool_database()) as database:
            places = self._places(database)
            database.execute("CREATE TABLE lines (place INTEGER PRIMARY KEY, start INTEGER)")
            start = 0
            for place, line in zip(places, lines, strict=True):
                database.execute("INSERT INTO lines VALUES (?, ?)", (place, start))
                start += len(line)
            for (begin,) in database.execute("SELECT start FROM lines ORDER BY place"):
                lines.seek(begin)
                out.write(lines.readline())

    # --- one reading -----------------------------------------------------------------------------------------------

    def _count(self, on_bad_row: Callable[[BadRow], None] | None) -> None:
        with closing(_spool_database()) as database:
            database.execute("CREATE TABLE groups (name INTEGER PRIMARY KEY)")
            last: str | None = None
            for entry in self.file:
                if isinstance(entry, BadRow):
                    self.bad_rows += 1
                    self._first_bad = self._first_bad or entry
                    if on_bad_row is not None:
                        on_bad_row(entry)
                    continue
                self.rollouts += 1
                if entry.group != last:
                    last = entry.group
                    added = database.execute("INSERT OR IGNORE INTO groups VALUES (?)", (_number_of(last),)).rowcount
                    self.groups += added
                    self.is_scattered = self.is_scattered or not added

    def _nothing(self) -> InputError:
        if self._first_bad is None:
            return InputError("The file holds no rollouts.", where=self.file.path.name)
        return InputError(
            "None of the {count} rows is a rollout; row {line}: {problem}",
            where=self.file.path.name,
            count=self.bad_rows,
            line=self._first_bad.line,
            problem=self._first_bad.problem,
        )

    def _good(self) -> Iterator[Rollout]:
        return (entry for entry in self.file if isinstance(entry, Rollout))

    def _in_group_order(self) -> Iterator[Rollout]:
        if not self.is_scattered:
            yield from self._good()
            return
        with closing(_spool_database()) as database:
            database.execute("CREATE TABLE groups (name INTEGER PRIMARY KEY, first INTEGER)")
            database.execute("CREATE TABLE spool (first INTEGER, place INTEGER, text TEXT, PRIMARY KEY (first, place))")
            for place, rollout in enumerate(self._good()):
                first = _first_place(database, rollout.group, place)
                database.execute("INSERT INTO spool VALUES (?, ?, ?)", (first, place, json.dumps(rollout.pack())))
            for (text,) in database.execute("SELECT text FROM spool ORDER BY first, place"):
                yield Rollout.unpack(json.loads(text))

    def _places(self, database: sqlite3.Connection) -> Iterator[int]:
        """The place in the file of each rollout, in the order of ``chunks``."""
        database.execute("CREATE TABLE groups (name INTEGER PRIMARY KEY, first INTEGER)")
        database.execute("CREATE TABLE places (first INTEGER, place INTEGER, PRIMARY KEY (first, place))")
        for place, rollout in enumerate(self._good()):
            database.execute("INSERT INTO places VALUES (?, ?)", (_first_place(database, rollout.group, place), place))
        for (place,) in database.execute("SELECT place FROM places ORDER BY first, place"):
            yield place


def _spool_database() -> sqlite3.Connection:
    """A private database in a temporary file that the system removes by itself, even after a kill."""
    return sqlite3.connect("", isolation_level="DEFERRED")


def _number_of(group: str) -> int:
    return int.from_bytes(hashlib.blake2b(group.encode("utf-8", "surrogatepass"), digest_size=8).digest(), signed=True)


def _first_place(database: sqlite3.Connection, group: str, place: int) -> int:
    number = _number_of(group)
    database.execute("INSERT OR IGNORE INTO groups VALUES (?, ?)", (number, place))
    found: tuple[int] = database.execute("SELECT first FROM groups WHERE name = ?", (number,)).fetchone()
    return found[0]


def calls_of(rollouts: Sequence[Rollout]) -> Iterator[list[int]]:
    """Cut a chunk into what one call of a function sees; yields the places of the call's rollouts, in order.

    A call holds the rollouts of one group. Where a group's rollouts answer different samples (another ground truth,
    say) there is a call for each sample: nobody is scored by the sample of another. Rollouts without a completion are
    in no call.
    """
    for _, group in groupby(range(len(rollouts)), key=lambda place: rollouts[place].group):
        left = [place for place in group if rollouts[place].completion is not None]
        while left:
            sample = rollouts[left[0]].sample
            yield [place for place in left if rollouts[place].sample == sample]
            left = [place for place in left if rollouts[place].sample != sample]
