"""The preset ``multiple_choice``: the one choice that a completion states.

Invariant: two letters stated together are no choice, and letters inside words state nothing.
"""

from __future__ import annotations

import re
from functools import lru_cache

from rewards_lib.contract import Completion, JsonObject, Sample, Score, sentence
from rewards_lib.extraction import Extraction, last_box
from rewards_lib.presets.grading import graded_part, ground_truths, no_answer, shown, verdict
from rewards_lib.presets.parameters import ANSWER_FIELD, GRADING, extract_from, text
from rewards_lib.presets.registry import Bilingual, Example, preset

_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_PHRASE = (
    r"(?:(?:answer|option|choice)s?(?:[ \t]++(?:is|was|are|must be|should "
    r"be))?+|答案(?:是|为|应为|选)?|选择?项?(?:是|为)?|故选|应选)"
    r"[ \t]*+[:：=]?+[ \t]*+"
)
"""Every run is taken whole or not at all: runs that may share their blanks take a time cubic in them."""
_OPEN, _CLOSE = r"[\s*_$(\[{\"'“‘]*+(?:\\(?:text|mathrm|mathbf|textbf|boxed)\{[(\s]*+)*+", r"[*_$)\]}\"'”’\s]"
_JOIN = r"(?:,|/|\||&|;|、|\bor\b|\band\b|\\text\{\s*(?:or|and)\s*\}|和|或|及|与)"


@lru_cache(maxsize=64)
def _patterns(choices: str) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Patterns for a stated letter after a phrase, a letter that is the whole text, and a second letter beside it."""
    letter = f"(?P<letter>[{re.escape(choices)}])(?![A-Za-z0-9])"
    phrase = re.compile(f"(?i:{_PHRASE}){_OPEN}{letter}")
    behind = rf"(?:{_CLOSE}*+(?:[.:、：][^\n]*+)?+|(?>{_CLOSE}*\))[^\n]*+)\s*+"
    whole = re.compile(rf"{_OPEN}{letter}{behind}")
    second = re.compile(rf"{_CLOSE}*+{_JOIN}\s*+(?:\b(?:or|and)\b)?+{_OPEN}[{re.escape(choices)}](?![A-Za-z0-9])")
    return phrase, whole, second


def stated_choice(body: str, choices: str) -> tuple[str, int] | None:
    """Find the one choice that a text states and where: (letter, place); None for none and for several.

    >>> stated_choice("I think A, but the answer is B", "ABCD")
    ('B', 29)
    """
    body = body.translate(_FULL_WIDTH)
    phrase, whole, second = _patterns(choices)
    if "\\boxed" in body or "\\fbox" in body:
        box = last_box(body)
        if box.text is None or box.span is None:
            return None
        match, shift = whole.fullmatch(box.text), box.span[0]
        inner = box.text
    else:
        stated = list(phrase.finditer(body))
        match, shift, inner = (stated[-1] if stated else whole.fullmatch(body)), 0, body
    if match is None or second.match(inner, match.end("letter")):
        return None
    return match["letter"], shift + match.start("letter")


def _check_choices(params: JsonObject) -> None:
    from rewards_lib.errors import InputError

    if len(set(params["choices"])) != len(params["choices"]):
        raise InputError("choices names a letter twice.", where="choices")


@preset(
    name="multiple_choice",
    label=Bilingual("Multiple choice", "选择题"),
    summary=Bilingual(
        "Matches when the one choice that is stated is right; naming several is a mismatch.",
        "唯一选定的选项正确即匹配；同时给出多个选项视为不匹配。",
    ),
    parameters=(
        text(
            "choices",
            Bilingual("Choices", "选项字母"),
            Bilingual("The letters to choose from.", "可选的字母。"),
            "ABCD",
            minLength=2,
            pattern="^[A-Z]+$",
        ),
        extract_from("text"),
        ANSWER_FIELD,
        *GRADING,
    ),
    examples=(
        Example(
            (1.0, 1.0, 0.0, 0.0),
            ("I think A, but the answer is B", r"\boxed{\text{(B)}}", "The answer is A or B", "Because of a mistake"),
            "B",
            prompt="Which is prime? A. 4  B. 5  C. 6  D. 8",
        ),
        Example((1.0, 1.0, 1.0, 1.0, 1.0), ("B", "(B)", "B. 42", "The answer is B.", "答案是 B"), "B"),
        Example((0.0, 0.0, 0.0), ("A or B", r"\boxed{A, B}", "ABCD"), "B"),
        Example((0.0, 0.0), (r"\boxed{}", r"The answer is B. \boxed{B"), "B"),
        Example((1.0,), ("The answer is **C**.",), ["B", "C"]),
        Example((None,), ("B",), "five"),
    ),
    check=_check_choices,
)
def multiple_choice(params: JsonObject, sample: Sample, completion: Completion) -> Score:
    """Score match iff the last box, else the last stated phrase, else the whole text names one right choice."""
    truths = ground_truths(params, sample)
    if isinstance(truths, Score):
        return truths
    right = [stated_choice(truth, params["choices"]) for truth in truths]
    if None in right:
        return Score.failed(
            sentence("unusable ground truth: {truth} is none of {choices}",
                     truth=shown(" / ".join(truths)), choices=params["choices"])
        )  # fmt: skip
    part = graded_part(params, completion)
    if part.text is None or part.span is None:
        return no_answer(params, part)
    stated = stated_choice(part.text, params["choices"])
    if stated is None:
        return verdict(params, False, sentence("no single choice is stated"))
    letter, place = stated
    mark = Extraction(letter, (part.span[0] + place, part.span[0] + place + 1))
    is_match = letter in {choice[0] for choice in right if choice}
    why = sentence(
        "states {letter}, the right choice" if is_match else "states {letter}, a wrong choice", letter=letter
    )
    return verdict(params, is_match, why, mark.spans)
