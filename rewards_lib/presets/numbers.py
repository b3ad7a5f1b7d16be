"""The preset ``numeric_close``: a number within a tolerance.

Invariant: arithmetic is exact; a float enters only as the decimal that was typed.
"""

from __future__ import annotations

from rewards_lib.contract import Completion, JsonObject, Sample, Score, sentence
from rewards_lib.mathematics.numbers import is_close, read_number
from rewards_lib.presets.grading import graded_part, ground_truths, no_answer, shown, took, verdict
from rewards_lib.presets.parameters import ANSWER_FIELD, GRADING, extract_from, number
from rewards_lib.presets.registry import Bilingual, Example, preset


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
