"""One export, read: its runs, their series, and what was mended on the way.

Invariant: names come out as they went in, and nothing was mended, merged or left out without a note.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rewards_lib.contract import Sentence, sentence
from rewards_lib.errors import InputError
from rewards_lib.training_metrics.cells import Numbers
from rewards_lib.training_metrics.csv_header import name_list
from rewards_lib.training_metrics.formats import Reading, read_content
from rewards_lib.training_metrics.nan_cells import logged_nans, lost_losses
from rewards_lib.training_metrics.series import Series
from rewards_lib.training_metrics.steps import (
    RELATIVE_TIME,
    ROW_NUMBER,
    Restart,
    StepColumnError,
    choose_x,
    clock_of,
    conflicts,
    find_restarts,
    is_clock,
    names_runs,
    runs_by_number,
    speaks_of_steps,
    steps_of,
    with_texts_read,
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
    """Empty for the only run of a file that names none."""
    names: tuple[str, ...]
    """The names of its series, in the order of the file."""
    steps: Floats
    """One for each row; rises, a step may occur on several rows."""
    values: Floats
    """One row for each name, one column for each step; NaN is a gap."""
    restarts: tuple[Restart, ...] = ()
    nan_steps: Mapping[str, Floats] = field(default_factory=dict)
    """Names to the steps at which NaN was logged as a value; it is none, so the series has a gap there.

    A loss that was NaN from beginning to end is here although it is no series.
    """
    spread: Mapping[str, tuple[Floats, Floats]] = field(default_factory=dict)
    """Names to the lowest and highest values behind each of their rows, where the export kept them."""
    distinct: bool = False
    """No step occurs on two rows."""
    last_values_only: bool = False
    """The file is a summary: one value a metric, no history."""

    def series(self, name: str) -> Series:
        """The finite values of one metric; of a step logged several times the last that is not blank."""
        return self._thin(self.values[self.names.index(name)])

    def band(self, name: str) -> tuple[Series, Series] | None:
        """The lowest and the highest values behind a metric; None where the export did not keep them."""
        ends = self.spread.get(name)
        return None if ends is None else (self._thin(ends[0]), self._thin(ends[1]))

    def highs(self, name: str) -> Series:
        """The highest values behind a metric; its own values where the export did not keep them."""
        band = self.band(name)
        return band[1] if band else self.series(name)

    def _thin(self, values: Floats) -> Series:
        import numpy as np

        if self.distinct:
            kept = _places_of_true(np.isfinite(values))
            return Series(self.steps[kept], values[kept])
        kept = ~np.isnan(values)
        steps, values = self.steps[kept], values[kept]
        last = np.append(steps[1:] != steps[:-1], True)[: len(steps)]
        steps, values = steps[last], values[last]
        finite = np.isfinite(values)
        return Series(steps, values) if finite.all() else Series(steps[finite], values[finite])

    def infinite(self, name: str) -> Floats:
        """The steps at which the metric is infinite."""
        import numpy as np

        where: Floats = self.steps[np.isinf(self.values[self.names.index(name)])]
        return where

    def non_finite(self, name: str) -> Floats:
        """The steps at which the metric is infinite or said to be no number."""
        import numpy as np

        return np.union1d(self.infinite(name), self.nan_steps.get(name, self.steps[:0]))


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
    """Read an export of training metrics, in any of the shapes of ``formats``.

    ``name`` is shown in messages (default: the file's name). ``x`` chooses the column that counts the steps, or
    ``ROW_NUMBER``; by default it is found by name. ``only`` names the metrics to hold, for files too large to hold
    whole; clocks are held besides. Raises InputError when the content is no usable table, and its subclass
    StepColumnError when no column counts the steps.
    """
    if name is None:
        name = data.name if isinstance(data, Path) else "export.csv"
    wanted = None if only is None else lambda column: column in only or column == x or speaks_of_steps(column)
    reading = read_content(data, name, wanted)
    return put_in_order(reading, name, x=x)


def put_in_order(reading: Reading, name: str, *, x: str | None = None) -> Export:
    """The export that a reading gives: steps chosen, runs told apart, rows by step, everything mended told."""
    import numpy as np

    numbers = with_texts_read(reading.numbers)
    if not numbers.values.size:
        raise StepColumnError(reading.columns, (), name)
    chosen = bool(x or reading.x)
    x = _checked_x(x, numbers, name) if x else (reading.x or choose_x(numbers, reading.columns, name))
    steps, carried = steps_of(numbers, x)
    rows = np.flatnonzero(np.isfinite(steps))
    if not len(rows):
        raise InputError("No row has a finite step in {x}.", x=x, where=name, remedy="Choose another column.")
    in_order = _ordered(rows, steps)
    twins = {column for ends in reading.spread.values() for column in ends}
    clocks = [n for n, values in zip(numbers.names, numbers.values, strict=True)
              if n == x or n in reading.clocks or is_clock(n, values, in_order)]  # fmt: skip
    places = [place for place, title in enumerate(numbers.names) if title not in clocks and title not in twins]
    titles = tuple(numbers.names[place] for place in places)
    # nearly always one block, and a view of a block costs nothing
    block = bool(places) and places[-1] - places[0] + 1 == len(places)
    metrics = numbers.values[places[0] : places[-1] + 1] if block else numbers.values[places]
    runs = tuple(
        _run(label, titles, steps, metrics, part, numbers)
        for label, part in _rows_of_runs(reading.labels, _run_texts(numbers), steps, metrics, rows).items()
    )
    if reading.last_values_only:
        runs = tuple(replace(run, last_values_only=True) for run in runs)
    if reading.groups:
        runs = tuple(_side_by_side(runs[0], reading, in_order))
    lowest, highest = np.fmin.reduce(metrics, axis=1), np.fmax.reduce(metrics, axis=1)
    infinite = bool(np.isinf(lowest).any() or np.isinf(highest).any())
    return Export(
        name,
        reading.columns,
        x,
        (*clocks, *[RELATIVE_TIME] * bool(clock_of(numbers)), *titles),
        runs,
        reading.told,
        (
            *reading.notes,
            *_column_notes(numbers, [name for name in reading.numbers.texts if name not in numbers.texts]),
            *_step_notes(x, steps, carried, runs),
            *_chosen_notes(x, chosen),
            *_infinite_notes(runs if infinite else ()),
        ),
        numbers.blank,
        tuple(title for title, same in zip(titles, lowest == highest, strict=True) if same),
        {column: len(rows) for column, rows in numbers.nan_rows.items()},
    )


def _checked_x(wanted: str, numbers: Numbers, where: str) -> str:
    if wanted == ROW_NUMBER or wanted in numbers.names or (wanted == RELATIVE_TIME and clock_of(numbers)):
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


def _run(label: str, titles: tuple[str, ...], steps: Floats, metrics: Floats, rows: Rows, numbers: Numbers) -> Run:
    order = _ordered(rows, steps)
    whole = order is rows and len(rows) == len(steps)
    in_order, own = (steps, metrics) if whole else (steps[order], metrics[:, order])
    restarts = find_restarts(steps[rows], conflicts(in_order, own))
    said = {name: _places_of(cells, order) for name, cells in numbers.nan_rows.items() if name in titles}
    logged = logged_nans(titles, in_order, own, said)
    nan_steps = {name: in_order[places] for name, places in logged.items()}
    if all(len(logged.get(name, ())) == len(places) for name, places in said.items()):  # no gap is spelt so here
        blank = {name: _places_of(numbers.nan_rows[name], order) for name in numbers.blank if name in numbers.nan_rows}
        nan_steps |= {name: in_order[blank[name]] for name in lost_losses(blank, own)}
    distinct = bool((in_order[1:] > in_order[:-1]).all())
    return Run(label, titles, in_order, own, restarts, nan_steps, distinct=distinct)


def _places_of_true(hits: NDArray[np.bool_]) -> slice | NDArray[np.bool_]:
    """What picks the hits out of an array: a slice where they stand side by side, which copies nothing."""
    import numpy as np

    count, first = int(np.count_nonzero(hits)), int(hits.argmax()) if len(hits) else 0
    together = slice(first, first + count)
    return together if hits[together].all() else hits


def _places_of(rows: list[int], order: Rows) -> Rows:
    """Where rows of the file stand in the order of a run; those of other runs are left out."""
    import numpy as np

    return np.flatnonzero(np.isin(order, rows))


def _side_by_side(run: Run, reading: Reading, order: Rows) -> Iterator[Run]:
    """The runs that a row holds beside each other, each with its own columns under the metric's name."""
    numbers = reading.numbers
    for label, columns in reading.groups.items():
        held = {metric: column for metric, column in columns.items() if column in run.names}
        spread = {
            metric: (numbers.column(low)[order], numbers.column(high)[order])
            for metric, column in held.items()
            for low, high in [reading.spread.get(column, ("", ""))]
            if low in numbers.names and high in numbers.names
        }
        own = run.values[[run.names.index(column) for column in held.values()]]
        nan_steps = {m: run.nan_steps[column] for m, column in held.items() if column in run.nan_steps}
        yield replace(run, label=label, names=tuple(held), values=own, nan_steps=nan_steps, spread=spread)


def _rows_of_runs(
    labels: Sequence[str] | None, texts: Mapping[str, list[str]], steps: Floats, metrics: Floats, rows: Rows
) -> dict[str, Rows]:
    """Rows in file order for each run: by label; else several if steps clash and a text keeps the clashes apart."""
    if labels is not None:
        return _rows_by_text(labels, rows) or {"": rows}
    if texts and _clash(steps, metrics, rows):
        for name, cells in texts.items():
            parts = _rows_by_text(cells, rows)
            # a text that differs in every row names rows
            few = 2 * len(parts) <= len(rows) or names_runs(name)
            if few and 1 < len(parts) <= _MOST_RUNS and not any(_clash(steps, metrics, p) for p in parts.values()):
                return parts
    return {"": rows}


def _run_texts(numbers: Numbers) -> dict[str, list[str]]:
    """Columns that may tell runs apart, those whose names say so first."""
    texts = {**runs_by_number(numbers), **numbers.texts}
    return {name: texts[name] for name in sorted(texts, key=names_runs, reverse=True)}


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


def _column_notes(numbers: Numbers, read: Sequence[str]) -> list[Sentence]:
    """What is told of columns; ``read`` are those of text that were read as steps or times."""
    notes = []
    if read:
        told = "Text was read as numbers in {names}: steps without their words, times in seconds since 1970."
        notes.append(sentence(told, names=name_list(read)))
    if numbers.texts:
        notes.append(sentence("Columns of text are not drawn: {names}.", names=name_list(list(numbers.texts))))
    if numbers.blank:
        notes.append(sentence("Columns without any value are not drawn: {names}.", names=name_list(numbers.blank)))
    if numbers.nan_rows:
        count, said = sum(map(len, numbers.nan_rows.values())), name_list(list(numbers.nan_rows))
        notes.append(sentence("Cells that say NaN: {count}, in {names}; they are gaps.", count=count, names=said))
    return notes


def _chosen_notes(x: str, chosen: bool) -> list[Sentence]:
    """What is told where rows are counted although nobody asked for it."""
    if x != ROW_NUMBER or chosen:
        return []
    return [sentence("Most epochs have several rows, so the rows are counted in place of epoch.")]


def _step_notes(x: str, file_order: Floats, carried: int, runs: Sequence[Run]) -> list[Sentence]:
    import numpy as np

    notes = []
    finite = file_order[np.isfinite(file_order)]
    if lost := len(file_order) - len(finite):
        told = "Rows without a step in {x}: {count}, the first is row {row}; they were left out."
        first = int(np.flatnonzero(~np.isfinite(file_order))[0]) + 1
        notes.append(sentence(told, count=lost, x=x, row=first))
    if carried:
        told = "Rows without a step in {x}: {count}; they stand at the step that was logged before them."
        notes.append(sentence(told, count=carried, x=x))
    if len(runs) > 1:
        notes.append(sentence("Runs in this file: {labels}.", labels=name_list([run.label for run in runs])))
    for run in runs:
        notes += [restart.note() for restart in run.restarts]
        if not run.restarts and len(twice := conflicts(run.steps, run.values)):
            told = "Steps that came more than once: {count}, the first is {step}; the last value of each is shown."
            notes.append(sentence(told, count=len(twice), step=f"{float(twice[0]):.15g}"))
    if len(runs) == 1 and not runs[0].restarts and not _rises(finite):
        notes.append(sentence("The rows were not in the order of {x} and were sorted.", x=x))
    return notes


def _infinite_notes(runs: Sequence[Run]) -> list[Sentence]:
    """What is told of infinite values."""
    import numpy as np

    found: dict[str, list[Floats]] = {}
    for run in runs:
        ends = np.isinf(np.fmin.reduce(run.values, axis=1)) | np.isinf(np.fmax.reduce(run.values, axis=1))
        for name in [name for name, has in zip(run.names, ends, strict=True) if has]:
            found.setdefault(name, []).append(run.infinite(name))
    return [
        sentence(
            "Infinite values of {name}: {count}, the first at step {step}; they were left out.",
            name=name,
            count=sum(map(len, where)),
            step=f"{min(float(steps.min()) for steps in where):g}",
        )
        for name, where in found.items()
    ]
