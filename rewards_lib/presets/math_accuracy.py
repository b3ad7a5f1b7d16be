"""The preset ``math_accuracy``: the last answer, by mathematical equality.

Invariant: only the last answer counts; an unfinished or empty last box is no answer.
"""

from __future__ import annotations

from rewards_lib.contract import Completion, JsonObject, Sample, Score
from rewards_lib.extraction import Extraction, graded_start, last_box_run
from rewards_lib.mathematics.stated import last_expression
from rewards_lib.presets.grading import graded_part, ground_truths, no_answer
from rewards_lib.presets.parameters import ANSWER_FIELD, GRADING, extract_from, integer, option, time_limit
from rewards_lib.presets.registry import Bilingual, Example, preset


@preset(
    name="math_accuracy",
    label=Bilingual("Mathematical equality", "数学可验证奖励"),
    summary=Bilingual(
        r"Matches when the last answer equals the ground truth mathematically; \log without a base is natural.",
        r"最后一个答案与标准答案在数学上等价即匹配。未写底数的 \log 视为自然对数。",
    ),
    parameters=(
        extract_from("boxed"),
        ANSWER_FIELD,
        option(
            "fallback",
            Bilingual("Without a box", "没有框时"),
            Bilingual(
                "none: a completion without a box earns the mismatch value. last_expression: take its last "
                "formula, else its last "
                "number. An unfinished box is never replaced.",
                "none：没有框则得不匹配值。last_expression：取最后一个公式，否则取最后一个数字。未写完的框不会被替代。",
            ),
            "none",
            ("none", "last_expression"),
        ),
        option(
            "percent",
            Bilingual("Percent signs", "百分号"),
            Bilingual(
                "A percentage always equals its decimal (50% = 0.5). either: it also equals its number when "
                "the other side bears "
                "no sign (28% = 28), as graders of MATH do; strict: not.",
                "百分数始终等于其小数（50% = 0.5）。either：另一侧没有百分号时也等于该数本身（28% = 28），与 "
                "MATH 评测习惯一致；strict：不等。",
            ),
            "either",
            ("either", "strict"),
        ),
        integer(
            "rounding_digits",
            Bilingual("Digits of a rounding", "舍入位数"),
            Bilingual(
                "A decimal also equals an exact value when it is its correct rounding to this many significant digits "
                "or more: with 6, 0.333333 is 1/3 and 0.33 is not. Two decimals are equal only exactly.",
                "小数若是精确值按这么多位（或更多）有效数字的正确舍入，也视为相等："
                "取 6 时 0.333333 等于 1/3，0.33 不等。两个小数只有完全相同才相等。",
            ),
            6,
            minimum=2,
            maximum=30,
        ),
        *GRADING,
        time_limit(5.0),
    ),
    examples=(
        Example(
            (1.0, 1.0, 0.0, 0.0, 0.0),
            (
                r"The area is \boxed{\frac{63}{2}}.",
                r"\boxed{31.5}",
                r"\boxed{\frac{23}{2}}",
                "The area is 31.5.",
                r"It is \boxed{31.5}, so \boxed{31.",
            ),
            r"\frac{63}{2}",
            prompt="A rectangle has the sides 7 and 9/2. What is its area?",
        ),
        Example((1.0,), (r"思考...所以\boxed{0.5}",), "1/2"),
        Example((1.0,), (r"\boxed{\frac{1}{2}}",), "0.5"),
        Example((1.0,), ("\\boxed{2}\n\\boxed{3}",), "3"),
        Example((0.0, 0.0), ("没有答案", r"\boxed{abc}"), "5"),
        Example((0.0, 1.0), (r"\boxed{6}", r"\boxed{\pm 6}"), r"\pm 6"),
        Example((1.0, 1.0), (r"\boxed{0.28}", r"\boxed{28}"), r"28\%"),
        Example((1.0, 0.0), (r"\boxed{0.28}", r"\boxed{28}"), r"28\%", {"percent": "strict"}),
        Example((1.0, 0.0), (r"\boxed{2} and \boxed{3}", r"\boxed{3}"), "2, 3"),
        Example((0.0, 1.0), (r"<think>\boxed{8}</think> \boxed{9}", r"<think>\boxed{9}</think> \boxed{8}"), 8),
        Example((1.0, 0.0), ("so it is $x = 5$", "so it is $x = 6$"), "5", {"fallback": "last_expression"}),
        Example((None,), (r"\boxed{5}",), ""),
    ),
)
def math_accuracy(params: JsonObject, sample: Sample, completion: Completion) -> Score:
    """Score match iff the last answer equals one of the ground truths."""
    from rewards_lib.mathematics.equality import names_several
    from rewards_lib.presets.math_grading import score_answer

    truths = ground_truths(params, sample)
    if isinstance(truths, Score):
        return truths
    part = graded_part(params, completion)
    if part.text is None and params["fallback"] == "last_expression" and "no box" in str(part.why_none):
        part = last_expression(completion.text, params["after_think"])
    if part.text is None:
        return no_answer(params, part)
    if params["extract"] == "boxed" and any(names_several(truth) for truth in truths):
        part = _joined_run(completion.text, part, params["after_think"])
    return score_answer(params, part, truths)


def _joined_run(text: str, part: Extraction, after_think: bool) -> Extraction:
    r"""Join the last run of boxes to one list: ``\boxed{2} and \boxed{3}`` where the truth names several values."""
    run = last_box_run(text, (graded_start(text) or 0) if after_think else 0)
    if len(run) < 2 or run[0].span is None or run[-1].span is None:
        return part
    return Extraction(", ".join(box.text or "" for box in run), (run[0].span[0], run[-1].span[1]))
