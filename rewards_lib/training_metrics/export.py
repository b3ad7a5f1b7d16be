"""One export, read: its runs, their series, and what was mended on the way.

Invariant: names come out as they went in, and nothing was mended, merged or left out without a note.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rewards_lib.contract import Sentence, sentence
from rewards_lib.errors import InputError
from rewards_lib.training_metrics.cells import Numbers, read_cells
from rewards_lib.training_metrics.csv_table import DELIMITERS, Table, name_list, read_table
from rewards_lib.training_metrics.series import Series
from rewards_lib.training_metrics.sniffing import sniff_text
from rewards_lib.training_metrics.steps import (
    ROW_NUMBER,
    Restart,
    choose_x,
    conflicts,
    find_restarts,
    is_clock,
    speaks_of_steps,
    steps_of,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rewards_lib.training_metrics.series import Floats

    Rows = NDArray[np.int64]

_MOST_RUNS = 100


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """One training run: its rows in the order of their steps."""

    label: str
    """Empty for the only run of a file."""
    names: tuple[str, ...]
    """The names of its series, in the order of the file."""
    steps: Floats
    """One for each row; rises, a step may occur on several rows."""
    values: Floats
    """One row for each name, one column for each step; NaN is a gap."""
    restarts: tuple[Restart, ...] = ()

    def series(self, name: str) -> Series:
        """The finite values of one metric; of a step logged several times the last that is not blank."""
        import numpy as np

        values = self.values[self.names.index(name)]
        kept = ~np.isnan(values)
        steps, values = self.steps[kept], values[kept]
        last = np.append(steps[1:] != steps[:-1], True)[: len(steps)]
        steps, values = steps[last], values[last]
        finite = np.isfinite(values)
        return Series(steps, values) if finite.all() else Series(steps[finite], values[finite])

    def non_finite(self, name: str) -> Floats:
        """The steps at which the metric is infinite."""
        import numpy as np

        where: Floats = self.steps[np.isinf(self.values[self.names.index(name)])]
        return where


@dataclass(frozen=True, slots=True, eq=False)
class Export:
    """One file."""

    name: str
    columns: tuple[str, ...]
    """All names, in the order of the file."""
    x: str
    """The column that counts the steps, or ``row number``."""
    x_choices: tuple[str, ...]
    """Columns that may serve as x: counters and clocks first, then the other numeric columns."""
    runs: tuple[Run, ...]
    """One, or several stacked in the file and told apart by a text column."""
    reading: Sentence
    """How it was read: encoding, delimiter, size."""
    notes: tuple[Sentence, ...] = ()
    """What was mended or left out."""
    blank: tuple[str, ...] = ()
    """Columns without any value; not series."""
    constant: tuple[str, ...] = ()
    """Series with one value only, everywhere."""
    nan_cells: Mapping[str, int] = field(default_factory=dict)
    """Columns to how many of their cells say NaN; those are gaps."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the series, in the order of the file."""
        return self.runs[0].names


def read_export(
    data: bytes | Path, name: str | None = None, *, x: str | None = None, only: Collection[str] | None = None
) -> Export:
    """Read a CSV export of training metrics.

    ``name`` is shown in messages (default: the file's name). ``x`` chooses the column that counts the steps, or
    ``ROW_NUMBER``; by default it is found by name. ``only`` names the metrics to hold, for files too large to hold
    whole; clocks are held besides. Raises InputError when the content is no usable table, and its subclass
    StepColumnError when no column counts the steps.
    """
    import numpy as np

    if name is None:
        name = data.name if isinstance(data, Path) else "export.csv"
    wanted = None if only is None else lambda column: column in only or column == x or speaks_of_steps(column)
    table = read_table(sniff_text(data, name), wanted)
    numbers = read_cells(table.frame, decimal_comma=table.decimal_comma)
    x = _checked_x(x, numbers, name) if x else choose_x(numbers, table.header.names, name)
    steps = steps_of(numbers, x)
    rows = np.flatnonzero(np.isfinite(steps))
    in_order = _ordered(rows, steps)
    clocks = [n for n, values in zip(numbers.names, numbers.values, strict=True)
              if n == x or is_clock(n, values, in_order)]  # fmt: skip
    places = [place for place, title in enumerate(numbers.names) if title not in clocks]
    titles = tuple(numbers.names[place] for place in places)
    metrics = numbers.values[places]
    runs = tuple(
        _run(label, titles, steps, metrics, part)
        for label, part in _rows_of_runs(numbers.texts, steps, metrics, rows).items()
    )
    lowest, highest = np.fmin.reduce(metrics, axis=1), np.fmax.reduce(metrics, axis=1)
    infinite = [title for title, ends in zip(titles, np.isinf(lowest) | np.isinf(highest), strict=True) if ends]
    return Export(
        name,
        table.header.names,
        x,
        (*clocks, *titles),
        runs,
        _reading(table),
        (*_table_notes(table, numbers), *_step_notes(x, steps, runs), *_infinite_notes(runs, infinite)),
        numbers.blank,
        tuple(title for title, same in zip(titles, lowest == highest, strict=True) if same),
        numbers.nan_cells,
    )


def _checked_x(wanted: str, numbers: Numbers, where: str) -> str:
    if wanted == ROW_NUMBER or wanted in numbers.names:
        return wanted
    raise InputError(
        "{x!r} cannot count the steps; columns of numbers are {columns}.",
        x=wanted,
        columns=name_list(numbers.names),
        where=where,
        remedy="Name one of them, or the row number.",
    )


# --- rows of runs --------------------------------------------------------------------------------------------------


def _ordered(rows: Rows, steps: Floats) -> Rows:
    """The rows by step; rows of one step stay in the order of the file."""
    return rows if _rises(steps[rows]) else rows[steps[rows].argsort(kind="stable")]


def _rises(steps: Floats) -> bool:
    return bool((steps[1:] >= steps[:-1]).all())


def _run(label: str, titles: tuple[str, ...], steps: Floats, metrics: Floats, rows: Rows) -> Run:
    order = _ordered(rows, steps)
    whole = order is rows and len(rows) == len(steps)
    in_order, own = (steps, metrics) if whole else (steps[order], metrics[:, order])
    return Run(label, titles, in_order, own, find_restarts(steps[rows], conflicts(in_order, own)))


def _rows_of_runs(texts: Mapping[str, list[str]], steps: Floats, metrics: Floats, rows: Rows) -> dict[str, Rows]:
    """Rows in file order for each run: several only if steps clash and a text column keeps the clashes apart."""
    if texts and _clash(steps, metrics, rows):
        for cells in texts.values():
            parts = _rows_by_text(cells, rows)
            if 1 < len(parts) <= _MOST_RUNS and not any(_clash(steps, metrics, part) for part in parts.values()):
                return parts
    return {"": rows}


def _clash(steps: Floats, metrics: Floats, rows: Rows) -> bool:
    order = _ordered(rows, steps)
    return bool(len(conflicts(steps[order], metrics[:, order])))


def _rows_by_text(cells: Sequence[str], rows: Rows) -> dict[str, Rows]:
    import numpy as np

    groups: dict[str, list[int]] = {}
    for row in rows.tolist():
        groups.setdefault(cells[row], []).append(row)
        if len(groups) > _MOST_RUNS:
            return {}
    return {text: np.array(found) for text, found in groups.items()}


# --- what is told --------------------------------------------------------------------------------------------------


def _reading(table: Table) -> Sentence:
    return sentence(
        "{encoding}, {delimiter}, {columns} columns, {rows} rows",
        encoding=table.source.encoding,
        delimiter=DELIMITERS[table.header.delimiter],
        columns=len(table.header.names),
        rows=len(table.frame),
    )


def _table_notes(table: Table, numbers: Numbers) -> list[Sentence]:
    names, notes = table.header.names, []
    if table.source.encoding != "UTF-8":
        notes.append(sentence("Read as {encoding}.", encoding=table.source.encoding))
    if table.decimal_comma:
        notes.append(sentence("Commas were read as decimal points, since semicolons divide the cells."))
    copies = [n for n in names if re.search(r" \(\d+\)$", n) and n.rpartition(" (")[0] in names]
    if copies:
        notes.append(sentence("Columns of the same name are told apart: {names}.", names=name_list(copies)))
    notes += table.notes
    lines = table.lines_of([found.first_row for found in numbers.coercions]) if numbers.coercions else {}
    notes += [
        sentence(
            "Cells of {column} that are not numbers: {count}, the first {text!r} in line {line}; they are gaps.",
            column=found.column,
            count=found.count,
            text=found.first_text[:40],
            line=lines[found.first_row],
        )
        for found in numbers.coercions
    ]
    if numbers.texts:
        notes.append(sentence("Columns of text are not drawn: {names}.", names=name_list(list(numbers.texts))))
    if numbers.blank:
        notes.append(sentence("Columns without any value are not drawn: {names}.", names=name_list(numbers.blank)))
    if numbers.nan_cells:
        count, said = sum(numbers.nan_cells.values()), name_list(list(numbers.nan_cells))
        notes.append(sentence("Cells that say NaN: {count}, in {names}; they are gaps.", count=count, names=said))
    return notes


def _step_notes(x: str, file_order: Floats, runs: Sequence[Run]) -> list[Sentence]:
    import numpy as np

    notes = []
    finite = file_order[np.isfinite(file_order)]
    if lost := len(file_order) - len(finite):
        notes.append(sentence("Rows without a step in {x}: {count}; they were left out.", count=lost, x=x))
    if len(runs) > 1:
        notes.append(sentence("Runs in this file: {labels}.", labels=name_list([run.label for run in runs])))
    for run in runs:
        notes += [restart.note() for restart in run.restarts]
        if not run.restarts and (twice := len(conflicts(run.steps, run.values))):
            notes.append(
                sentence("Steps that came more than once: {count}; the last value of each is shown.", count=twice)
            )
    if len(runs) == 1 and not runs[0].restarts and not _rises(finite):
        notes.append(sentence("The rows were not in the order of {x} and were sorted.", x=x))
    return notes


def _infinite_notes(runs: Sequence[Run], names: Sequence[str]) -> list[Sentence]:
    import numpy as np

    steps = {name: np.concatenate([run.non_finite(name) for run in runs]) for name in names}
    return [
        sentence(
            "Infinite values of {name}: {count}, the first at step {step}; they were left out.",
            name=name,
            count=len(where),
            step=f"{where.min():g}",
        )
        for name, where in steps.items()
        if len(where)
    ]
