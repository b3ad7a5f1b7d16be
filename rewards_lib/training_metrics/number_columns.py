"""The columns of a table as numbers, filled part by part, so that a file is held once and not beside its text.

Invariant: what is decided of a column (numbers or text, decimal commas) is decided over all of its cells.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from threading import Lock
from typing import TYPE_CHECKING

from rewards_lib.training_metrics.cells import (
    NANS,
    SWALLOWED_ROW,
    Coercion,
    Numbers,
    numbers_of,
    parse_cell,
    writes_decimal_commas,
)

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import pyarrow as pa
    from numpy.typing import NDArray

    from rewards_lib.training_metrics.series import Floats

GROWTH = 1.5


@dataclass(frozen=True, slots=True, eq=False)
class _TextPart:
    """Neighbouring cells of one column that are not all plain numbers."""

    begin: int
    """The row of the first."""
    codes: NDArray[np.int64]
    """For each cell its place in ``words``; -1 for a blank one."""
    words: list[str]

    @property
    def has_blank(self) -> bool:
        return "" in self.words or bool((self.codes < 0).any())


class NumberColumns:
    """Columns that are being read."""

    def __init__(self, names: Sequence[str], *, decimal_comma: bool = False) -> None:
        import numpy as np

        self.names = list(names)
        self.rows = 0
        self.decimal_comma = decimal_comma
        self._values: Floats = np.empty((len(self.names), 0))
        self._parts: dict[str, list[_TextPart]] = {}
        self._gap_at_end = False
        self._lock = Lock()

    @property
    def has_gap_at_end(self) -> bool:
        """Whether the last column has a blank cell: rows may be short."""
        return self._gap_at_end

    def reserve(self, rows: int) -> None:
        """Make room for so many rows in all."""
        import numpy as np

        if rows > self._values.shape[1]:
            grown = np.empty((len(self.names), rows))
            grown[:, : self.rows] = self._values[:, : self.rows]
            self._values = grown

    def add_plain(self, table: pa.Table) -> bool:
        """Read the next rows if all of their cells are finite or blank; ``table`` has these columns, in order."""
        import numpy as np

        begin, blanks = self.rows, sum(column.null_count for column in table.columns)
        end = begin + table.num_rows
        self._make_room(end)
        room, place = self._values[:, begin:end], 0
        for batch in table.to_batches():
            tensor = batch.to_tensor(null_to_nan=True, row_major=False)
            room[:, place : place + batch.num_rows] = tensor.to_numpy().T
            place += batch.num_rows
        if np.count_nonzero(np.isfinite(room)) + blanks < room.size:
            return False
        self.rows = end
        return True

    def _make_room(self, rows: int) -> None:
        if rows > self._values.shape[1]:
            self.reserve(int(rows * GROWTH))

    def put(self, begin: int, frame: pd.DataFrame) -> None:
        """Set the rows from ``begin`` on; ``frame`` begins with these columns, in order.

        Several threads may, where there is room for the rows of all.
        """
        import numpy as np

        end, width = begin + len(frame), len(self.names)
        self._make_room(end)
        plain = np.array([dtype.kind in "iufb" for dtype in frame.dtypes], dtype="bool")
        parts = {}
        if plain.all():  # taking columns off first would cost more than to read them
            self._values[:, begin:end] = frame.to_numpy(dtype="float64").T[:width]
        else:
            frame, plain = frame.iloc[:, :width], plain[:width]
            self._values[plain, begin:end] = frame.loc[:, plain].to_numpy(dtype="float64").T
            parts = {place: _text_part(frame.iloc[:, place], begin) for place in np.flatnonzero(~plain).tolist()}
        last = parts.get(width - 1)
        gap_at_end = last.has_blank if last else bool(np.isnan(self._values[-1, begin:end]).any())
        with self._lock:
            for place, part in parts.items():
                self._parts.setdefault(self.names[place], []).append(part)
            self.rows = max(self.rows, end)
            self._gap_at_end = self._gap_at_end or gap_at_end

    def drop_rows(self, begin: int) -> None:
        """Forget the rows from this one on, where a part began."""
        self.rows = begin
        for name, parts in self._parts.items():
            self._parts[name] = [part for part in parts if part.begin < begin]

    def numbers(self) -> Numbers:
        """What was read; nothing can be added afterwards."""
        import numpy as np

        values = self._values[:, : self.rows]
        texts: dict[str, list[str]] = {}
        coercions: list[Coercion] = []
        nan_rows: dict[str, list[int]] = {}
        commas: list[str] = []
        for name, row in zip(self.names, values, strict=True):
            parts = sorted(self._parts.get(name, []), key=attrgetter("begin"))
            if not parts:
                continue
            words = {word for part in parts for word in part.words}
            comma = self.decimal_comma or (writes_decimal_commas(words) and not _has_fractions(row, parts))
            parsed = {word: parse_cell(word, decimal_comma=comma) for word in words}
            for part in parts:
                _fill(row, part, parsed)
            no_numbers = {word for word, value in parsed.items() if value is None}
            bad = _rows_where(parts, self.rows, no_numbers.__contains__)
            if len(bad) > int((~np.isnan(row)).sum()):
                texts[name] = _texts(row, parts)
                row[:] = math.nan
                continue
            if comma and not self.decimal_comma:
                commas.append(name)
            if bad:
                coercions.append(_coercion(name, bad, parts))
            if nans := _rows_where(parts, self.rows, lambda word: word.lower() in NANS):
                nan_rows[name] = nans
        return numbers_of(
            self.names, values, texts=texts, coercions=coercions, comma_columns=commas, nan_rows=nan_rows
        )  # fmt: skip


def _text_part(column: pd.Series, begin: int) -> _TextPart:
    import pandas as pd

    codes, words = pd.factorize(column)
    return _TextPart(begin, codes, [word.strip() if isinstance(word, str) else str(word) for word in words])


def _has_fractions(row: Floats, parts: Sequence[_TextPart]) -> bool:
    """Whether numbers with decimal points stand outside of the parts that hold text."""
    import numpy as np

    plain = np.isfinite(row)
    for part in parts:
        plain[part.begin : part.begin + len(part.codes)] = False
    return bool((row[plain] % 1 > 0).any())


def _fill(row: Floats, part: _TextPart, parsed: dict[str, float | None]) -> None:
    import numpy as np

    found = [math.nan if (value := parsed[word]) is None else value for word in part.words]
    held = row[part.begin : part.begin + len(part.codes)]
    held[:] = np.array([*found, math.nan])[part.codes[: len(held)]]


def _rows_where(parts: Sequence[_TextPart], rows: int, wanted: Callable[[str], bool]) -> list[int]:
    """The rows whose cell holds a wanted word."""
    import numpy as np

    found: list[int] = []
    for part in parts:
        is_wanted = np.array([*map(wanted, part.words), False])  # a code of -1 stands for a blank cell
        places = part.begin + np.flatnonzero(is_wanted[part.codes])
        found += places[places < rows].tolist()
    return found


def _word_at(parts: Sequence[_TextPart], row: int) -> str:
    part = next(part for part in parts if part.begin <= row < part.begin + len(part.codes))
    return part.words[int(part.codes[row - part.begin])]


def _coercion(name: str, bad: Sequence[int], parts: Sequence[_TextPart]) -> Coercion:
    torn = next(iter(_rows_where(parts, bad[-1] + 1, lambda word: bool(SWALLOWED_ROW.search(word)))), None)
    return Coercion(name, len(bad), bad[0], _word_at(parts, bad[0]), torn)


def _texts(row: Floats, parts: Sequence[_TextPart]) -> list[str]:
    """Every cell of a column of text; a part that held numbers alone has its numbers written."""
    cells = ["" if math.isnan(value) else f"{value:.15g}" for value in row.tolist()]
    for part in parts:
        held = part.codes[: len(cells) - part.begin]
        cells[part.begin : part.begin + len(held)] = [part.words[code] if code >= 0 else "" for code in held.tolist()]
    return cells
