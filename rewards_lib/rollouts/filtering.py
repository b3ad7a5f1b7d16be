"""A filter over scored rollouts: ``reward < 0.5 and "box" in text``, read without running anything.

Invariant: a filter is either understood whole or refused with the place and the known names; a value that is absent
(an unscored reward) meets no comparison but ``== null`` and ``!= null``.
"""

from __future__ import annotations

import ast
import difflib
import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from rewards_lib.contract import Sample
from rewards_lib.errors import InputError
from rewards_lib.rollouts.rollout import Rollout
from rewards_lib.rollouts.scored_file import ScoredFile

Value: TypeAlias = Any
Row: TypeAlias = Mapping[str, Value]
_Test: TypeAlias = Callable[[Row], Value]

NUMBERS = ("reward", "length", "line", "advantage")
TEXTS = ("group", "id", "text", "prompt", "answer", "error")
MOST_CHARACTERS = 1000
_READ_AT_ONCE = 2048
_CONSTANTS = {"null": None, "none": None, "true": True, "false": False}
_COMPARISONS: dict[type[ast.cmpop], Callable[[Value, Value], bool]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip
_ARITHMETIC: dict[type[ast.operator], Callable[[Value, Value], Value]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter that was understood."""

    test: _Test
    names: frozenset[str]
    """What it looks at."""

    @property
    def needs_text(self) -> bool:
        """Whether the rollouts themselves have to be read: the columns do not hold what it asks for."""
        return any(name in TEXTS[1:] or name.startswith("extra.") for name in self.names)


def read_filter(text: str, rules: Sequence[str]) -> Filter:
    """Read a filter over ``reward``, ``length``, ``text``, ``extra.FIELD`` and more, and the rules by their names.

    Words without any sign are looked for in the text. Raises InputError with the column of what is not understood.

    >>> read_filter("reward < 0.5 and extra.level == 2", ["format"]).names == {"reward", "extra.level"}
    True
    """
    text = text.strip()
    if len(text) > MOST_CHARACTERS:
        raise InputError("The filter has more than {most} characters.", most=MOST_CHARACTERS)
    known = (*NUMBERS, *TEXTS, *rules)
    if text.replace(" ", "").isalnum() and not {*text.lower().split()} & {*known, "and", "or", "not", "in"}:
        return Filter(_contains(text), frozenset({"text"}))
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        column = getattr(error, "offset", None) or 1
        raise _refused("The filter cannot be read from column {column} on.", column, known) from None
    names: set[str] = set()
    test = _Reader(known, names).read(tree.body)
    return Filter(test, frozenset(names))


def _contains(words: str) -> _Test:
    wanted = words.lower()
    return lambda row: wanted in str(row["text"]).lower()


def _refused(problem: str, column: int, known: Sequence[str], **values: Any) -> InputError:
    return InputError(
        problem, column=column, **values,
        remedy="Known are {known} and extra.FIELD, with and, or, not, in, < <= > >= == != and texts in quotes.",
        known=", ".join(known),
    )  # fmt: skip


class _Reader:
    """Turns a syntax tree into a test; what it does not know it refuses."""

    def __init__(self, known: Sequence[str], names: set[str]) -> None:
        self._known = known
        self._names = names

    def read(self, node: ast.expr) -> _Test:
        """The test of a node."""
        if isinstance(node, ast.BoolOp):
            parts = [self.read(part) for part in node.values]
            every = isinstance(node.op, ast.And)
            return lambda row: (all if every else any)(bool(part(row)) for part in parts)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
            inner, negates = self.read(node.operand), isinstance(node.op, ast.Not)
            return lambda row: (not inner(row)) if negates else _calculate(operator.sub, 0, inner(row))
        if isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
            one, other, how = self.read(node.left), self.read(node.right), _ARITHMETIC[type(node.op)]
            return lambda row: _calculate(how, one(row), other(row))
        if isinstance(node, ast.Compare):
            return self._comparison(node)
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float, str, bool, type(None))):
            value = node.value
            return lambda _row: value
        return self._name(node)

    def _comparison(self, node: ast.Compare) -> _Test:
        sides = [self.read(side) for side in (node.left, *node.comparators)]
        tests = list(zip(node.ops, sides, sides[1:], strict=False))
        if any(not isinstance(op, (ast.Eq, ast.NotEq, ast.In, ast.NotIn)) and type(op) not in _COMPARISONS
               for op, *_ in tests):  # fmt: skip
            raise self._unknown(node)
        return lambda row: all(_compare(op, one(row), other(row)) for op, one, other in tests)

    def _name(self, node: ast.expr) -> _Test:
        name = _dotted(node)
        if name is not None and name.lower() in _CONSTANTS:
            value = _CONSTANTS[name.lower()]
            return lambda _row: value
        if name is None:
            raise self._unknown(node)
        if name not in self._known and not name.startswith("extra."):
            near = difflib.get_close_matches(name, self._known, 1)
            hint = "Column {column}: there is no {name}; the nearest is {near}."
            plain = "Column {column}: there is no {name}."
            raise _refused(
                hint if near else plain, node.col_offset + 1, self._known, name=name, near=near[0] if near else ""
            )
        self._names.add(name)
        return lambda row: row.get(name)

    def _unknown(self, node: ast.expr) -> InputError:
        return _refused(
            "Column {column}: {text} cannot stand in a filter.", node.col_offset + 1, self._known,
            text=ast.unparse(node)[:40],
        )  # fmt: skip


def _dotted(node: ast.expr) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        front = _dotted(node.value)
        return None if front is None else f"{front}.{node.attr}"
    return None


def _calculate(how: Callable[[Value, Value], Value], one: Value, other: Value) -> Value:
    try:
        return None if one is None or other is None else how(one, other)
    except (TypeError, ZeroDivisionError, OverflowError):
        return None


def _compare(op: ast.cmpop, one: Value, other: Value) -> bool:
    if isinstance(op, ast.Eq):
        return bool(one == other)
    if isinstance(op, ast.NotEq):
        return bool(one != other)
    if isinstance(op, (ast.In, ast.NotIn)):
        found = str(one).lower() in str(other).lower() if one is not None and other is not None else False
        return found is isinstance(op, ast.In)
    if one is None or other is None:
        return False
    try:
        return _COMPARISONS[type(op)](one, other)
    except TypeError:
        return False


def select(scored: ScoredFile, wanted: Filter, advantage: Sequence[float]) -> list[int]:
    """The places of the rollouts that a filter lets through, in the order of the file.

    ``advantage`` has one entry a rollout. The file is read only when the columns do not hold what the filter asks for.
    """
    return [place for place, row in enumerate(_rows(scored, wanted, advantage)) if wanted.test(row)]


def _rows(scored: ScoredFile, wanted: Filter, advantage: Sequence[float]) -> Iterator[dict[str, Value]]:
    table = scored.table
    columns: dict[str, Any] = {
        "reward": table.rewards, "length": table.lengths, "line": table.lines, "advantage": advantage, **table.rules,
    }  # fmt: skip
    used = {name: column for name, column in columns.items() if name in wanted.names}
    count = len(table.rewards)
    for begin in range(0, count, _READ_AT_ONCE):
        places = range(begin, min(begin + _READ_AT_ONCE, count))
        rollouts: Sequence[Rollout | None] = scored.read(places) if wanted.needs_text else [None] * len(places)
        for place, rollout in zip(places, rollouts, strict=True):
            row: dict[str, Value] = {name: _number(column[place]) for name, column in used.items()}
            row["group"] = table.groups[int(table.group_of[place])]
            yield row if rollout is None else row | _texts(rollout, wanted.names)


def _number(value: Any) -> float | None:
    number = float(value)
    return None if math.isnan(number) else number


def _texts(rollout: Rollout, names: frozenset[str]) -> dict[str, Value]:
    extra = rollout.sample.get("extra") or {}
    row: dict[str, Value] = {
        "id": rollout.id, "text": rollout.text, "answer": extra.get("answer"), "prompt": prompt_text(rollout),
        "error": rollout.recorded.error if rollout.recorded else "",
    }  # fmt: skip
    for name in names:
        if name.startswith("extra."):
            value: Any = extra
            for part in name.split(".")[1:]:
                value = value.get(part) if isinstance(value, dict) else None
            row[name] = value
    return row


def prompt_text(rollout: Rollout) -> str:
    """The text of the sample's last user message."""
    return Sample.from_json(rollout.sample).prompt
