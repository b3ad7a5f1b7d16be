r"""The answer that a whole text states: its last formula or number where it has no box; ground truths given as texts.

Invariant: nothing here decides equality; an answer is a place in the text, found in time linear in it.
"""

from __future__ import annotations

import re

from rewards_lib.contract import sentence
from rewards_lib.extraction import Extraction, found, graded_start, last_box_run, numbers

_FORMULA = re.compile(r"\$\$(.+?)\$\$|(?<!\\)\$((?:\\\$|[^$])+?)(?<!\\)\$|\\\[(.+?)\\\]|\\\((.+?)\\\)", re.DOTALL)
_FINAL = re.compile(r"\bfinal answer\s*(?:is|:)|\banswer is\b|答案[是为：:]", re.IGNORECASE)
_STATED = re.compile(r"(?:\bis|\bare|\bapproximately|\bby|[:=]|是|为)\s*\\?\$?\s*$")
_WORD = re.compile(r"[A-Za-z]{2,}")
_COMMAND = re.compile(r"\\[A-Za-z]+")
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
    for number in numbers(text, formula.end() if formula else start):
        if number.span and (formula is None or _STATED.search(text[max(0, number.span[0] - 24) : number.span[0]])):
            last = number
    if last is not None:
        return last
    if formula is None or formula.lastindex is None:
        return None
    return found(text, *formula.span(formula.lastindex))


def stated_truth(truth: str) -> str:
    r"""What a ground truth states that is a whole solution: its last run of boxes, or its last expression in prose.

    >>> stated_truth(r"Hence \[ \boxed{32349} \]"), stated_truth("5 cm")
    ('32349', '5 cm')
    """
    if "boxed" in truth:
        run = last_box_run(truth)
        return ", ".join(box.text or "" for box in run) or truth
    if len(truth) < 40 or len(_WORD.findall(_COMMAND.sub("", _FORMULA.sub(" ", truth)))) < _PROSE_WORDS:
        return truth
    if not _FORMULA.search(truth):
        return truth
    return last_expression(truth, after_think=False).text or truth
