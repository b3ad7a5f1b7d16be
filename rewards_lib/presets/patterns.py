r"""Regular expressions of authors: compiling them, listing their matches, finding those that can explode.

Invariant: nothing here runs a pattern but ``find_matches``, which is made for a worker that can be stopped: a pattern
such as ``(a+)+$`` takes longer than anybody waits.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from rewards_lib.contract import JsonObject, Sentence, sentence
from rewards_lib.extraction import extract

FLAGS = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL, "x": re.VERBOSE}
MAX_MATCHES = 50
_parser: Any = importlib.import_module("re._parser")  # the standard library's own reading of patterns
_MANY = 10
"""A repeat that may go on for longer than this counts as endless: ``(a{1,30}){1,30}`` explodes all the same."""
_ALPHABET = [chr(code) for code in range(128)] + list("éßЖ中１٣ 　“")
"""What stands for all characters where two pieces are asked whether they can match the same one."""


@lru_cache(maxsize=256)
def compiled(pattern: str, flags: str) -> re.Pattern[str]:
    """Compile a pattern under flags out of ``imsx``. Raises re.error, RecursionError, OverflowError."""
    return re.compile(pattern, sum(FLAGS[letter] for letter in set(flags)))


def sees_thinking(pattern: str) -> bool:
    """Tell whether a pattern itself names a think tag; it then sees the whole completion."""
    return "think>" in pattern


def find_matches(item: JsonObject) -> JsonObject:
    """List where a ``regex_match`` rule matches a text: ``{"params", "text"}`` in, for a worker.

    Out comes ``{"spans": [[start, end], ...], "more": bool, "missing": bool}``: places in the text, the last one being
    what the rule compares (under a captured group the group's place); missing when the graded part is not there.
    """
    params, text = item["params"], item["text"]
    after_think = params["after_think"] and not sees_thinking(params["pattern"])
    part = extract(text, params["extract"], after_think=after_think)
    if part.text is None or part.span is None:
        return {"spans": [], "more": False, "missing": True}
    pattern = compiled(params["pattern"], params["flags"])
    body = text[slice(*part.span)]
    if params["mode"] == "fullmatch":
        whole = pattern.fullmatch(body)
        found = [whole] if whole else []
    else:
        found = list(pattern.finditer(body))
    spans = [match.span(params["group"]) for match in found]
    places = [[part.span[0] + start, part.span[0] + end] for start, end in spans if start >= 0]
    return {"spans": places[-MAX_MATCHES:], "more": len(places) > MAX_MATCHES, "missing": False}


# --- patterns that can explode -------------------------------------------------------------------------------------


def explosive_parts(pattern: str, flags: str = "") -> list[Sentence]:
    """Say what in a pattern can make matching explode; empty when nothing was found, or it does not compile.

    Reads the pattern only. It may warn of one that is safe and miss one that is not: back references and look-arounds
    are not followed.
    """
    try:
        tree = _parser.parse(pattern, sum(FLAGS[letter] for letter in set(flags)))
    except (re.error, RecursionError, OverflowError):
        return []
    ignores_case, dots_all = "i" in flags, "s" in flags
    reader = _Reader(ignores_case, dots_all)
    try:
        found = list(reader.problems(list(tree)))
    except RecursionError:
        return []
    return list({str(problem): problem for problem in found}.values())


class _Reader:
    """Walks a parsed pattern: sequences of (operation, argument)."""

    def __init__(self, ignores_case: bool, dots_all: bool) -> None:
        self._ignores_case = ignores_case
        self._dots_all = dots_all

    def problems(self, items: Sequence[Any]) -> Iterator[Sentence]:
        """Yield what can explode in a sequence."""
        if self._has_run_of_endless(items):
            yield sentence(
                "three endless repeats in a row can match the same text, as in \\d*\\d*\\d*: matching slows down"
            )
        for name, argument in _named(items):
            if name in ("MAX_REPEAT", "MIN_REPEAT") and argument[1] > _MANY:
                yield from self._problems_of_repeat(list(argument[2]))
            for inner in _inner_sequences(name, argument):
                yield from self.problems(inner)

    def _problems_of_repeat(self, body: Sequence[Any]) -> Iterator[Sentence]:
        body = _opened(body)
        if self._can_split(body):
            yield sentence(
                "a repeat inside a repeat can match the same text in many ways, as in (a+)+: matching can explode"
            )
        for name, argument in _named(body):
            if name == "BRANCH" and self._overlap(argument[1]):
                yield sentence(
                    "two alternatives inside a repeat can match the same text, as in (ab*|a)+: matching can explode"
                )

    def _can_split(self, body: Sequence[Any]) -> bool:
        """Whether an endless repeat in the body can itself match all the rest of it, and so whole rounds of it."""
        for place, (name, argument) in enumerate(_named(body)):
            if name not in ("MAX_REPEAT", "MIN_REPEAT") or argument[1] <= _MANY:
                continue
            letters = self._first(list(argument[2]))
            rest = [*body[:place], *body[place + 1 :]]
            if all(self._can_be_empty([item]) or letters & self._first([item]) for item in rest):
                return True
        return False

    def _overlap(self, branches: Sequence[Any]) -> bool:
        """Whether two alternatives can both be empty, or begin alike and one of them is short or goes on for ever."""
        read = [list(branch) for branch in branches]
        if sum(self._can_be_empty(branch) for branch in read) > 1:
            return True
        for place, first in enumerate(read):
            for second in read[place + 1 :]:
                alike = self._first(first) & self._first(second)
                if alike and (_is_loose(first) or _is_loose(second) or len(first) == len(second) == 1):
                    return True
        return False

    def _has_run_of_endless(self, items: Sequence[Any]) -> bool:
        run: list[set[str]] = []
        for item in _opened(items):
            [(name, argument)] = _named([item])
            if name in ("MAX_REPEAT", "MIN_REPEAT") and argument[1] > _MANY:
                letters = self._first(list(argument[2]))
                run = [*run, letters] if not run or run[-1] & letters else [letters]
                if len(run) >= 3 and set.intersection(*run[-3:]):
                    return True
            elif not self._can_be_empty([item]):
                run = []
        return False

    def _can_be_empty(self, items: Sequence[Any]) -> bool:
        return all(_least_width(item) == 0 for item in items)

    def _first(self, items: Sequence[Any]) -> set[str]:
        """The characters of the alphabet with which a match of the sequence can begin."""
        letters: set[str] = set()
        for item in items:
            [(name, argument)] = _named([item])
            letters |= self._first_of(name, argument)
            if _least_width(item) > 0:
                break
        return letters

    def _first_of(self, name: str, argument: Any) -> set[str]:
        match name:
            case "LITERAL" | "NOT_LITERAL" | "IN" | "ANY":
                return {letter for letter in _ALPHABET if self._accepts(name, argument, letter)}
            case "AT" | "ASSERT" | "ASSERT_NOT":
                return set()
            case "GROUPREF":
                return set(_ALPHABET)
        return {letter for inner in _inner_sequences(name, argument) for letter in self._first(inner)}

    def _accepts(self, name: str, argument: Any, letter: str) -> bool:
        letters = {letter, letter.lower(), letter.upper()} if self._ignores_case else {letter}
        match name:
            case "LITERAL":
                return any(one == chr(argument) for one in letters)
            case "NOT_LITERAL":
                return letter != chr(argument)
            case "ANY":
                return self._dots_all or letter != "\n"
        return any(_is_in_class(argument, one) for one in letters)


def _named(items: Sequence[Any]) -> list[tuple[str, Any]]:
    return [(str(operation), argument) for operation, argument in items]


def _inner_sequences(name: str, argument: Any) -> list[list[Any]]:
    """The sequences inside an operation; atomic groups and possessive repeats never go back and are left out."""
    match name:
        case "SUBPATTERN":
            return [list(argument[3])]
        case "MAX_REPEAT" | "MIN_REPEAT":
            return [list(argument[2])]
        case "BRANCH":
            return [list(branch) for branch in argument[1]]
        case "ASSERT" | "ASSERT_NOT":
            return [list(argument[1])]
        case "GROUPREF_EXISTS":
            return [list(part) for part in argument[1:] if part]
    return []


def _opened(items: Sequence[Any]) -> list[Any]:
    """The sequence with plain groups opened: a group alone changes nothing about what is matched."""
    opened: list[Any] = []
    for item in items:
        if str(item[0]) == "SUBPATTERN":
            opened += _opened(list(item[1][3]))
        else:
            opened.append(item)
    return opened


def _least_width(item: Any) -> int:
    """The fewest characters that an operation can match."""
    state = _parser.State()
    return int(_parser.SubPattern(state, [item]).getwidth()[0])


def _is_loose(items: Sequence[Any]) -> bool:
    return len(items) == 1 and str(items[0][0]) in ("MAX_REPEAT", "MIN_REPEAT")


_CATEGORIES: dict[str, Callable[[str], bool]] = {
    "CATEGORY_DIGIT": str.isdecimal, "CATEGORY_SPACE": str.isspace,
    "CATEGORY_WORD": lambda letter: letter.isalnum() or letter == "_",
}  # fmt: skip


def _is_in_class(members: Sequence[Any], letter: str) -> bool:
    r"""Tell whether a character class such as ``[^a-z\d]`` holds a character."""
    named = _named(members)
    negated = bool(named) and named[0][0] == "NEGATE"
    return any(_is_member(name, argument, letter) for name, argument in named) != negated


def _is_member(name: str, argument: Any, letter: str) -> bool:
    match name:
        case "LITERAL":
            return bool(ord(letter) == argument)
        case "RANGE":
            return bool(argument[0] <= ord(letter) <= argument[1])
        case "CATEGORY":
            kind = str(argument)
            test = _CATEGORIES.get(kind.replace("_NOT_", "_"))
            return bool(test and test(letter)) != ("_NOT_" in kind)
    return False
