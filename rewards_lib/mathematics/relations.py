r"""Equations, assignments and relations: what they name, bound and assign.

Invariant: a lone name before a value is decoration, a factor is unsolved work, and no relation is solved here.
"""

from __future__ import annotations

import re

from rewards_lib.mathematics.text import JOIN, compact, split_top

_RELATION = r"<=|>=|!=|<|>"
_NAME = (
    r"(?:\\angle ?)?(?:[A-Za-z]{1,12}|\\[a-z]+)(?:_\{?(?:\\triangle ?)?\w+\}?)?(?:\^\{?-1\}?)?'*"
    r"(?:\([A-Za-z](?:,[A-Za-z])*\))?|\\frac\{d ?[a-z]\}\{d ?[a-z]\}"
    r"|\\(?:sin|cos|tan|cot) ?(?:[A-Z]|\\(?:alpha|beta|gamma|theta|phi|angle ?[A-Z]+))"
)
_MEASURE = r"(?=[^=]*[A-Z])(?:[A-Z](?:_\{?\w+\}?)?|[|:/{}\s]|\\(?:frac|angle|triangle|overline)(?![A-Za-z]))+"
"""A measure named by points, as geometry does: ``|AB|``, ``\\frac{NO}{BO}``, ``S_1:S_2``."""
_NAMED = re.compile(rf"\s*(?:{_NAME}|{_MEASURE}|\([A-Za-z](?:\s*,\s*[A-Za-z])+\)|\\text\{{[^{{}}]*\}})\s*")

_EQUALS = r"(?<![<>!])=|\\in(?![A-Za-z])"


def name_of(text: str) -> str:
    """The lone name before an equals sign, without blanks and without its arguments; empty when there is none."""
    first = split_top(text, _EQUALS)[0]
    return re.sub(r"(?<=\w)\([a-z,]+\)$", "", compact(first)) if _NAMED.fullmatch(first) else ""


def is_same_name(first: str, second: str, *, among_several: bool) -> bool:
    """Tell whether two assignments name one thing; ``among_several`` roots ``x_1`` and ``x_2`` are both ``x``."""
    names = name_of(first), name_of(second)
    if names[0] == names[1]:
        return True
    bare = [re.sub(r"_\{?\d\}?$", "", name) for name in names]
    return among_several and bare[0] == bare[1] and (bare[0] in names)


_MEMBERSHIP = re.compile(r"\s*(?P<letter>[A-Za-z])(?:_\{?\w+\}?)?\s*\\in(?![A-Za-z])\s*")


def without_membership(truth: str, answer: str) -> tuple[str, str]:
    r"""Drop ``x \in`` where the other side has none, unless that one speaks of another letter."""
    found = _MEMBERSHIP.match(truth), _MEMBERSHIP.match(answer)
    if bool(found[0]) == bool(found[1]):
        return truth, answer
    match, other = (found[0], answer) if found[0] else (found[1], truth)
    assert match is not None  # noqa: S101 -- one of the two matched
    if re.search("[=<>]", other) and match["letter"] not in re.sub(r"\\[A-Za-z]+", "", other):
        return truth, answer
    return (truth[match.end() :], answer) if found[0] else (truth, answer[match.end() :])


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


_PUNCTURED = re.compile(r"(?:\\mathbb ?\{?R\}?|\\R)\s*(?:\\setminus|\\backslash|-)\s*\\\{([^{},]+)\\\}")
_OPEN_BUILDER = re.compile(
    r"\s*[A-Za-z]\s*(?:\\in\s*(?:\\mathbb\s*\{?R\}?|\\?R)\s*)?[|∣](?P<condition>[^|]*[<>=][^|]*)"
)
"""What is left of ``{x|x>2}`` when its braces, which only group without a backslash, are off."""
_SET_BUILDER = re.compile(r"\\\{\s*[A-Za-z]\s*(?:\\in\s*(?:\\mathbb\s*\{?R\}?|\\R)\s*)?[|:](?P<condition>.+)\\\}")


def without_builder(text: str) -> str:
    r"""Write ``\{x | x > 2\}`` as its condition, ``\mathbb{R} \setminus \{2\}`` as a union; others stay as they are."""
    if match := _SET_BUILDER.fullmatch(text):
        return match["condition"].strip()
    if match := _OPEN_BUILDER.fullmatch(text):
        return match["condition"].strip()
    match = _PUNCTURED.fullmatch(text)
    return rf"(-\infty,{match[1]}) \cup ({match[1]},\infty)" if match else text


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


def as_union(text: str) -> str | None:
    r"""Write ``x \neq 2`` as a union of two intervals; None for anything else."""
    relation = read_relation(text)
    if relation is None or relation[1] != ["!="]:
        return None
    sides = relation[0] if _is_letter(relation[0][0]) else relation[0][::-1]
    if not _is_letter(sides[0]) or sides[0].startswith("-") or _is_letter(sides[1]):
        return None
    return rf"(-\infty,{sides[1]}) \cup ({sides[1]},\infty)"


_ABSOLUTE = re.compile(r"\|\s*[A-Za-z]\s*\|")


def without_absolute(text: str) -> str | None:
    r"""Write a bound of an absolute value as intervals: ``1 \le |z| \le 2`` as ``[-2,-1] \cup [1,2]``."""
    if not _ABSOLUTE.search(text):
        return None
    bounds = as_interval(_ABSOLUTE.sub("z", text))
    if bounds is None:
        return None
    low, _, high = bounds[1:-1].partition(",")
    opening, closing = bounds[0], bounds[-1]
    if low == r"-\infty":
        return f"{'[' if closing == ']' else '('}-({high}),{high}{closing}"
    outer = r"-\infty" if high == r"\infty" else f"-({high})"
    mirrored = f"{'[' if closing == ']' else '('}{outer},-({low}){']' if opening == '[' else ')'}"
    return rf"{mirrored} \cup {bounds}"


_ASSIGNMENTS = re.compile(r"\s*[A-Za-z]\s*=[^=;,]+(?:,\s*[A-Za-z]\s*=[^=;,]+)+")


def exact_side(text: str) -> str:
    r"""Take the side of ``\pi \approx 3.14`` that is no estimate, or the estimate of a lone letter."""
    sides = split_top(text, r"\\approx(?![A-Za-z])|≈")
    return sides[1] if len(sides) > 1 and re.fullmatch("[A-DF-Za-df-z]?", sides[0]) else sides[0]


_DOMAIN = re.compile(
    r"(?P<value>.*\S)\s*(?:,\s*|\(\s*|\s)[A-Za-z](?:\s*,\s*[A-Za-z])*\s*\\in\s*(?:\\mathbb ?\{?[ZN]\}?|[ZN]|\\[ZN])"
    r"(?:\^\{?[+*]\}?|_\{?[+*]\}?)?\s*\)?",
    re.DOTALL,
)


def without_domain(text: str) -> str:
    r"""Take off what a letter runs through: ``k\pi, k \in \mathbb{Z}`` as ``k\pi``."""
    match = _DOMAIN.fullmatch(text) if r"\in" in text else None
    return match["value"].rstrip(" ,") if match else text


def as_tuples(text: str) -> str | None:
    """Write groups of assignments as tuples: ``p=5,q=2;p=7,q=2`` as ``(5,2),(7,2)``; None when names differ."""
    groups = [[part.split("=") for part in group.split(",")] for group in text.split(";") if _ASSIGNMENTS.match(group)]
    if len(groups) < 2 or len(groups) != text.count(";") + 1 or any(len(p) != 2 for group in groups for p in group):
        return None
    if len({tuple(name.strip() for name, _ in group) for group in groups}) != 1:
        return None
    return ",".join(f"({','.join(value.strip() for _, value in group)})" for group in groups)


def last_side(text: str) -> str | None:
    """What a chain of equalities that starts at a lone name, or holds one, comes to; None for two sides and fewer."""
    parts = split_top(text, _EQUALS) if len(split_top(text, JOIN)) == 1 else []
    return parts[-1] if len(parts) > 2 and any(_NAMED.fullmatch(part) for part in parts) else None
