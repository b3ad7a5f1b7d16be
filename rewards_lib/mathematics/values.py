"""Expressions as numbers of high precision: constants, and functions at points drawn from their texts.

Invariant: two expressions are equal only if they agree to 35 digits, relative to their size, wherever both are defined.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from rewards_lib.mathematics.exact import exact_value
from rewards_lib.mathematics.expression import Node, OutOfDomainError, TooLargeError, UnreadableError, arithmetic

DIGITS, MORE_DIGITS = 50, 110
MAX_LOG2 = 2_000_000
"""The largest power, as a logarithm, that is computed."""
_POINTS, _DRAWS = 4, 40


def are_equal(first: Node, second: Node, seed: str) -> bool | None:
    """Compare two expressions as functions of their letters; None when too few points lie in their domain.

    Raises ``TooLargeError`` and ``UnreadableError``.
    """
    letters = sorted(first.symbols() | second.symbols())
    if not letters:
        return agree_at(first, second, {})
    if _has_steps(first) or _has_steps(second):
        is_whole = _COUNTS.issuperset(letters)
        agree = _agree_on_steps(first, second, letters, _WHOLE if is_whole else _GRID)
        if is_whole or not agree:
            return agree
    agreed = 0
    for point in points(letters, seed):
        try:
            if not agree_at(first, second, point):
                return False
        except OutOfDomainError:
            continue
        agreed += 1
        if agreed == _POINTS:
            return True
    return None


_COUNTS = frozenset("nmkN")
"""Letters that count: beside a whole part they stand for whole numbers."""
_WHOLE = [Fraction(number) for number in (*range(1, 15), 20, 27, 35, 48)]
_GRID = [Fraction(top, bottom) for bottom in (1, 2, 3, 4) for top in (-7, -5, -2, -1, 1, 2, 3, 5, 8, 11, 12)]


def _has_steps(node: Node) -> bool:
    return (node.kind == "call" and node.value in ("floor", "ceil")) or any(_has_steps(arg) for arg in node.args)


def _agree_on_steps(first: Node, second: Node, letters: list[str], grid: list[Fraction]) -> bool:
    """Compare where whole parts jump, which points drawn at random never meet."""
    for start in range(len(grid)):
        try:
            point = {letter: grid[(start * (2 * i + 1)) % len(grid)] for i, letter in enumerate(letters)}
            if not agree_at(first, second, point):
                return False
        except OutOfDomainError:
            continue
    return True


def are_proportional(first: Node, second: Node, seed: str) -> bool:
    """Tell whether one expression is a non-zero constant times the other, neither of them being 0 everywhere."""
    letters = sorted(first.symbols())
    if letters != sorted(second.symbols()) or not letters:
        return False
    drawn = points(letters, seed)
    for base in drawn:
        try:
            left, right = _constant_node(first, base), _constant_node(second, base)
            if is_within(left, ZERO, _TINY) or is_within(right, ZERO, _TINY):
                continue
            verdicts = _cross_products(first, second, left, right, [p for p in drawn if p != base])
        except OutOfDomainError:
            continue
        return verdicts
    return False


ZERO = Node("num", Fraction(0))
_TINY = Fraction(1, 10**30)


def _constant_node(node: Node, point: Mapping[str, Fraction]) -> Node:
    """Put numbers in the place of letters."""
    if node.kind == "sym":
        return Node("num", point[node.value])
    return Node(node.kind, node.value, tuple(_constant_node(arg, point) for arg in node.args))


def _cross_products(first: Node, second: Node, left: Node, right: Node, drawn: list[dict[str, Fraction]]) -> bool:
    """Compare ``first * right`` with ``second * left`` at the points."""
    agreed = 0
    for point in drawn:
        try:
            if not agree_at(Node("mul", None, (first, right)), Node("mul", None, (second, left)), point):
                return False
        except OutOfDomainError:
            continue
        agreed += 1
        if agreed == _POINTS:
            return True
    return False


def integration_constant(node: Node) -> str | None:
    """The letter C, K, c or k that an expression of other letters adds; None when there is none."""
    if node.kind != "add":
        return None
    for side, rest in (node.args, node.args[::-1]):
        own = side.value if side.kind == "sym" else None
        if own in ("C", "K", "c", "k") and own not in rest.symbols() and rest.symbols():
            return str(own)
    return integration_constant(node.args[0])


def is_constant_difference(first: Node, second: Node, constants: set[str], seed: str) -> bool:
    """Tell whether two antiderivatives differ by a constant only; the constants' letters count as 0."""
    first, second = (_without(node, constants) for node in (first, second))
    if first.symbols() != second.symbols():
        return False
    difference = Node("add", None, (first, Node("neg", None, (second,))))
    base = next(iter(points(sorted(first.symbols()), seed)))
    shifted = Node("add", None, (second, _constant_node(difference, base)))
    try:
        return bool(are_equal(first, shifted, seed + "+"))
    except OutOfDomainError:
        return False


def _without(node: Node, letters: set[str]) -> Node:
    if node.kind == "sym" and node.value in letters:
        return ZERO
    return Node(node.kind, node.value, tuple(_without(arg, letters) for arg in node.args))


def is_within(first: Node, second: Node, tolerance: Fraction) -> bool:
    """Tell whether two constants differ by the tolerance at most. Raises ``OutOfDomainError``."""
    difference, _ = _difference(first, second, {}, DIGITS, False)
    return bool(difference <= _ratio(tolerance))


def is_moderate(node: Node) -> bool:
    """Tell whether a constant is below ``2**100000``. Raises ``TooLargeError``, ``OutOfDomainError``."""
    from mpmath import mpf

    return bool(abs(numeric_value(node, {})) < mpf(2) ** 100_000)


def points(letters: list[str], seed: str) -> list[dict[str, Fraction]]:
    """Draw points, the same ones for the same seed; later ones are positive and small, for narrow domains."""
    draw = random.Random(seed)  # noqa: S311 -- reproducible, nothing secret
    spans = [(-3000, 3000)] * (_DRAWS // 2) + [(100, 4000)] * (_DRAWS // 4) + [(10, 990)] * (_DRAWS // 4)
    return [{letter: Fraction(draw.randint(*span) * 2 + 1, 2027) for letter in letters} for span in spans]


def agree_at(first: Node, second: Node, point: Mapping[str, Fraction]) -> bool:
    """Tell whether two expressions have the same value at a point. Raises ``OutOfDomainError`` where one has none."""
    is_real = bool(point) and not (_has_imaginary_unit(first) or _has_imaginary_unit(second))
    difference, size = _difference(first, second, point, DIGITS, is_real)
    if difference <= size * _ten(-35):
        return True
    if difference > size * _ten(-10) and size > _ten(-20):
        return False
    finer, size = _difference(first, second, point, MORE_DIGITS, is_real)  # cancellation leaves noise, not a value
    return bool(finer <= size * _ten(-90) or finer < difference * _ten(-45))


def _ten(exponent: int) -> Any:
    from mpmath import mpf

    return mpf(10) ** exponent


def _difference(
    first: Node, second: Node, point: Mapping[str, Fraction], digits: int, is_real: bool
) -> tuple[Any, Any]:
    from mpmath import mp

    with mp.workdps(digits):
        values = [numeric_value(node, point, is_real=is_real) for node in (first, second)]
        return abs(values[0] - values[1]), max(abs(values[0]), abs(values[1]))


def _has_imaginary_unit(node: Node) -> bool:
    return (node.kind == "const" and node.value == "i") or any(_has_imaginary_unit(arg) for arg in node.args)


def numeric_value(node: Node, point: Mapping[str, Fraction], *, is_real: bool = False) -> Any:
    r"""Evaluate an expression in mpmath at the precision in force.

    With ``is_real`` a root or logarithm that leaves the reals is outside the domain: ``\sqrt{1/n}`` and
    ``1/\sqrt n`` differ for negative n only by the branch.
    """
    from mpmath import mp

    match node.kind:
        case "num":
            return _ratio(node.value)
        case "sym":
            return _ratio(point[node.value])
        case "const":
            return _constant(node.value)
    values = [numeric_value(arg, point, is_real=is_real) for arg in node.args]
    plain = arithmetic(node.kind, values)
    if plain is not None:
        return plain
    if node.kind == "pow":
        if not is_real and mp.im(values[0]) == 0 and mp.re(values[0]) < 0:
            sign = _sign_of_odd_root(node.args[1])
            if sign is not None:
                return sign * _power(-values[0], values[1], is_real)
        return _power(values[0], values[1], is_real)
    if node.kind == "fact":
        if abs(values[0]) > 100_000:
            raise TooLargeError
        return _call(mp.factorial, values[0])
    return _function(node, values, is_real)


def _sign_of_odd_root(exponent: Node) -> int | None:
    """The sign of a negative number to an exponent such as 2/3, real in school mathematics; None for others."""
    value = exact_value(exponent)
    if value is None or value.denominator == 1 or value.denominator % 2 == 0:
        return None
    return -1 if value.numerator % 2 else 1


def _ratio(value: Fraction) -> Any:
    from mpmath import mpf

    return mpf(value.numerator) / value.denominator


def _constant(name: str) -> Any:
    from mpmath import mp

    if name == "infty":
        raise UnreadableError(name)
    return {"e": +mp.e, "pi": +mp.pi, "i": mp.mpc(0, 1)}[name]


def _call(function: Any, *values: Any) -> Any:
    try:
        return function(*values)
    except (ValueError, ZeroDivisionError):
        raise OutOfDomainError from None
    except (OverflowError, MemoryError):
        raise TooLargeError from None


def _power(base: Any, exponent: Any, is_real: bool) -> Any:
    from mpmath import mp

    if base == 0:
        if mp.re(exponent) <= 0:
            raise OutOfDomainError
        return mp.mpf(0)
    if abs(exponent) * (abs(mp.log(abs(base), 2)) + 1) > MAX_LOG2:
        raise TooLargeError
    if is_real and base < 0 and not mp.isint(exponent):
        raise OutOfDomainError
    return _call(mp.power, base, exponent)


def _function(node: Node, values: list[Any], is_real: bool) -> Any:
    from mpmath import mp

    name, first = node.value, values[0]
    if abs(first) > MAX_LOG2 and name in ("exp", "sinh", "cosh", "tanh", "sin", "cos", "tan", "cot", "sec", "csc"):
        raise TooLargeError
    if name in ("ln", "log", "lg"):
        return _logarithm(name, values, is_real)
    if name == "root":
        return _root(first, values[1], is_real)
    if name == "binom":
        return _call(mp.binomial, *values) if max(map(abs, values)) < 100_000 else _raise_too_large()
    if name == "abs":
        return abs(first)
    if name in ("floor", "ceil"):
        return _step(name, first)
    if node.args[0].kind == "degree":
        first = first * mp.pi / 180
    mapped = {"arcsin": mp.asin, "arccos": mp.acos, "arctan": mp.atan}.get(name) or getattr(mp, name)
    value = _call(mapped, first)
    if is_real and mp.im(value) != 0:
        raise OutOfDomainError
    return value


def _step(name: str, value: Any) -> Any:
    """A whole part; at this precision nobody can tell it beside a jump."""
    from mpmath import mp

    if mp.im(value) != 0 or 0 < abs(value - mp.nint(value)) < _ten(-25) * max(1, abs(value)):
        raise OutOfDomainError
    return mp.floor(value) if name == "floor" else mp.ceil(value)


def _raise_too_large() -> Any:
    raise TooLargeError


def _logarithm(name: str, values: list[Any], is_real: bool) -> Any:
    from mpmath import mp

    base = values[1] if len(values) > 1 else mp.mpf(10) if name == "lg" else None
    if any(value == 0 or (is_real and value < 0) for value in [values[0], *([base] if base is not None else [])]):
        raise OutOfDomainError
    return mp.log(values[0]) if base is None else _call(lambda: mp.log(values[0]) / mp.log(base))


def _root(radicand: Any, degree: Any, is_real: bool) -> Any:
    from mpmath import mp

    if degree == 0:
        raise OutOfDomainError
    if mp.im(radicand) == 0 and mp.re(radicand) < 0:
        if mp.isint(degree) and int(mp.re(degree)) % 2:  # cube roots of negative numbers are real in school mathematics
            return -_call(mp.root, -mp.re(radicand), int(mp.re(degree)))
        if is_real:
            raise OutOfDomainError
    return mp.sqrt(radicand) if degree == 2 else _power(radicand, 1 / degree, is_real)
