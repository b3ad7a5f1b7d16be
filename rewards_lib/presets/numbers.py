"""Numbers as texts: reading them exactly, comparing them within a tolerance; the preset ``numeric_close``.

Invariant: arithmetic is exact; a float enters only as the decimal that was typed.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from rewards_lib.contract import Completion, JsonObject, Sample, Score, sentence
from rewards_lib.extraction import numbers
from rewards_lib.presets.grading import graded_part, ground_truths, no_answer, shown, took, verdict
from rewards_lib.presets.parameters import ANSWER_FIELD, GRADING, extract_from, number
from rewards_lib.presets.registry import Bilingual, Example, preset

_MAX_DIGITS = 20_000
_MAX_EXPONENT = 5_000


def read_number(text: str) -> Fraction | None:
    r"""Read a text that is one number as a whole; None when it is not, or is too large to be worth computing.

    >>> read_number("1,234.50"), read_number("3/4"), read_number("50%"), read_number("x")
    (Fraction(2469, 2), Fraction(3, 4), Fraction(1, 2), None)
    """
    text = text.strip()
    first = next(numbers(text), None)
    if first is None or first.text is None or first.span != (0, len(text)) or len(text) > _MAX_DIGITS:
        return None
    spelled = first.text.replace(",", "")
    digits = spelled.rstrip("%").rstrip("\\ ")
    top, _, bottom = digits.partition("/")
    numerator, denominator = _exact(top), _exact(bottom) if bottom else Fraction(1)
    if numerator is None or not denominator:
        return None
    return numerator / denominator / (100 if spelled.endswith("%") else 1)


def _exact(digits: str) -> Fraction | None:
    exponent = digits.lower().partition("e")[2]
    if exponent and (len(exponent) > 6 or abs(int(exponent)) > _MAX_EXPONENT):
        return None
    return Fraction(Decimal(digits))


def is_close(value: Fraction, truth: Fraction, *, abs_tol: float = 0.0, rel_tol: float = 0.0) -> bool:
    """Tell whether ``|value - truth| <= max(abs_tol, rel_tol * |truth|)``, exactly; tolerances count as typed."""
    within = max(Fraction(repr(float(abs_tol))), Fraction(repr(float(rel_tol))) * abs(truth))
    return abs(value - truth) <= within


@preset(
    name="numeric_close",
    label=Bilingual("Numeric closeness", "数值接近"),
    summary=Bilingual(
        "Matches when the number is within an absolute or relative tolerance of the ground truth.",
        "数值与标准答案之差在绝对或相对误差之内即匹配。",
    ),
    parameters=(
        number(
            "abs_tol",
            Bilingual("Absolute tolerance", "绝对误差"),
            Bilingual("The larger of the two tolerances holds.", "两种误差取较大者。"),
            0,
            minimum=0,
        ),
        number(
            "rel_tol",
            Bilingual("Relative tolerance", "相对误差"),
            Bilingual(
                "As a share of the ground truth. At a ground truth of 0 a relative tolerance is nothing: give "
                "an absolute one.",
                "占标准答案的比例。标准答案为 0 时相对误差不起作用，请给出绝对误差。",
            ),
            1e-6,
            minimum=0,
        ),
        extract_from("last_number"),
        ANSWER_FIELD,
        *GRADING,
    ),
    examples=(
        Example((1.0, 0.0), ("about 3.1415927", "about 3.14"), 3.14159265, prompt="What is pi, to eight decimals?"),
        Example((1.0, 0.0), ("100.0001", "100.0002"), 100),
        Example((0.0,), ("0.0000001",), 0),
        Example((1.0, 0.0), ("9.95", "9.949"), 10, {"abs_tol": 0.05}),
        Example((1.0, 0.0), ("costs 1,234.50 in total", "no number"), "1234.5"),
        Example((1.0,), ("ratio 3/4",), 0.75),
        Example((1.0,), ("x = -5.",), -5),
        Example((1.0,), ("２５",), 25),
        Example((None,), ("5",), "five"),
    ),
)
def numeric_close(params: JsonObject, sample: Sample, completion: Completion) -> Score:
    """Score match iff the graded part is one number within the tolerance of a ground truth."""
    truths = ground_truths(params, sample)
    if isinstance(truths, Score):
        return truths
    wanted = []
    for truth in truths:
        value = read_number(truth)
        if value is None:
            return Score.failed(sentence("unusable ground truth: {truth} is not a number", truth=shown(truth)))
        wanted.append(value)
    part = graded_part(params, completion)
    if part.text is None:
        return no_answer(params, part)
    value = read_number(part.text)
    if value is None:
        return verdict(params, False, sentence("{answer} is not a number", answer=shown(part.text)), part.spans)
    is_match = any(is_close(value, truth, abs_tol=params["abs_tol"], rel_tol=params["rel_tol"]) for truth in wanted)
    return verdict(params, is_match, took(part, truths, is_match), part.spans)
