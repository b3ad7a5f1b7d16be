r"""The exact rational value of an expression, where it has one.

Invariant: work is bounded before it is done. The bits of a result are estimated first, so that a tower such as
``10^{10^{10}}`` costs nothing.
"""

from __future__ import annotations

import math
from fractions import Fraction

from rewards_lib.mathematics.expression import Node, OutOfDomainError, TooLargeError, arithmetic

MAX_BITS = 200_000
MAX_FACTORIAL = 5_000
_MAX_ROOT_BITS = 10_000


def exact_value(node: Node) -> Fraction | None:
    """The rational value of an expression, None when it has none that is certain. Raises ``TooLargeError``.

    A division by zero raises ``OutOfDomainError``.
    """
    if node.kind == "num":
        value: Fraction = node.value
        return value
    operands = [exact_value(arg) for arg in node.args]
    values = [operand for operand in operands if operand is not None]
    if len(values) < len(operands) or node.kind in ("sym", "const"):
        return None
    return _bounded(_exact_operation(node, values))


def _exact_operation(node: Node, values: list[Fraction]) -> Fraction | None:
    plain: Fraction | None = arithmetic(node.kind, values)
    if plain is not None:
        return plain
    if node.kind == "pow":
        return _exact_power(values[0], values[1])
    if node.kind == "fact":
        return _exact_factorial(values[0])
    return _exact_call(node.value, values)


def _bounded(value: Fraction | None) -> Fraction | None:
    if value is not None and value.numerator.bit_length() + value.denominator.bit_length() > MAX_BITS:
        raise TooLargeError
    return value


def _exact_power(base: Fraction, exponent: Fraction) -> Fraction | None:
    if exponent.denominator != 1:
        root = _exact_root(base, exponent.denominator) if exponent.denominator <= 64 else None
        return None if root is None else _exact_power(root, Fraction(exponent.numerator))
    if base == 0 and exponent <= 0:
        raise OutOfDomainError
    if abs(base) != 1 and base != 0:
        bits = max(base.numerator.bit_length(), base.denominator.bit_length())
        if abs(exponent) * bits > MAX_BITS:
            raise TooLargeError
        return base**exponent.numerator
    return base if exponent.numerator % 2 or base >= 0 else -base


def _exact_root(base: Fraction, degree: int) -> Fraction | None:
    if base < 0:  # the odd roots of negative numbers are real in school mathematics
        root = _exact_root(-base, degree) if degree % 2 else None
        return None if root is None else -root
    if max(base.numerator.bit_length(), base.denominator.bit_length()) > _MAX_ROOT_BITS:
        return None
    top, bottom = _integer_root(base.numerator, degree), _integer_root(base.denominator, degree)
    return Fraction(top, bottom) if top is not None and bottom else None


def _integer_root(value: int, degree: int) -> int | None:
    """The exact root of a natural number, None when it is none; by Newton's method on integers."""
    if value < 2:
        return value
    guess = 1 << (value.bit_length() + degree - 1) // degree
    while True:
        better = ((degree - 1) * guess + value // guess ** (degree - 1)) // degree
        if better >= guess:
            return guess if guess**degree == value else None
        guess = better


def _exact_factorial(value: Fraction) -> Fraction | None:
    if value.denominator != 1 or value < 0:
        return None
    if value > MAX_FACTORIAL:
        raise TooLargeError
    return Fraction(math.factorial(value.numerator))


def _exact_call(name: str, values: list[Fraction]) -> Fraction | None:
    if name == "abs":
        return abs(values[0])
    if name in ("floor", "ceil"):
        return Fraction(math.floor(values[0]) if name == "floor" else math.ceil(values[0]))
    if name == "root" and values[1].denominator == 1 and 1 < values[1] <= 64:
        return _exact_root(values[0], values[1].numerator)
    if name == "binom" and all(v.denominator == 1 and v >= 0 for v in values):
        return _exact_binomial(values[0].numerator, values[1].numerator)
    return None


def _exact_binomial(total: int, chosen: int) -> Fraction | None:
    fewer = min(chosen, abs(total - chosen))
    if total > MAX_FACTORIAL and chosen <= total and fewer * total.bit_length() > MAX_BITS:
        return None
    return Fraction(math.comb(total, fewer if chosen <= total else chosen))


# --- sizes ---------------------------------------------------------------------------------------------------------

_ENDLESS = 1e18
"""Logarithms are cut here: what is larger is simply too large."""


def is_beyond_limits(node: Node) -> bool:
    """Tell whether an expression is certainly larger, up to its sign, than anything that ``exact_value`` computes."""
    while node.kind == "neg":
        node = node.args[0]
    size = _log2_floor(node)
    return size is not None and size > 2 * MAX_BITS


def _log2_floor(node: Node) -> float | None:
    """A lower bound of the logarithm of a positive value; None where it is not known to be positive."""
    if node.kind == "num":
        return math.log2(node.value.numerator) - math.log2(node.value.denominator) if node.value > 0 else None
    if node.kind in ("const", "sym"):
        return {"e": 1.44, "pi": 1.65}.get(node.value) if node.kind == "const" else None
    sizes = [_log2_floor(arg) for arg in node.args]
    first, second = sizes[0], sizes[-1]
    if first is None or second is None:
        return None
    match node.kind:
        case "add":
            return max(first, second)
        case "mul":
            return min(first + second, _ENDLESS)
        case "pow":
            return min(first * 2 ** min(second, 60), _ENDLESS) if first > 0 else None
        case "fact":
            return min((first - 1.5) * 2 ** min(first, 60), _ENDLESS) if first > 2 else None
    return None


def is_short(value: Fraction) -> bool:
    """Tell whether a value has few digits, so that it can be shown."""
    return max(value.numerator.bit_length(), value.denominator.bit_length()) <= 128
