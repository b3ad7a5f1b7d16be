"""A scored file to look into: its rewards as columns, and each of its rollouts by its place, without reading the rest.

Invariant: the columns are kept beside the file and are made anew when the file has changed; place 0 is the first
rollout of the file, in every column and for ``read``.
"""

from __future__ import annotations

import contextlib
import json
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

from rewards_lib.errors import InputError
from rewards_lib.rollouts.formats import FORMATS
from rewards_lib.rollouts.reward_table import RewardTable, build_table
from rewards_lib.rollouts.rollout import BadRow, Rollout
from rewards_lib.strict_json import read_json
from rewards_lib.whole_files import write_whole

if TYPE_CHECKING:
    from rewards_lib.rollouts.reward_table import Places

_LAYOUT = 2
"""Of the columns beside the file; another number is read as absent."""


@dataclass(frozen=True, slots=True)
class ScoredFile:
    """What ``score`` wrote as JSONL, complete or as far as it is whole."""

    path: Path
    table: RewardTable
    starts: Places
    """The byte at which each rollout's line begins."""

    def read(self, places: Sequence[int]) -> list[Rollout]:
        """Read rollouts by their places, in the order asked for."""
        found = []
        with self.path.open("rb") as file:
            for place in places:
                file.seek(int(self.starts[place]))
                found += _rollouts_of(file.readline(), place + 1)
        return found

    def members(self, group: int) -> list[int]:
        """The places of a group's rollouts, in the order of the file."""
        import numpy as np

        return [int(place) for place in np.flatnonzero(self.table.group_of == group)]


def open_scored(path: Path) -> ScoredFile:
    """Open a scored file with the columns that are kept beside it, which are made first where they are missing.

    Raises InputError when the file cannot be read or holds no scored rollout.
    """
    kept = _kept_columns(path)
    if kept is not None:
        return kept
    state = _state_of(path)
    starts = array("q")
    table = build_table(_located(path, starts))
    import numpy as np

    made = ScoredFile(path, table, np.array(starts, dtype=np.int64))
    if state is not None:
        _keep_columns(made, state)
    return made


def columns_path(path: Path) -> Path:
    """Where the columns of a scored file are kept."""
    return path.with_name(path.name + ".columns.npz")


def _state_of(path: Path) -> list[int] | None:
    """How large the file is and when it was written; None where there is none."""
    try:
        stat = path.stat()
    except OSError:
        return None
    return [stat.st_size, stat.st_mtime_ns]


def _located(path: Path, starts: array[int]) -> Iterator[Rollout | BadRow]:
    """The rollouts of a scored file, noting where each begins."""
    begin = 0
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                for rollout in _rollouts_of(line, number):
                    starts.append(begin)
                    yield rollout
                begin += len(line)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError("The file cannot be read: {reason}.", where=str(path), reason=reason) from None


def _rollouts_of(line: bytes, number: int) -> list[Rollout]:
    try:
        row = json.loads(line)
    except ValueError:
        row = read_json(line)
    return FORMATS["scored"].read(row, row.get("line", number))


# --- the columns beside the file -----------------------------------------------------------------------------------


def _keep_columns(scored: ScoredFile, state: list[int]) -> None:
    """Write the columns beside the file; where that is not possible they are made anew next time.

    ``state`` is the file's from before it was read: one that grew meanwhile is read again.
    """
    import numpy as np

    table = scored.table
    names = {"groups": list(table.groups), "rules": list(table.rules), "metrics": list(table.metrics)}
    head = {"layout": _LAYOUT, "state": state, **names}
    columns = {
        "rewards": table.rewards, "group_of": table.group_of, "lengths": table.lengths, "lines": table.lines,
        "starts": scored.starts, "head": np.frombuffer(json.dumps(head).encode(), dtype=np.uint8),
        **{f"rule_{place}": column for place, column in enumerate(table.rules.values())},
        **{f"metric_{place}": column for place, column in enumerate(table.metrics.values())},
    }  # fmt: skip
    with contextlib.suppress(OSError), write_whole(columns_path(scored.path)) as file:
        np.savez(file, **columns)  # type: ignore[arg-type]


def _kept_columns(path: Path) -> ScoredFile | None:
    import numpy as np

    try:
        with np.load(columns_path(path), allow_pickle=False) as kept:
            head: dict[str, Any] = json.loads(kept["head"].tobytes())
            if head["layout"] != _LAYOUT or head["state"] != _state_of(path):
                return None
            table = RewardTable(
                kept["rewards"], kept["group_of"], tuple(head["groups"]),
                {name: kept[f"rule_{place}"] for place, name in enumerate(head["rules"])},
                {name: kept[f"metric_{place}"] for place, name in enumerate(head["metrics"])},
                kept["lengths"], kept["lines"],
            )  # fmt: skip
            return ScoredFile(path, table, kept["starts"])
    except (OSError, ValueError, KeyError, EOFError, BadZipFile):  # cut off, or not ours
        return None
