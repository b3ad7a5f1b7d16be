r"""The answer that a whole text states: its last formula or number where it has no box; ground truths given as texts.

Invariant: nothing here decides equality; an answer is a place in the text, found in time linear in it.
"""

from __future__ import annotations

import re

from rewards_lib.contract import sentence
from rewards_lib.extraction import Extraction, found, graded_start, last_box_run, numbers
from rewards_lib.mathematics.relations import last_side
from rewards_lib.mathematics.units import is_known_unit

_FORMULA = re.compile(r"\$\$(.+?)\$\$|(?<!\\)\$((?:\\\$|[^$])+?)(?<!\\)\$|\\\[(.+?)\\\]|\\\((.+?)\\\)", re.DOTALL)
_FINAL = re.compile(r"(?:\bfinal answer\s*(?:is|:)|\banswer is\b|答案[是为：:])[\s:*]*", re.IGNORECASE)
_GOES_ON = re.compile(r"\s*(?:=|,|and\b|or\b|[和或、])")
_STATED = re.compile(r"(?:\bis|\bare|\bapproximately|\bby|[:=]|是|为)\s*\\?\$?\s*$")
_WORD = re.compile(r"[A-Za-z]{2,}")
_COMMAND = re.compile(r"\\[A-Za-z]+|(?<=\d)(?:or|and)(?![a-z])")
_TAIL = 20_000  # the last expression is looked for in the last characters only, to stay linear
_PROSE_WORDS = 6


def last_expression(text: str, after_think: bool) -> Extraction:
    """Find the answer of a text without a box.

    A text without words is it as a whole. Else what follows "the answer is" decides where that is said, and in it, or
    in the whole text, the last formula between dollar signs or LaTeX brackets, unless a number is stated behind it
    (``... of $n$ is 34``); without any formula the last number.
    """
    start = (graded_start(text) if after_think else 0) or 0
    start = max(start, len(text) - _TAIL)
    if _is_bare(text[start:]):
        body = text[start:]
        return found(text, start + len(body) - len(body.lstrip()), start + len(body.rstrip()))
    final = _last(_FINAL, text, start)
    if final and (formula := _FORMULA.match(text, final.end())) and not _GOES_ON.match(text, formula.end()):
        return _last_side(text, *formula.span(formula.lastindex or 0))
    for place in (final.end(), start) if final else (start,):
        answer = _last_in(text, place)
        if answer is not None:
            return answer
    return Extraction(None, None, sentence("no formula and no number"))


def _is_bare(text: str) -> bool:
    """Tell whether a text is a formula and nothing else: no words, no dollar signs, no second line."""
    text = text.strip()
    return bool(text) and not _WORD.search(_COMMAND.sub("", text)) and not re.search(r"\$|\\[\[(]|\n", text)


def _last(pattern: re.Pattern[str], text: str, start: int) -> re.Match[str] | None:
    last = None
    for match in pattern.finditer(text, start):
        last = match
    return last


def _last_in(text: str, start: int) -> Extraction | None:
    formula = _last(_FORMULA, text, start)
    last = None
    behind = formula.end() if formula else start
    for number in numbers(text, behind):
        if number.span and (formula is None or _STATED.search(text[max(0, number.span[0] - 24) : number.span[0]])):
            last = _whole_decimal(text, number)
    if formula is None:
        return _measure(text, behind) or last
    if last is not None or formula.lastindex is None:
        return last
    return _last_side(text, *formula.span(formula.lastindex))


_DECIMAL_COMMA = re.compile(r"(?<![\d.,])\d+,$")
_MEASURE = re.compile(r"(?<![\w.,])[-+]?\d[\d,]*(?:\.\d+)?(?P<unit>[A-Za-z]{1,4})[²³]?(?!\w)")
_APPROXIMATELY = re.compile(r"\\approx(?![A-Za-z])|≈")


def _whole_decimal(text: str, number: Extraction) -> Extraction:
    """Take the digits before a decimal comma along: ``2,74``, which ``numbers`` takes for two."""
    start, end = number.span or (0, 0)
    head = _DECIMAL_COMMA.search(text, max(0, start - 20), start)
    return found(text, head.start(), end) if head else number


def _measure(text: str, start: int) -> Extraction | None:
    """Find a last number that a known unit touches, behind any other number: ``1,000.99m²``."""
    last = _last(_MEASURE, text, start)
    if last is None or not is_known_unit(last["unit"]):
        return None
    plain = _last_number(text, start)
    return None if plain and plain[0] > last.start() else found(text, *last.span())


def _last_number(text: str, start: int) -> tuple[int, int] | None:
    span = None
    for number in numbers(text, start):
        span = number.span
    return span


def _last_side(text: str, start: int, end: int) -> Extraction:
    r"""Narrow a formula to what its chain of equalities comes to: ``x = 5+6 = 11 \approx 10.9`` to 11."""
    side = last_side(text[start:end])
    if side is None:
        return found(text, start, end)
    rough = _APPROXIMATELY.search(side)
    side = side[: rough.start()].strip() if rough else side
    at = text.rindex(side, start, end)
    return found(text, at, at + len(side))


_CHOICE = r"(?=\s*\(?[A-J]\)?\s*\}?\s*$)"
_STATEMENT = re.compile(
    r"\s*(?:\\text\s*\{\s*)?(?:"
    r"(?:(?:so|thus|therefore|hence),?\s+)?(?:(?:the|my)\s+)?(?:(?:final|correct)\s+)?"
    rf"(?:answer\s*(?:is\s*:?|[:：])|(?:option|choice|answer)\s{_CHOICE})"
    rf"|(?:所以)?(?:最终)?答案(?:是|为|[:：])[:：]?|[答解]\s*[:：]|一?共有?(?=\s*\d)|选项?{_CHOICE})\s*(?:(?<=[\s:：是为])\}})?\s*",
    re.IGNORECASE,
)


def stated_answer(answer: str) -> str:
    """What an answer says behind "the answer is" or 答案是 at its beginning; the answer itself where it says no such.

    >>> stated_answer("The answer is 5"), stated_answer("答案：5"), stated_answer("选 C"), stated_answer("5")
    ('5', '5', 'C', '5')
    """
    match = _STATEMENT.match(answer)
    stated = answer[match.end() :] or answer if match else answer
    return re.sub(r"^\s*([A-J])[).]\s*$", r"\1", stated)


def stated_truth(truth: str) -> str:
    r"""What a ground truth states that is a whole solution: its last run of boxes, or its last expression in prose.

    >>> stated_truth(r"Hence \[ \boxed{32349} \]"), stated_truth("5 cm")
    ('32349', '5 cm')
    """
    if "boxed" in truth:
        run = last_box_run(truth)
        return ", ".join(box.text or "" for box in run) or truth.rpartition("boxed{")[2]
    if len(truth) < 40 or len(_WORD.findall(_COMMAND.sub("", _FORMULA.sub(" ", truth)))) < _PROSE_WORDS:
        return truth
    if not _FORMULA.search(truth):
        return truth
    return last_expression(truth, after_think=False).text or truth
