"""What every format gives: the columns of a file as numbers, and what the format itself knows about them.

Invariant: names are those of the file; what was mended while reading has a note.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rewards_lib.contract import Sentence, sentence
from rewards_lib.training_metrics.cells import Coercion, Numbers, numbers_of, parse_cell
from rewards_lib.training_metrics.steps import MOST_RESTARTS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rewards_lib.training_metrics.series import Floats

WALL_TIME = "Wall time"


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """A file, read but not yet put in order."""

    columns: tuple[str, ...]
    """All names, in the order of the file."""
    numbers: Numbers
    told: Sentence
    """What it is: format, encoding, size."""
    notes: tuple[Sentence, ...] = ()
    x: str | None = None
    """The column that counts the steps, where the format says so."""
    clocks: frozenset[str] = frozenset()
    """Columns that count steps or time, where the format says so."""
    labels: Sequence[str] | None = None
    """The run each row belongs to, where the format says so."""
    groups: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Runs that stand side by side: label to the metric's name in the run to its column."""
    spread: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Columns to those of the lowest and highest value behind them."""
    last_values_only: bool = False
    """A summary: one value a metric, no history."""


def gather_records(
    records: Iterable[tuple[int, Mapping[str, object]]], rows_told: str = "line"
) -> tuple[tuple[str, ...], Numbers, list[Sentence]]:
    """Columns out of records, each given with its line: names in order of appearance, a gap where a record lacks one.

    Nested records are flattened with ``/``; a cell that is no number is a gap with a note.
    """
    import numpy as np

    rows = [(line, dict(flatten(record))) for line, record in records]
    names = tuple(dict.fromkeys(name for _, row in rows for name in row))
    place = {name: index for index, name in enumerate(names)}
    values = np.full((len(names), len(rows)), np.nan)
    texts: dict[str, dict[int, str]] = {}
    nan_rows: dict[str, list[int]] = {}
    for number, (_, row) in enumerate(rows):
        for name, cell in row.items():
            value, text = _number(cell)
            values[place[name], number] = math.nan if value is None else value
            if value is None:
                texts.setdefault(name, {})[number] = text
            elif math.isnan(value) and cell is not None and cell != "":
                nan_rows.setdefault(name, []).append(number)
    said = {name: int((~np.isnan(values[place[name]])).sum()) for name in texts}
    words = {name: cells for name, cells in texts.items() if len(cells) > said[name]}
    for name in words:
        values[place[name]] = np.nan
    odd = [Coercion(n, len(c), min(c), c[min(c)]) for n, c in texts.items() if n not in words]
    notes = [coercion_note(one, rows[one.first_row][0], rows_told) for one in odd]
    columns = {name: [cells.get(row, "") for row in range(len(rows))] for name, cells in words.items()}
    return names, numbers_of(names, values, texts=columns, coercions=odd, nan_rows=nan_rows), notes


def flatten(record: Mapping[str, object], before: str = "") -> Iterable[tuple[str, object]]:
    """The entries of a record and of the records in it, names joined by ``/``."""
    for key, value in record.items():
        if isinstance(value, Mapping):
            yield from flatten(value, f"{before}{key}/")
        elif not isinstance(value, list | tuple):
            yield f"{before}{key}", value


def _number(cell: object) -> tuple[float | None, str]:
    if cell is None:
        return math.nan, ""
    if isinstance(cell, bool | int | float):
        try:
            return float(cell), ""
        except OverflowError:
            return math.inf if cell > 0 else -math.inf, ""
    text = str(cell).strip()
    return parse_cell(text), text


def coercion_note(found: Coercion, line: int, rows_told: str = "line") -> Sentence:
    """What is told of cells that are no numbers."""
    if rows_told == "record":
        return sentence(
            "Values of {column} that are not numbers: {count}, the first {text!r} in record {line}; they are gaps.",
            column=found.column, count=found.count, text=found.first_text[:40], line=line,
        )  # fmt: skip
    return sentence(
        "Cells of {column} that are not numbers: {count}, the first {text!r} in line {line}; they are gaps.",
        column=found.column, count=found.count, text=found.first_text[:40], line=line,
    )  # fmt: skip


def nul_notes(count: int) -> list[Sentence]:
    """What is told of so many NULs at the end of a file that were left out."""
    if not count:
        return []
    told = "The file ends with {count} NUL bytes, as after a crash of the writer; they were left out."
    return [sentence(told, count=count)]


def cut_notes(count: int) -> list[Sentence]:
    """What is told of so many bytes of a last character that is not whole."""
    told = "The file ends within a character, as one that is being written; its {count} bytes were left out."
    return [sentence(told, count=count)] if count else []


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """One metric of one run, in the order it was written."""

    steps: Floats
    values: Floats
    wall: Floats | None = None
    """Seconds since 1970, where known."""


def join_points(parts: Sequence[Points], order: NDArray[np.int64] | None = None) -> Points:
    """The points of one metric out of its parts, one behind the other or in an order of all of them."""
    import numpy as np

    if len(parts) == 1 and order is None:
        return parts[0]  # metrics that share their steps go on sharing them
    whole: slice | NDArray[np.int64] = slice(None) if order is None else order
    steps = np.concatenate([part.steps for part in parts])[whole]
    values = np.concatenate([part.values for part in parts])[whole]
    walls = [part.wall for part in parts if part.wall is not None]
    return Points(steps, values, np.concatenate(walls)[whole] if len(walls) == len(parts) else None)


def gather_points(points: Mapping[str, Mapping[str, Points]]) -> tuple[Numbers, list[str]]:
    """Columns out of single points: run to metric to its points.

    A row for each step of a run; where steps go back, rows of the later part follow, so that a restart is seen. More
    breaks than restarts there can be are a shuffled file: the last point of a step counts. A value that is NaN was
    logged as one. Gives the run of each row.
    """
    import numpy as np

    names = list(dict.fromkeys(name for metrics in points.values() for name in metrics))
    row_of = {name: row for row, name in enumerate(names, 2)}
    blocks: list[Floats] = []
    labels: list[str] = []
    nan_rows: dict[str, list[int]] = {}
    for label, metrics in points.items():
        steps, places = _rows_of(metrics)
        block = np.full((len(names) + 2, len(steps)), np.nan)
        block[0] = steps
        walls: set[int] = set()
        for name, one in metrics.items():
            block[row_of[name], places[name]] = one.values
            if np.isnan(one.values).any():
                said = np.arange(len(steps))[places[name]]
                lost = np.unique(said[np.isnan(block[row_of[name], said])])
                nan_rows.setdefault(name, []).extend((len(labels) + lost).tolist())
            if one.wall is not None and id(one.wall) not in walls:  # metrics of the same records share their times
                walls.add(id(one.wall))
                block[1, places[name]] = np.fmax(block[1, places[name]], one.wall)
        blocks.append(block)
        labels += [label] * len(steps)
    together = blocks[0] if len(blocks) == 1 else np.concatenate([np.empty((len(names) + 2, 0)), *blocks], axis=1)
    numbers = numbers_of(
        ["step", WALL_TIME, *names], together, nan_rows={n: rows for n, rows in nan_rows.items() if rows}
    )
    return replace(numbers, blank=tuple(name for name in numbers.blank if name != WALL_TIME)), labels


def _rows_of(metrics: Mapping[str, Points]) -> tuple[Floats, dict[str, NDArray[np.int64] | slice]]:
    """The step of each row of one run, and the rows of each metric.

    A row is a step of one part; parts follow each other.
    """
    import numpy as np

    # nearly always all metrics are logged at the same steps
    series = {id(one.steps): one.steps for one in metrics.values()}
    low = min((float(own.min()) for own in series.values() if len(own)), default=0.0)
    high = max((float(own.max()) for own in series.values() if len(own)), default=0.0)
    keys = {}
    for place, own in series.items():
        back = own[1:] < own[:-1]
        part = np.concatenate(([0.0], np.cumsum(back))) if 0 < back.sum() <= MOST_RESTARTS else np.zeros(len(own))
        # a part and a step as one number that sorts as they do
        keys[place] = part[: len(own)] * (high - low + 1) + (own - low)
    different = {key.tobytes(): key for key in keys.values()}
    rows = np.unique(np.concatenate(list(different.values()))) if different else np.empty(0)
    steps = np.empty(len(rows))
    places: dict[int, NDArray[np.int64] | slice] = {}
    for place, key in keys.items():
        places[place] = slice(None) if np.array_equal(rows, key) else rows.searchsorted(key).astype("int64")
        steps[places[place]] = series[place]
    return steps, {name: places[id(one.steps)] for name, one in metrics.items()}
