r"""Answers that are more than one value: lists, sets, tuples, intervals, matrices, ratios, equations, relations.

Invariant: structures are compared element by element, every element is needed and none may be added.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from rewards_lib.mathematics.text import compact, fold_words, inside, split_top

Compare: TypeAlias = Callable[[str, str], bool | None]
"""Compares two elements: True, False, or None when it cannot tell."""

_EMPTY = re.compile(r"\\emptyset|\\\{\\\}|no(?:real)?(?:solutions?|roots?)|none|无解|空集|无实数?[解根]|noreal")
_UNDEFINED = re.compile(r"undefined|doesnotexist|dne|不存在|无定义|未定义")
_JOIN = (
    r",|;|\\text\{\s*(?:and|or|和|或|及|与)\s*,?\s*\}|\\(?:vee|wedge)(?![A-Za-z])"
    r"|(?<![A-Za-z\\])(?:and|or)(?![A-Za-z])|[和或及与]"
)
_RELATION = r"<=|>=|!=|<|>"
_NAME = r"(?:\\angle ?)?(?:[A-Za-z]{1,3}|\\[a-z]+)(?:_\{?\w+\}?)?'*(?:\([A-Za-z](?:,[A-Za-z])*\))?"
_MEASURE = r"(?=[^=]*[A-Z])(?:[A-Z](?:_\{?\w+\}?)?|[|:/{}\s]|\\(?:frac|angle|triangle|overline)(?![A-Za-z]))+"
"""A measure named by points, as geometry does: ``|AB|``, ``\\frac{NO}{BO}``, ``S_1:S_2``."""
_NAMED = re.compile(rf"\s*(?:{_NAME}|{_MEASURE}|\([A-Za-z](?:\s*,\s*[A-Za-z])+\)|\\text\{{[^{{}}]*\}})\s*")
_LETTER = re.compile(r"-?(?:[A-Za-z]|\\[a-z]+)(?:_\{?\w\}?)?(?:\([a-z]\))?")
_BASE = re.compile(r"\(?([0-9A-Fa-f]+)\)?_\{?(\d+)\}?")
_MATRIX = re.compile(
    r"(?P<factor>.*?)\\begin\{[pbBv]?(?:small)?matrix\}(?P<body>.*)\\end\{[pbBv]?(?:small)?matrix\}", re.DOTALL
)
_BARS = re.compile(r"\\begin\{[vV]matrix\}")


_MANY = 40
"""More elements than that are compared as written: every one against every other would take too long."""


def unordered(first: Sequence[str], second: Sequence[str], compare: Compare) -> bool:
    """Match the elements of two collections, order and repetition aside."""
    spelled = [list({compact(element): element for element in elements}.values()) for elements in (first, second)]
    if max(map(len, spelled)) > _MANY:
        return {compact(element) for element in first} == {compact(element) for element in second}
    wanted, left = (_distinct(elements, compare) for elements in spelled)
    if len(wanted) != len(left):
        return False
    for element in wanted:
        partner = next((other for other in left if compare(element, other)), None)
        if partner is None:
            return False
        left.remove(partner)
    return True


def _distinct(elements: Sequence[str], compare: Compare) -> list[str]:
    kept: list[str] = []
    for element in elements:
        if not any(compare(other, element) for other in kept):
            kept.append(element)
    return kept


def in_order(first: Sequence[str], second: Sequence[str], compare: Compare) -> bool:
    """Match the elements of two sequences one by one."""
    return len(first) == len(second) and all(compare(a, b) for a, b in zip(first, second, strict=True))


# --- words for nothing, bases --------------------------------------------------------------------------------------


def special_value(text: str) -> str | None:
    """Name what is no ordinary value: ``empty``, ``undefined`` or ``all reals``; None for anything else."""
    words = re.sub(r"\s+|\\text|(?<!\\)[{}]", "", fold_words(text))
    if _EMPTY.fullmatch(words) or words == r"\{\}":
        return "empty"
    if _UNDEFINED.fullmatch(words):
        return "undefined"
    return (
        "all reals" if re.fullmatch(r"\\mathbbr|\\r|allrealnumbers|\(?-\\infty,\+?\\infty\)?|全体实数", words) else None
    )


def read_time(text: str) -> str | None:
    """Read a time of day as written: AM or PM, or minutes with a leading zero; None for anything else."""
    words = re.sub(r"[\s.]+", "", fold_words(text))
    return words if re.fullmatch(r"\d{1,2}:(?:0\d|\d\d[ap]m)(?:[ap]m)?", words) else None


def read_base(text: str) -> tuple[str, str] | None:
    """Read ``1011_2`` as (digits, base)."""
    match = _BASE.fullmatch(compact(text))
    return (match[1].lstrip("0").casefold() or "0", match[2]) if match else None


# --- collections ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Collection:
    """Several values that belong together."""

    kind: str
    """``list``, ``set``, ``tuple``, ``interval`` with its brackets, ``union``, ``matrix``, ``ratio``."""
    items: tuple[str, ...]
    shape: tuple[int, ...] = ()


def read_collection(text: str) -> Collection | None:
    """Read a normalised text as a collection; None when it is one value."""
    if (matrix := _read_matrix(text)) is not None:
        return matrix
    parts = split_top(text, r"\\cup(?![A-Za-z])")
    if len(parts) > 1:
        return Collection("union", tuple(parts))
    items = [item for item in split_top(text, _JOIN) if item]
    if len(items) > 1:
        return Collection("list", _expanded(items))
    if (body := inside(text, r"\{", r"\}")) is not None:
        return Collection("set", _expanded([item for item in split_top(body, _JOIN) if item]))
    if (bracketed := _read_bracketed(text)) is not None:
        return bracketed
    if re.search(r"\\pm|\\mp", text) and len(both := _expanded([text])) > 1:
        return Collection("list", both)
    return _read_ratio(text)


def _read_bracketed(text: str) -> Collection | None:
    for opening in ("(", "["):
        for closing in (")", "]"):
            if not (text.startswith(opening) and text.endswith(closing)):
                continue
            body = inside("(" + text[1:-1] + ")", "(", ")")
            items = split_top(body, ",|;") if body is not None else []
            if len(items) > 1:
                kind = "tuple" if opening + closing == "()" else f"interval {opening}{closing}"
                return Collection(kind, tuple(items))
    return None


def _expanded(items: Sequence[str]) -> tuple[str, ...]:
    r"""Write ``\pm a`` as both values."""
    values: list[str] = []
    for item in items:
        if re.search(r"\\pm(?![A-Za-z])", item) and len(re.findall(r"\\pm|\\mp", item)) == 1:
            values += [re.sub(r"\\pm\s*", sign, item) for sign in ("+", "-")]
        else:
            values.append(item)
    return tuple(value.removeprefix("+").strip() for value in values)


def _read_matrix(text: str) -> Collection | None:
    match = _MATRIX.fullmatch(text)
    if match is None or _BARS.search(text):
        return None
    rows = [split_top(row, "&") for row in re.split(r"\\\\(?:\[[^\]]*\])?", match["body"]) if row.strip()]
    if not rows or len({len(row) for row in rows}) != 1:
        return None
    factor = match["factor"].strip().removesuffix("*").strip()
    cells = [f"({factor})*({cell})" if factor not in ("", "-") else f"{factor}({cell})" for row in rows for cell in row]
    return Collection("matrix", tuple(cells), (len(rows), len(rows[0])))


def _read_ratio(text: str) -> Collection | None:
    text = re.sub(r"(?<=\d)\s*(?:\\text\{\s*to\s*\}|\bto\b)\s*(?=\d)", ":", text)
    parts = split_top(text, ":")
    if len(parts) < 2 or not all(parts) or re.search(r":\s*0\d|:\d\d\s*(?:\\text)?\{?\s*[AaPp]\.?[Mm]", text):
        return None
    return Collection("ratio", tuple(parts))


def equal_collections(truth: Collection, answer: Collection, compare: Compare) -> bool:
    """Compare two collections by the rules of their kinds."""
    kinds = {truth.kind, answer.kind}
    if kinds == {"ratio"}:
        return len(truth.items) == len(answer.items) and _proportional(truth.items, answer.items, compare)
    if len(kinds) == 1:
        if truth.kind in ("list", "set", "union"):
            return unordered(truth.items, answer.items, compare)
        return truth.shape == answer.shape and in_order(truth.items, answer.items, compare)
    if kinds == {"list", "set"}:
        return unordered(truth.items, answer.items, compare)
    if kinds == {"list", "tuple"}:
        return in_order(truth.items, answer.items, compare)
    return False


def _proportional(first: Sequence[str], second: Sequence[str], compare: Compare) -> bool:
    pairs = zip(first[1:], second[1:], strict=True)
    return all(compare(f"({first[0]})*({b})", f"({second[0]})*({a})") for a, b in pairs)


# --- equations and relations ---------------------------------------------------------------------------------------


_EQUALS = r"(?<![<>!])=|\\in(?![A-Za-z])"


def name_of(text: str) -> str:
    """The lone name before an equals sign, without blanks; empty when there is none."""
    first = split_top(text, _EQUALS)[0]
    return compact(first) if _NAMED.fullmatch(first) else ""


def without_name(text: str) -> str | None:
    r"""Take a lone name off: ``x = 5``, ``5 = x``, ``f(x) = ..``, ``(x,y) = ..``, ``x \in``; None without one."""
    parts = split_top(text, _EQUALS)
    if len(parts) != 2:
        return None
    if _NAMED.fullmatch(parts[0]):
        return parts[1]
    return parts[0] if _NAMED.fullmatch(parts[1]) else None


def values_of_chain(text: str) -> list[str]:
    r"""The sides of ``x = 2\times5 = 10`` that are values, the lone name left out; all must agree."""
    parts = split_top(text, _EQUALS)
    if _NAMED.fullmatch(parts[0]):
        return parts[1:]
    return parts[:-1] if len(parts) == 2 and _NAMED.fullmatch(parts[1]) else parts


_SET_BUILDER = re.compile(r"\\\{\s*[A-Za-z]\s*(?:\\in\s*(?:\\mathbb\s*\{?R\}?|\\R)\s*)?[|:](?P<condition>.+)\\\}")


def without_builder(text: str) -> str:
    r"""Write ``\{x | x > 2\}`` as its condition; anything else stays as it is."""
    match = _SET_BUILDER.fullmatch(text)
    return match["condition"].strip() if match else text


def equation_sides(text: str) -> tuple[str, str] | None:
    """Cut an equation at its only equals sign; None when it has none or several."""
    parts = split_top(text, r"(?<![<>!])=")
    return (parts[0], parts[1]) if len(parts) == 2 and all(parts) else None


_FLIPPED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "!=": "!="}


def read_relation(text: str) -> tuple[list[str], list[str]] | None:
    """Cut a relation into sides and signs; None when there is no sign."""
    sides = split_top(text, _RELATION)
    if len(sides) < 2 or not all(sides):
        return None
    return sides, re.findall(_RELATION, text)


def both_ways(relation: tuple[list[str], list[str]]) -> list[tuple[list[str], list[str]]]:
    """A relation as it stands and read from the right."""
    sides, signs = relation
    return [(sides, signs), (sides[::-1], [_FLIPPED[sign] for sign in signs[::-1]])]


def as_interval(text: str) -> str | None:
    r"""Write a relation that bounds a lone letter as an interval: ``3 < x`` as ``(3,\infty)``.

    A sign before the letter is allowed (``-x > -1``), a factor is unsolved work.
    """
    relation = read_relation(text)
    if relation is None or "!=" in relation[1]:
        return None
    sides, signs = relation
    if len(sides) == 2 and not _is_letter(sides[0]):
        sides, signs = [sides[1], sides[0]], [_FLIPPED[signs[0]]]
    if len(sides) == 2 and _is_letter(sides[0]):
        value, sign = sides[1], signs[0]
        if sides[0].startswith("-"):
            value, sign = f"-({value})", _FLIPPED[sign]
        if sign[0] == "<":
            return f"(-\\infty,{value}{']' if '=' in sign else ')'}"
        return f"{'[' if '=' in sign else '('}{value},\\infty)"
    if len(sides) == 3 and _is_letter(sides[1]) and not sides[1].startswith("-") and signs[0][0] == signs[1][0]:
        if signs[0][0] == ">":
            sides, signs = sides[::-1], [_FLIPPED[sign] for sign in signs[::-1]]
        return f"{'[' if '=' in signs[0] else '('}{sides[0]},{sides[2]}{']' if '=' in signs[1] else ')'}"
    return None


def _is_letter(text: str) -> bool:
    return (
        re.fullmatch(r"-?(?:[A-Za-z]|\\[a-z]+)(?:_\{?\w\}?)?(?:\([a-z]\))?", text.strip()) is not None
        and "infty" not in text
    )
