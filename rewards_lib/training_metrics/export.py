"""One export, read: its runs, their series, and what was mended on the way.

Invariant: names come out as they went in, and nothing was mended, merged or left out without a note.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rewards_lib.contract import Sentence, sentence
from rewards_lib.errors import InputError
from rewards_lib.training_metrics.cells import Column, read_column
from rewards_lib.training_metrics.csv_table import DELIMITERS, Table, name_list, read_table
from rewards_lib.training_metrics.series import Series
from rewards_lib.training_metrics.sniffing import sniff_text
from rewards_lib.training_metrics.steps import (
    ROW_NUMBER,
    Restart,
    choose_x,
    conflicts,
    fill_from_twin,
    find_restarts,
    is_clock,
)

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

_MOST_RUNS = 100


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """One training run: its rows in the order of their steps."""

    label: str
    """Empty for the only run of a file."""
    steps: NDArray[np.float64]
    """One for each row; rises, a step may occur on several rows."""
    metrics: pd.DataFrame
    """One column a series, NaN for a gap."""
    restarts: tuple[Restart, ...] = ()

    def series(self, name: str) -> Series:
        """The finite values of one metric; of a step logged several times the last that is not blank."""
        import numpy as np

        values = self.metrics[name].to_numpy(dtype="float64")
        kept = ~np.isnan(values)
        steps, values = self.steps[kept], values[kept]
        last = np.append(steps[1:] != steps[:-1], True)[: len(steps)]
        steps, values = steps[last], values[last]
        finite = np.isfinite(values)
        return Series(steps, values) if finite.all() else Series(steps[finite], values[finite])

    def non_finite(self, name: str) -> NDArray[np.float64]:
        """The steps at which the metric is infinite."""
        import numpy as np

        values: NDArray[np.float64] = self.metrics[name].to_numpy(dtype="float64")
        where: NDArray[np.float64] = self.steps[np.isinf(values)]
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
    nan_cells: Mapping[str, int] | None = None
    """Series to how many of its cells say NaN; those are gaps."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the series, in the order of the file."""
        return tuple(self.runs[0].metrics.columns)


def read_export(data: bytes | Path, name: str | None = None, *, x: str | None = None) -> Export:
    """Read a CSV export of training metrics.

    ``name`` is shown in messages (default: the file's name). ``x`` chooses the column that counts the steps, or
    ``ROW_NUMBER``; by default it is found by name. Raises InputError when the content is no usable table, and its
    subclass StepColumnError when no column counts the steps.
    """
    if name is None:
        name = data.name if isinstance(data, Path) else "export.csv"
    table = read_table(sniff_text(data, name))
    columns = {
        title: read_column(table.frame[title], decimal_comma=table.decimal_comma) for title in table.header.names
    }
    return _Assembly(table, columns, name).export(x)


@dataclass(frozen=True, slots=True)
class _Assembly:
    """The way from a table of cells to an export."""

    table: Table
    columns: Mapping[str, Column]
    name: str

    def export(self, wanted_x: str | None) -> Export:
        import numpy as np
        import pandas as pd

        numbers = {
            title: column.numbers
            for title, column in self.columns.items()
            if not column.is_text and column.numbers.notna().any()
        }
        x = self._chosen_x(wanted_x, numbers)
        steps = (
            pd.Series(np.arange(1.0, len(self.table.frame) + 1))
            if x == ROW_NUMBER
            else (fill_from_twin(numbers[x], x, numbers))
        )
        values = steps.to_numpy(dtype="float64")
        kept = np.flatnonzero(np.isfinite(values))
        in_order = kept if _rises(values[kept]) else kept[np.argsort(values[kept], kind="stable")]
        clocks = [title for title, column in numbers.items() if title == x or is_clock(title, column.iloc[in_order])]
        titles = [title for title in numbers if title not in clocks]
        metrics = pd.DataFrame({title: numbers[title] for title in titles}, index=self.table.frame.index)
        labels = self._run_labels(values, metrics, kept, in_order)
        runs = tuple(self._run(label, values, metrics, rows) for label, rows in labels.items())
        blank = tuple(t for t, c in self.columns.items() if not c.is_text and t not in numbers)
        return Export(
            self.name,
            self.table.header.names,
            x,
            (*clocks, *titles),
            runs,
            self._reading(),
            (*self._notes(numbers, blank), *_step_notes(x, len(values) - len(kept), values, runs)),
            blank,
            tuple(t for t in titles if metrics[t].min() == metrics[t].max()),
            {t: self.columns[t].nan_cells for t in titles if self.columns[t].nan_cells},
        )

    def _chosen_x(self, wanted: str | None, numbers: Mapping[str, pd.Series]) -> str:
        if wanted is None:
            return choose_x(numbers, self.table.header.names, self.name)
        if wanted != ROW_NUMBER and wanted not in numbers:
            raise InputError(
                "{x!r} cannot count the steps; columns of numbers are {columns}.",
                x=wanted,
                columns=name_list(list(numbers)),
                where=self.name,
                remedy="Name one of them, or the row number.",
            )
        return wanted

    def _run_labels(
        self,
        values: NDArray[np.float64],
        metrics: pd.DataFrame,
        kept: NDArray[np.int64],
        in_order: NDArray[np.int64],
    ) -> dict[str, NDArray[np.int64]]:
        """Rows in file order for each run: several only if steps clash and a text column keeps the clashes apart."""
        if len(conflicts(values[in_order], metrics.iloc[in_order])):
            for column in self.columns.values():
                rows = _rows_by_text(column.numbers.iloc[kept].tolist(), kept) if column.is_text else {}
                if 1 < len(rows) <= _MOST_RUNS and not any(_clashes(values, metrics, part) for part in rows.values()):
                    return rows
        return {"": kept}

    def _run(self, label: str, values: NDArray[np.float64], metrics: pd.DataFrame, rows: NDArray[np.int64]) -> Run:
        import numpy as np

        steps = values[rows]
        if _rises(steps):
            whole = len(rows) == len(metrics)
            in_order, own = steps, metrics if whole else metrics.iloc[rows]
        else:
            order = np.argsort(steps, kind="stable")
            in_order, own = steps[order], metrics.iloc[rows[order]]
        return Run(label, in_order, own, find_restarts(steps, conflicts(in_order, own)))

    def _reading(self) -> Sentence:
        return sentence(
            "{encoding}, {delimiter}, {columns} columns, {rows} rows",
            encoding=self.table.source.encoding,
            delimiter=DELIMITERS[self.table.header.delimiter],
            columns=len(self.table.header.names),
            rows=len(self.table.frame),
        )

    def _notes(self, numbers: Mapping[str, pd.Series], blank: Sequence[str]) -> list[Sentence]:
        header, notes = self.table.header, []
        if self.table.source.encoding != "UTF-8":
            notes.append(sentence("Read as {encoding}.", encoding=self.table.source.encoding))
        if self.table.decimal_comma:
            notes.append(sentence("Commas were read as decimal points, since semicolons divide the cells."))
        copies = [
            title
            for title in header.names
            if re.search(r" \(\d+\)$", title) and title.rpartition(" (")[0] in header.names
        ]
        if copies:
            notes.append(sentence("Columns of the same name are told apart: {names}.", names=name_list(copies)))
        notes += self.table.notes
        notes += self._coercions()
        if texts := [title for title, column in self.columns.items() if column.is_text]:
            notes.append(sentence("Columns of text are not drawn: {names}.", names=name_list(texts)))
        if blank:
            notes.append(sentence("Columns without any value are not drawn: {names}.", names=name_list(blank)))
        said = {title: self.columns[title].nan_cells for title in numbers if self.columns[title].nan_cells}
        if said:
            notes.append(
                sentence(
                    "Cells that say NaN: {count}, in {names}; they count as gaps.",
                    count=sum(said.values()),
                    names=name_list(list(said)),
                )
            )
        return notes

    def _coercions(self) -> list[Sentence]:
        faulty = {title: column for title, column in self.columns.items() if column.coerced and not column.is_text}
        lines = self.table.lines_of([column.first_row for column in faulty.values()]) if faulty else {}
        return [
            sentence(
                "Cells of {column} that are not numbers: {count}, the first {text!r} in line {line}; they are gaps.",
                count=column.coerced,
                column=title,
                text=column.first_text[:40],
                line=lines[column.first_row],
            )
            for title, column in faulty.items()
        ]


def _step_notes(x: str, lost: int, file_order: NDArray[np.float64], runs: Sequence[Run]) -> list[Sentence]:
    import numpy as np

    notes = []
    if lost:
        notes.append(sentence("Rows without a step in {x}: {count}; they were left out.", count=lost, x=x))
    if len(runs) > 1:
        notes.append(
            sentence(
                "Runs in this file: {labels}.",
                labels=name_list([run.label for run in runs]),
            )
        )
    for run in runs:
        notes += [restart.note() for restart in run.restarts]
        twice = conflicts(run.steps, run.metrics)
        if len(twice) and not run.restarts:
            notes.append(
                sentence("Steps that came more than once: {count}; the last value of each is shown.", count=len(twice))
            )
    finite = file_order[np.isfinite(file_order)]
    if len(runs) == 1 and not runs[0].restarts and not _rises(finite):
        notes.append(sentence("The rows were not in the order of {x} and were sorted.", x=x))
    for name in runs[0].metrics.columns:
        where = np.concatenate([run.non_finite(name) for run in runs])
        if len(where):
            notes.append(
                sentence(
                    "Infinite values of {name}: {count}, the first at step {step}; they were left out.",
                    count=len(where),
                    name=name,
                    step=f"{where.min():g}",
                )
            )
    return notes


def _rises(steps: NDArray[np.float64]) -> bool:
    return bool((steps[1:] >= steps[:-1]).all())


def _clashes(values: NDArray[np.float64], metrics: pd.DataFrame, rows: NDArray[np.int64]) -> bool:
    order = rows[values[rows].argsort(kind="stable")]
    return bool(len(conflicts(values[order], metrics.iloc[order])))


def _rows_by_text(texts: Sequence[object], rows: NDArray[np.int64]) -> dict[str, NDArray[np.int64]]:
    import numpy as np

    groups: dict[str, list[int]] = {}
    for text, row in zip(texts, rows, strict=True):
        groups.setdefault(text if isinstance(text, str) else "", []).append(int(row))
        if len(groups) > _MOST_RUNS:
            return {}
    return {text: np.array(found) for text, found in groups.items()}
