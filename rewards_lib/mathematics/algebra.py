"""The last layer: computer algebra, for what the project's own parser does not read.

Invariant: a formula counts only when it was read as a whole, and nothing is rounded on the way to "equal". It may take
long or much memory: whoever calls it runs in a worker that can be stopped.
"""

from __future__ import annotations

import logging
import re
from typing import Any

_DIGITS = 50
_MAX_CHARACTERS = 2_000


def are_equal(truth: str, answer: str) -> bool | None:
    """Compare two normalised texts by sympy; None when the ground truth cannot be read."""
    wanted = _read(truth)
    if wanted is None:
        return None
    found = _read(answer)
    if found is None or wanted.free_symbols != found.free_symbols:
        return False
    return _agree(wanted, found)


def _read(text: str) -> Any:
    """Read a text, whole, as a sympy expression; None when it is none."""
    from latex2sympy2_extended import latex2sympy
    from sympy import Expr

    if len(text) > _MAX_CHARACTERS or "\\text" in text or re.search(r"\d_|'|\\approx|≈", text):
        return None
    logging.getLogger("latex2sympy2_extended").setLevel(logging.CRITICAL)
    try:
        expression = latex2sympy(text)
    except Exception:  # noqa: BLE001 -- the parser raises bare Exception for a syntax error
        return None
    return expression if isinstance(expression, Expr) else None


def _agree(wanted: Any, found: Any) -> bool:
    from sympy import N, SympifyError, nan, oo, zoo

    try:
        difference = (wanted.doit() - found.doit()).doit()
        if difference == 0:
            return True
        if difference.free_symbols:
            return bool(difference.equals(0))
        value, size = N(difference, _DIGITS), abs(N(wanted.doit(), _DIGITS))
        if value in (nan, oo, -oo, zoo) or not value.is_number:
            return False
        return bool(abs(value) <= size * N(10, _DIGITS) ** -35)
    except (
        SympifyError,
        ValueError,
        TypeError,
        AttributeError,
        ArithmeticError,
        LookupError,
        NotImplementedError,
        RecursionError,
    ):
        return False
