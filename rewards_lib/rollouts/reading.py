"""A file of rollouts, whatever wrote it: recognised by the keys of its first rows, read in one stream.

Invariant: every row of the file comes out, as rollouts or as a ``BadRow`` with its number; nothing is dropped.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

from rewards_lib.contract import JsonObject
from rewards_lib.errors import InputError
from rewards_lib.rollouts.formats import FORMATS, RolloutFormat
from rewards_lib.rollouts.formats.columns import ColumnMap, read_mapped, rivals
from rewards_lib.rollouts.rollout import BadRow, Rollout
from rewards_lib.rollouts.rows import read_rows

SNIFFED_ROWS = 20
_WITHOUT_COMPLETIONS: tuple[tuple[frozenset[str], str], ...] = (
    (frozenset({"data_source", "prompt", "reward_model"}), "a training set of verl: prompts without completions"),
)


@dataclass(frozen=True, slots=True)
class RolloutFile:
    """A file whose format is known. Iterate over it as often as needed; each time it is read anew."""

    path: Path
    format: RolloutFormat
    columns: ColumnMap | None = None
    """Set when the columns were named by hand."""

    def __iter__(self) -> Iterator[Rollout | BadRow]:
        """Yield rollouts and bad rows in the order of the file."""
        read = partial(read_mapped, columns=self.columns) if self.columns else self.format.read
        for row in read_rows(self.path):
            if isinstance(row, BadRow):
                yield row
                continue
            number, fields = row
            try:
                found = read(fields, number)
            except InputError as error:
                yield BadRow(number, error.message, str(fields)[:200])
            else:
                yield from found


def open_rollouts(path: Path, *, format_name: str | None = None, columns: ColumnMap | None = None) -> RolloutFile:
    """Recognise a file of rollouts by its first rows.

    ``format_name`` and ``columns`` take the guessing's place. Raises InputError when the file cannot be read, holds no
    row, or when no format has its keys; the sentence then names the keys and the nearest format.
    """
    if columns is not None:
        return RolloutFile(path, FORMATS["columns"], columns)
    if format_name is not None:
        if format_name not in FORMATS:
            raise InputError("There is no format {name!r}.", name=format_name, remedy=_formats_there_are())
        return RolloutFile(path, FORMATS[format_name])
    head = list(islice(read_rows(path), SNIFFED_ROWS))
    rows = [row[1] for row in head if not isinstance(row, BadRow)]
    if not rows:
        first = next((row for row in head if isinstance(row, BadRow)), None)
        if first is None:
            raise InputError("The file holds no rows.", where=path.name, remedy="One rollout a line is expected.")
        raise InputError(
            "No row can be read; row {line}: {problem}", where=path.name, line=first.line, problem=first.problem
        )
    return RolloutFile(path, _recognise(rows, path))


def _recognise(rows: list[JsonObject], path: Path) -> RolloutFormat:
    counted = {name: sum(form.matches(row) for row in rows) for name, form in FORMATS.items()}
    best = max(counted, key=lambda name: counted[name])
    if counted[best] * 2 >= len(rows):
        return FORMATS[best]
    keys = list(rows[0])
    for needed, what in _WITHOUT_COMPLETIONS:
        if needed <= set(keys):
            raise InputError("The file is {what}.", where=path.name, what=what)
    for row in rows:
        if claims := rivals(row):
            raise InputError(
                "Several columns could be meant: {names}.", where=path.name, names=", ".join(claims),
                remedy="Name the columns that hold prompt and completion.",
            )  # fmt: skip
    raise InputError(
        "The keys {keys} belong to no known format; the nearest is {nearest}.",
        where=path.name,
        keys=", ".join(keys[:12]) or "(none)",
        nearest=_nearest(keys),
        remedy="Name the columns that hold prompt and completion, or write canonical lines.",
    )


_TYPICAL_KEYS = {
    "canonical": ("sample", "completion"), "verl": ("input", "output", "score"),
    "trl": ("step", "prompt", "completion", "advantage"), "verifiers": ("prompt", "completion", "reward", "example_id"),
    "nemo_gym": ("responses_create_params", "response"), "evaluation_row": ("messages", "input_metadata"),
    "ark_dataset": ("messages", "extra", "completions"), "atropos": ("tokens", "masks", "scores"),
    "lm_eval": ("doc_id", "arguments", "resps"), "conversation": ("messages", "conversations"),
}  # fmt: skip


def _nearest(keys: list[str]) -> str:
    def likeness(name: str) -> float:
        wanted = _TYPICAL_KEYS[name]
        return sum(bool(difflib.get_close_matches(key, keys, 1, 0.75)) for key in wanted) / len(wanted)

    best = max(_TYPICAL_KEYS, key=likeness)
    return f"{best} ({', '.join(_TYPICAL_KEYS[best])})"


def _formats_there_are() -> str:
    return f"Allowed are: {', '.join(FORMATS)}."
