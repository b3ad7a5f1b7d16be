"""Cells as numbers: what counts as a gap, what counts as a number, and what was neither.

Invariant: a cell that is not a number is counted and told with its line and text; it never becomes a number.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

GAPS = frozenset({"", "-", "--", ".", "na", "n/a", "null", "none", "nan"})
"""Texts, in lower case, that say there is no value."""

_INFINITE = {"inf": math.inf, "infinity": math.inf}
_WRAPPED = re.compile(r"(?:np|numpy)\.\w+\((.*)\)")
_GROUPED = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d*)?", re.ASCII)
_GROUPED_DECIMAL_COMMA = re.compile(r"[+-]?\d{1,3}(?:\.\d{3})+(?:,\d*)?", re.ASCII)
_PLAIN = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Column:
    """One column after every cell has been looked at."""

    numbers: pd.Series
    """Numbers, with NaN for a gap; infinities stay. For a text column: its texts."""
    is_text: bool = False
    """More than half of the cells that hold something are no numbers."""
    coerced: int = 0
    """How many cells hold something that is no number; they are gaps."""
    first_row: int = -1
    """The row, from 0, of the first of them."""
    first_text: str = ""
    nan_cells: int = 0
    """How many cells say NaN, which is a gap that the trainer wrote."""


def read_column(column: pd.Series, *, decimal_comma: bool = False) -> Column:
    """Read one column of a table as numbers; see ``parse_cell`` for what a number may look like."""
    import pandas as pd

    if pd.api.types.is_bool_dtype(column.dtype):
        return Column(column.astype("float64"))
    if pd.api.types.is_numeric_dtype(column.dtype):
        return Column(column)
    filled = column.dropna().astype("object").map(str).str.strip()
    texts = list(dict.fromkeys(filled))
    values = {text: parse_cell(text, decimal_comma=decimal_comma) for text in texts}
    said = filled[filled.map(lambda text: text.lower() not in GAPS).astype(bool)]
    bad = said[said.map(lambda text: values[text] is None).astype(bool)]
    if 2 * len(bad) > len(said):
        return Column(filled.reindex(column.index), is_text=True)
    numbers = filled.map(values).astype("float64").reindex(column.index)
    first = (int(bad.index[0]), str(bad.iloc[0])) if len(bad) else (-1, "")
    nan_cells = int((filled.str.lower() == "nan").sum())
    return Column(numbers, False, len(bad), *first, nan_cells)


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
