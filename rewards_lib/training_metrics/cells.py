"""Cells as numbers: what counts as a gap, what counts as a number, and what was neither.

Invariant: a cell that is not a number is counted and told with its line and text; it never becomes a number.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from rewards_lib.training_metrics.series import Floats

GAPS = frozenset({"", "-", "--", ".", "na", "n/a", "null", "none", "nan"})
"""Texts, in lower case, that say there is no value."""

_INFINITE = {"inf": math.inf, "infinity": math.inf}
_WRAPPED = re.compile(r"(?:np|numpy)\.\w+\((.*)\)")
_GROUPED = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d*)?", re.ASCII)
_GROUPED_DECIMAL_COMMA = re.compile(r"[+-]?\d{1,3}(?:\.\d{3})+(?:,\d*)?", re.ASCII)
_PLAIN = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Coercion:
    """Cells of one column that hold something that is no number; they became gaps."""

    column: str
    count: int
    first_row: int
    """From 0."""
    first_text: str


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """The columns of a table that hold numbers, and what became of the others."""

    names: tuple[str, ...]
    """In the order of the file."""
    values: Floats
    """One row for each name, one column for each row of the file; NaN is a gap, infinities stay."""
    texts: Mapping[str, list[str]]
    """Columns of which more than half of the cells are no numbers: their cells, empty for a gap."""
    blank: tuple[str, ...]
    """Columns without any value."""
    coercions: tuple[Coercion, ...]
    nan_rows: Mapping[str, list[int]]
    """Columns of numbers to the rows whose cell says NaN, which is a gap that the trainer wrote."""

    def column(self, name: str) -> Floats:
        """The values of one column."""
        row: Floats = self.values[self.names.index(name)]
        return row


def read_cells(frame: pd.DataFrame, *, decimal_comma: bool = False) -> Numbers:
    """Read every cell of a table as a number; see ``parse_cell`` for what a number may look like."""
    import numpy as np

    plain = np.array([dtype.kind in "iufb" for dtype in frame.dtypes])
    values: Floats = (frame if plain.all() else frame.loc[:, plain]).to_numpy(dtype="float64").T
    if not plain.all():
        values, numeric = np.empty(frame.shape[::-1]), values
        values[plain] = numeric
    texts: dict[str, list[str]] = {}
    coercions, nan_rows = [], {}
    names = [str(name) for name in frame.columns]
    for place in np.flatnonzero(~plain).tolist():
        name, column = names[place], frame[names[place]]
        cells = [cell.strip() if isinstance(cell, str) else str(cell) for cell in column.where(column.notna(), "")]
        parsed = {cell: parse_cell(cell, decimal_comma=decimal_comma) for cell in set(cells)}
        bad = [row for row, cell in enumerate(cells) if parsed[cell] is None]
        said = sum(cell.lower() not in GAPS for cell in cells)
        if 2 * len(bad) > said:
            texts[name] = cells
            values[place] = math.nan
            continue
        values[place] = [math.nan if (value := parsed[cell]) is None else value for cell in cells]
        if bad:
            coercions.append(Coercion(name, len(bad), bad[0], cells[bad[0]]))
        if nans := [row for row, cell in enumerate(cells) if cell.lower() == "nan"]:
            nan_rows[name] = nans
    return numbers_of(names, values, texts=texts, coercions=coercions, nan_rows=nan_rows)


def numbers_of(
    names: Sequence[str],
    values: Floats,
    *,
    texts: Mapping[str, list[str]] | None = None,
    coercions: Sequence[Coercion] = (),
    nan_rows: Mapping[str, list[int]] | None = None,
) -> Numbers:
    """Numbers with the columns that hold none put aside; ``values`` has one row for each name."""
    import numpy as np

    texts = texts or {}
    filled = ~np.isnan(np.fmax.reduce(values, axis=1)) if values.size else np.zeros(len(names), "bool")
    return Numbers(
        tuple(name for name, has in zip(names, filled, strict=True) if has),
        values if filled.all() else values[filled],
        texts,
        tuple(name for name, has in zip(names, filled, strict=True) if not has and name not in texts),
        tuple(coercions),
        nan_rows or {},
    )


def parse_cell(text: str, *, decimal_comma: bool = False) -> float | None:
    """The number a stripped cell holds: NaN for a gap, None when it holds something else.

    Understood are ``1,234.5`` (with a decimal comma ``1.234,5``), ``12%`` (0.12), ``1e-5``, ``inf``, booleans and
    numpy's ``np.float64(0.5)``.

    >>> parse_cell("1,234.5"), parse_cell("12%"), parse_cell("about 3")
    (1234.5, 0.12, None)
    """
    word = text.lower()
    if word in GAPS:
        return math.nan
    if word in ("true", "false"):
        return float(word == "true")
    if wrapped := _WRAPPED.fullmatch(text):
        return parse_cell(wrapped[1])
    if word.endswith("%"):
        share = parse_cell(text[:-1].rstrip(), decimal_comma=decimal_comma)
        return None if share is None or math.isnan(share) else share / 100
    if word.lstrip("+-") in _INFINITE:
        return -math.inf if word.startswith("-") else math.inf
    if decimal_comma and "," in text:
        grouped = _GROUPED_DECIMAL_COMMA.fullmatch(text)
        text = (text.replace(".", "") if grouped else text).replace(",", ".")
    elif _GROUPED.fullmatch(text):
        text = text.replace(",", "")
    return float(text) if _PLAIN.fullmatch(text) else None
