r"""Matrices: their cells as texts, what sums and products of them come to, and determinants as expressions.

Invariant: nothing is computed here but which cells go together; the cells are compared as expressions later.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import permutations

from rewards_lib.mathematics.expression import TooLargeError
from rewards_lib.mathematics.text import inside, split_top

_KIND = r"\{(?:small)?[pbB]?matrix\}"
_MATRIX = re.compile(rf"\\begin{_KIND}(?P<body>(?:(?!\\begin).)*?)\\end{_KIND}", re.DOTALL)
_DETERMINANT = re.compile(r"\\begin\{vmatrix\}(?P<body>(?:(?!\\begin).)*?)\\end\{vmatrix\}", re.DOTALL)
_TRANSPOSED = re.compile(r"\^\s*\{?\s*(?:T|\\top|\\mathsf ?\{?T\}?|\\intercal)\s*\}?")
_MAX_CELLS = 400
_MAX_CHARACTERS = 20_000
"""Of all cells of a product together: they double with each factor."""
_MAX_DETERMINANT = 3


@dataclass(frozen=True, slots=True)
class Matrix:
    """The cells row by row, as texts."""

    rows: tuple[tuple[str, ...], ...]

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""
        return len(self.rows), len(self.rows[0])

    @property
    def cells(self) -> tuple[str, ...]:
        """All cells, row by row."""
        return tuple(cell for row in self.rows for cell in row)


def read_matrix(text: str) -> Matrix | None:
    r"""Read a normalised text as a matrix: one, a multiple, a sum or a product of some, or ``[[1,2],[3,4]]``.

    Raises ``TooLargeError`` for a product whose cells grow too long.
    """
    if r"\begin" not in text:
        return _read_nested_brackets(text)
    matches = list(_MATRIX.finditer(text))
    tail = text[matches[-1].end() :].strip() if matches else "?"
    if len(matches) == 1 and _TRANSPOSED.fullmatch(tail):
        matrix = read_matrix(text[: matches[0].end()])
        return Matrix(tuple(zip(*matrix.rows, strict=True))) if matrix else None
    if tail:
        return None
    total: Matrix | None = None
    term: Matrix | None = None
    position = 0
    for match in matches:
        gap, matrix = text[position : match.start()].strip(), _read_rows(match["body"])
        position = match.end()
        if matrix is None or gap[1:].rstrip().endswith(("+", "-")):
            return None
        if term is not None and gap in ("", "*"):
            term = _product(term, matrix)
        elif term is None or gap.startswith(("+", "-")):
            total = _sum(total, term)
            term = _multiple(gap.removesuffix("*").strip().removeprefix("+"), matrix)
        else:
            return None
        if term is None or (total is not None and total.shape != term.shape):
            return None
    return _sum(total, term)


def _read_rows(body: str) -> Matrix | None:
    rows = [split_top(row, "&") for row in re.split(r"\\\\(?:\[[^\]]*\])?|\\cr(?![A-Za-z])", body) if row.strip()]
    if not rows or len({len(row) for row in rows}) != 1 or len(rows) * len(rows[0]) > _MAX_CELLS:
        return None
    return Matrix(tuple(map(tuple, rows)))


def _read_nested_brackets(text: str) -> Matrix | None:
    body = inside(text, "[", "]") if text.startswith("[[") else None
    rows = [inside(row, "[", "]") for row in split_top(body, ",")] if body else []
    if not rows or None in rows:
        return None
    cells = [tuple(split_top(str(row), ",")) for row in rows]
    return Matrix(tuple(cells)) if len({len(row) for row in cells}) == 1 else None


def _multiple(factor: str, matrix: Matrix) -> Matrix:
    if factor in ("", "-"):
        return Matrix(tuple(tuple(f"{factor}({cell})" for cell in row) for row in matrix.rows))
    return Matrix(tuple(tuple(f"({factor})*({cell})" for cell in row) for row in matrix.rows))


def _sum(first: Matrix | None, second: Matrix | None) -> Matrix | None:
    if first is None or second is None:
        return first or second
    pairs = zip(first.rows, second.rows, strict=True)
    return Matrix(tuple(tuple(f"{a}+({b})" for a, b in zip(*rows, strict=True)) for rows in pairs))


def _product(first: Matrix, second: Matrix) -> Matrix | None:
    (rows, inner), (height, columns) = first.shape, second.shape
    if inner != height or rows * columns * inner > _MAX_CELLS:
        return None
    if columns * sum(map(len, first.cells)) + rows * sum(map(len, second.cells)) > _MAX_CHARACTERS:
        raise TooLargeError
    return Matrix(
        tuple(
            tuple("+".join(f"({row[k]})*({second.rows[k][column]})" for k in range(inner)) for column in range(columns))
            for row in first.rows
        )
    )


def without_determinants(text: str) -> str:
    r"""Write the determinants of a text, up to three by three, as expressions.

    >>> without_determinants(r"\begin{vmatrix}1&2\\3&4\end{vmatrix}")
    '(+(1)*(4)-(2)*(3))'
    """
    return _DETERMINANT.sub(_expanded, text) if "{vmatrix}" in text else text


def _expanded(match: re.Match[str]) -> str:
    matrix = _read_rows(match["body"])
    if matrix is None or matrix.shape[0] != matrix.shape[1] or matrix.shape[0] > _MAX_DETERMINANT:
        return match[0]
    terms = []
    for order in permutations(range(matrix.shape[0])):
        swaps = sum(a > b for i, a in enumerate(order) for b in order[i + 1 :])
        factors = "*".join(f"({row[column]})" for row, column in zip(matrix.rows, order, strict=True))
        terms.append(("-" if swaps % 2 else "+") + factors)
    return f"({''.join(terms)})"
