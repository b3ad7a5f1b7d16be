"""Numbers as texts: reading them exactly, comparing them within a tolerance.

Invariant: arithmetic is exact; a float enters only as the decimal that was typed.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from rewards_lib.extraction import numbers

_MAX_DIGITS = 20_000
_MAX_EXPONENT = 5_000


def read_number(text: str) -> Fraction | None:
    r"""Read a text that is one number as a whole; None when it is not, or is too large to be worth computing.

    >>> read_number("1,234.50"), read_number("3/4"), read_number("50%"), read_number("x")
    (Fraction(2469, 2), Fraction(3, 4), Fraction(1, 2), None)
    """
    text = text.strip()
    first = next(numbers(text), None)
    if first is None or first.text is None or first.span != (0, len(text)) or len(text) > _MAX_DIGITS:
        return None
    spelled = first.text.replace(",", "")
    digits = spelled.rstrip("%").rstrip("\\ ")
    top, _, bottom = digits.partition("/")
    numerator, denominator = _exact(top), _exact(bottom) if bottom else Fraction(1)
    if numerator is None or not denominator:
        return None
    return numerator / denominator / (100 if spelled.endswith("%") else 1)


def _exact(digits: str) -> Fraction | None:
    exponent = digits.lower().partition("e")[2]
    if exponent and (len(exponent) > 6 or abs(int(exponent)) > _MAX_EXPONENT):
        return None
    return Fraction(Decimal(digits))


def is_close(value: Fraction, truth: Fraction, *, abs_tol: float = 0.0, rel_tol: float = 0.0) -> bool:
    """Tell whether ``|value - truth| <= max(abs_tol, rel_tol * |truth|)``, exactly; tolerances count as typed."""
    within = max(Fraction(repr(float(abs_tol))), Fraction(repr(float(rel_tol))) * abs(truth))
    return abs(value - truth) <= within
