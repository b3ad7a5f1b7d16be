r"""Answers that are more than one value: lists, sets, tuples, intervals, matrices, ratios.

Invariant: structures are compared element by element, every element is needed and none may be added.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from rewards_lib.mathematics.matrices import read_matrix
from rewards_lib.mathematics.relations import name_of
from rewards_lib.mathematics.text import JOIN, compact, fold_words, inside, split_top

Compare: TypeAlias = Callable[[str, str], bool | None]
"""Compares two elements: True, False, or None when it cannot tell."""

_EMPTY = re.compile(
    r"\\emptyset|\\\{\\\}|(?:there(?:is|are)|has)?no(?:real)?(?:solutions?|roots?)(?:exists?)?|none|noreal|(?:the)?emptyset"
    r"|(?:原?方程)?(?:无解|无实数?[解根]|没有(?:实数)?[解根])|空集"
)
_INFINITE = re.compile(r"(?:(?P<minus>-|负)|\+|正)?(?:\\infty|infinity|无穷大?)")
_UNDEFINED = re.compile(r"undefined|doesnotexist|dne|不存在|无定义|未定义")
_BASE = re.compile(r"\(?([0-9A-Fa-f]+(?:\.[0-9A-Fa-f]+)?)\)?_\{?\(?(\d+)\)?\}?")


_MANY = 40
"""More elements than that are compared as written: every one against every other would take too long."""


def unordered(first: Sequence[str], second: Sequence[str], compare: Compare) -> bool:
    """Match the elements of two collections, order and repetition aside: each needs its like on the other side."""
    spelled = [list({compact(element): element for element in elements}.values()) for elements in (first, second)]
    if max(map(len, spelled)) > _MANY:
        return {compact(element) for element in first} == {compact(element) for element in second}
    wanted, found = spelled
    matched: set[int] = set()
    for element in wanted:
        places = sorted(range(len(found)), key=lambda place: place in matched)
        partner = next((place for place in places if compare(element, found[place])), None)
        if partner is None:
            return False
        matched.add(partner)
    rest = [other for place, other in enumerate(found) if place not in matched]
    return all(any(compare(element, other) for element in wanted) for other in rest)


def in_order(first: Sequence[str], second: Sequence[str], compare: Compare) -> bool:
    """Match the elements of two sequences one by one."""
    return len(first) == len(second) and all(compare(a, b) for a, b in zip(first, second, strict=True))


# --- words for nothing, bases --------------------------------------------------------------------------------------


def special_value(text: str) -> str | None:
    """Name what is no ordinary value: ``empty``, ``undefined``, ``infinity``, ``all reals``; None for others."""
    words = re.sub(r"\s+|\\text|(?<!\\)[{}]", "", fold_words(text))
    if _EMPTY.fullmatch(words) or words == r"\{\}":
        return "empty"
    if _UNDEFINED.fullmatch(words):
        return "undefined"
    if match := _INFINITE.fullmatch(words):
        return "minus infinity" if match["minus"] else "infinity"
    if match := re.fullmatch(r"\\mathbb([nzqc])", words):
        return f"the set {match[1]}"
    return (
        "all reals"
        if re.fullmatch(r"\\mathbbr|\\r|allrealnumbers|\(?-\\infty,\+?\\infty\)?|全体实数|一切实数", words)
        else None
    )


def read_marks(text: str) -> str | None:
    """Read statements named by circled numbers, ``①③`` or ``①、③``, in order; None for anything else."""
    if text.isascii():
        return None
    marks = re.sub(r"[\s,;和]+", "", text)
    return "".join(sorted(set(marks))) if re.fullmatch("[①-⑳]+", marks) else None


def choices_of(text: str) -> list[str] | None:
    """Read ``ABD`` as the choices it names, in order and without repetition; None for anything else."""
    return list(text) if re.fullmatch("[A-H]{2,8}", text) and list(text) == sorted(set(text)) else None


_BASE_WORDS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_BASE_WORD = re.compile(rf"(?<=_)\{{?\\text\{{({'|'.join(_BASE_WORDS)})\}}\}}?$")


def _base_digits(match: re.Match[str]) -> str:
    return str(_BASE_WORDS.index(match[1]) + 2)


def read_base(text: str) -> tuple[str, str] | None:
    """Read ``1011_2`` as (digits, base)."""
    match = _BASE.fullmatch(_BASE_WORD.sub(_base_digits, compact(text))) if "_" in text else None
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
    if (matrix := read_matrix(text)) is not None:
        return Collection("matrix", matrix.cells, matrix.shape)
    parts = split_top(text, r"\\cup(?![A-Za-z])")
    if len(parts) > 1:
        return Collection("union", tuple(parts))
    items = [item for item in split_top(text, JOIN) if item]
    if len(items) > 1:
        return Collection("list", _expanded(items))
    if (body := inside(text, r"\{", r"\}")) is not None:
        return Collection("set", _expanded([item for item in split_top(body, JOIN) if item]))
    if (bracketed := _read_bracketed(_turned_brackets(text))) is not None:
        both = _expanded([text]) if bracketed.kind == "tuple" else ()
        return Collection("list", both) if len(both) > 1 else bracketed
    if re.search(r"\\pm|\\mp", text) and len(both := _expanded([text])) > 1:
        return Collection("list", both)
    return _read_ratio(text)


def names_several_things(collection: Collection | None) -> bool:
    """Tell whether a list assigns its values to several names, as ``x=2, y=3`` does; ``x_1`` and ``x_2`` are one."""
    if collection is None or collection.kind not in ("list", "set"):
        return False
    assigned = [item if "=" in item else "" for item in collection.items]
    names = [re.sub(r"_\{?\d\}?$", "", name_of(item) or name_of(item.rpartition("=")[2])) for item in assigned]
    return all(names) and len(set(names)) > 1


def _turned_brackets(text: str) -> str:
    """Write ``]a,b[``, as French school books do, as ``(a,b)``."""
    if text.startswith("]"):
        text = "(" + text[1:]
    return text[:-1] + ")" if text.endswith("[") else text


def _read_bracketed(text: str) -> Collection | None:
    text = re.sub(r"^[A-Z](?=\()", "", text)  # a point by its name: P(1,2)
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


_LABELLED = re.compile(rf"\(?(?P<letter>[A-J])[).:]\s*(?!\(?[A-J]\b)(?P<value>(?:(?!{JOIN}|[A-J][).:]).)+)", re.DOTALL)
"""One choice with its value; what names a second choice is no choice."""
_LETTER = re.compile(r"\(?[A-J]\)?")


def without_label(truth: str, answer: str) -> tuple[str, str] | None:
    r"""Drop the label or the value of a choice, ``(B) 5``, where the other side has one of the two only."""
    sides = _LABELLED.fullmatch(truth), _LABELLED.fullmatch(answer)
    if bool(sides[0]) == bool(sides[1]):
        return None
    match, other = (sides[0], answer) if sides[0] else (sides[1], truth)
    assert match is not None  # noqa: S101 -- one of the two matched
    kept = match["letter"] if _LETTER.fullmatch(other) else match["value"]
    return (kept, answer) if sides[0] else (truth, kept)
