"""The rewards that a trainer's file holds already, brought into the form of a scored file to look into.

Invariant: nothing is scored and nothing is made up; a rollout without a reward stays unscored.
"""

from __future__ import annotations

from pathlib import Path

from rewards_lib.contract import JsonObject
from rewards_lib.errors import InputError
from rewards_lib.rollouts.chunk_scoring import recorded_row, write_line
from rewards_lib.rollouts.reading import RolloutFile
from rewards_lib.rollouts.rollout import BadRow
from rewards_lib.whole_files import write_whole

_MOST_SHOWN = 20


def write_recorded(file: RolloutFile, out: Path) -> JsonObject:
    """Write a line for each rollout and return what was counted. Raises InputError when the file holds none."""
    rollouts = scored = bad_rows = 0
    first_bad: list[JsonObject] = []
    groups: set[str] = set()
    with write_whole(out) as lines:
        for entry in file:
            if isinstance(entry, BadRow):
                bad_rows += 1
                first_bad += [entry.to_json()] if bad_rows <= _MOST_SHOWN else []
                continue
            rollouts += 1
            scored += entry.recorded is not None and entry.recorded.reward is not None
            groups.add(entry.group)
            lines.write(write_line(recorded_row(entry)))
        if not rollouts:
            raise InputError("None of the {count} rows is a rollout.", where=file.path.name, count=bad_rows)
    return {
        "status": "success", "error": "", "format": file.format.name, "grouped_by": file.format.group_by,
        "rollouts": rollouts, "groups": len(groups), "scored": scored, "unscored": rollouts - scored,
        "failures": [], "bad_rows": bad_rows, "first_bad_rows": first_bad, "mix_version": "",
    }  # fmt: skip
