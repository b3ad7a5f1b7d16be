"""Cells as numbers: what counts as a gap, what counts as a number, and what was neither.

Invariant: a cell that is not a number is counted and told with its line and text; it never becomes a number.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rewards_lib.training_metrics.series import Floats

NANS = frozenset({"nan", "-nan", "+nan", "nan(ind)", "-nan(ind)", "1.#ind", "-1.#ind", "1.#qnan", "#nan"})
"""Texts, in lower case, with which programs write a result that is no number."""
GAPS = NANS | {
    "", "-", "--", ".", "—", "?", "na", "n/a", "#n/a", "<na>", "null", "(null)", "\\n", "nil", "none", "nat",
    "undefined",
}  # fmt: skip
"""Texts, in lower case, that say there is no value; ``\\N`` is how databases write it."""

_INFINITE = frozenset({"inf", "infinity", "∞", "1.#inf"})
_WRAPPED = re.compile(r"(?:(?:np|numpy)\.\w+|tensor)\(([^,()\[\]]*)(?:, \w+=[^()]*)?\)", re.ASCII)
"""numpy's ``np.float64(0.5)`` and torch's ``tensor(0.5, device='cuda:0')``."""
_PLAIN_SIGNS = {ord(wide): chr(ord(wide) - 0xFEE0) for wide in "０１２３４５６７８９．，％＋－"} | {
    ord(sign): plain
    for plain, signs in {"-": "\u2212\ufe63", " ": "\u00a0\u2009\u202f\u3000", "'": "\u2019"}.items()
    for sign in signs
}
"""Full-width signs, typographic minus signs, spaces and apostrophes, and what they stand for."""
_GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d*)?", re.ASCII)
_GROUPED_DECIMAL_COMMA = re.compile(r"[+-]?\d{1,3}(?:\.\d{3})+(?:,\d*)?", re.ASCII)
_GROUPED_OTHERWISE = re.compile(r"[+-]?\d{1,3}(?:([ '])\d{3})(?:\1\d{3})*(?:[.,]\d*)?", re.ASCII)
_POINTS_THEN_COMMA = re.compile(r"[+-]?\d{1,3}(?:\.\d{3})+,\d+", re.ASCII)
"""``1.234,5``, which can be nothing else."""
_COMMA_NUMBER = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?\s*%?", re.ASCII)
SWALLOWED_ROW = re.compile(r"[\r\n][^\r\n]*[,;\t|]")
"""A line break and a delimiter inside a cell: a quotation mark stands there that no other closes."""
_PLAIN = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
"""Each digit fits in one place only, or a long cell of digits would take a time that grows with its square."""


@dataclass(frozen=True, slots=True)
class Coercion:
    """Cells of one column that hold something that is no number; they became gaps."""

    column: str
    count: int
    first_row: int
    """From 0."""
    first_text: str
    torn_row: int | None = None
    """The first row whose cell runs over several lines, as it does after a quotation mark that is never closed."""


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
    comma_columns: tuple[str, ...]
    """Columns whose commas are decimal points although commas, or none, divide the cells."""
    nan_rows: Mapping[str, list[int]]
    """Columns of numbers to the rows whose cell says NaN, which is a gap that the trainer wrote."""

    def column(self, name: str) -> Floats:
        """The values of one column."""
        row: Floats = self.values[self.names.index(name)]
        return row


def writes_decimal_commas(cells: Collection[str]) -> bool:
    """Whether commas can be nothing but decimal points: there are some, one at least groups no thousands."""
    grouped = {cell for cell in cells if _POINTS_THEN_COMMA.fullmatch(cell)}
    found = [cell for cell in cells if "," in cell and _COMMA_NUMBER.fullmatch(cell)]
    told = bool(grouped) or any(not _GROUPED.fullmatch(cell) for cell in found)
    return told and not any("." in cell for cell in cells if cell not in grouped)


def numbers_of(
    names: Sequence[str],
    values: Floats,
    *,
    texts: Mapping[str, list[str]] | None = None,
    coercions: Sequence[Coercion] = (),
    comma_columns: Sequence[str] = (),
    nan_rows: Mapping[str, list[int]] | None = None,
) -> Numbers:
    """Numbers with the columns that hold none put aside; ``values`` has one row for each name and is used up."""
    import numpy as np

    texts = texts or {}
    filled = ~np.isnan(np.fmax.reduce(values, axis=1)) if values.size else np.zeros(len(names), "bool")
    kept = np.flatnonzero(filled).tolist()
    for place, origin in enumerate(kept):  # moved up in place: a copy would be a second file in memory
        if place != origin:
            values[place] = values[origin]
    return Numbers(
        tuple(name for name, has in zip(names, filled, strict=True) if has),
        values[: len(kept)],
        texts,
        tuple(name for name, has in zip(names, filled, strict=True) if not has and name not in texts),
        tuple(coercions),
        tuple(comma_columns),
        nan_rows or {},
    )


def parse_cell(text: str, *, decimal_comma: bool = False) -> float | None:
    """The number a stripped cell holds: NaN for a gap, None when it holds something else.

    Understood are ``1,234.5`` (with a decimal comma ``1.234,5``), ``12 345`` and ``12'345``, ``12%`` (0.12), ``1e-5``,
    ``inf``, booleans, full-width digits, a typographic minus, ``np.float64(0.5)`` and ``tensor(0.5)``.

    >>> parse_cell("1,234.5"), parse_cell("12%"), parse_cell("−0.5"), parse_cell("about 3")
    (1234.5, 0.12, -0.5, None)
    """
    if not text.isascii():
        text = text.translate(_PLAIN_SIGNS).strip()
    word = text.lower()
    if word in GAPS:
        return math.nan
    if word in ("true", "false"):
        return float(word == "true")
    if text.endswith(")") and (wrapped := _WRAPPED.fullmatch(text)):
        return parse_cell(wrapped[1].strip())
    if text.endswith("%"):
        number = text[:-1].rstrip()
        share = None if number.endswith("%") else parse_cell(number, decimal_comma=decimal_comma)
        return None if share is None or math.isnan(share) else share / 100
    if word.lstrip("+-") in _INFINITE:
        return -math.inf if word.startswith("-") else math.inf
    plain = _without_groups(text, decimal_comma)
    return float(plain) if _PLAIN.fullmatch(plain) else None


def _without_groups(text: str, decimal_comma: bool) -> str:
    """A number without what groups its thousands, with a decimal point."""
    if _GROUPED_OTHERWISE.fullmatch(text):
        text = re.sub(r"[ ']", "", text)
        return text.replace(",", ".") if decimal_comma else text
    if decimal_comma and "," in text:
        grouped = _GROUPED_DECIMAL_COMMA.fullmatch(text)
        return (text.replace(".", "") if grouped else text).replace(",", ".")
    return text.replace(",", "") if _GROUPED.fullmatch(text) else text
