"""Presets that pay or take by length: ``length_penalty``.

Invariant: beyond its limits every reward here is clamped, so that padding a completion never pays more.
"""

from __future__ import annotations

from decimal import Decimal

from rewards_lib.contract import Completion, JsonObject, Sample, Score, Sentence, sentence
from rewards_lib.errors import InputError
from rewards_lib.presets.grading import measure
from rewards_lib.presets.parameters import integer, number, unit
from rewards_lib.presets.registry import Bilingual, Example, preset


def _check_length_penalty(params: JsonObject) -> None:
    max_len, target_len, min_len = params["max_len"], params["target_len"], params["min_len"]
    if (max_len is None) == (target_len is None):
        raise InputError("Give exactly one of max_len and target_len.", where="max_len")
    if max_len is not None and min_len > max_len:
        raise InputError("min_len cannot be {min_len}, more than max_len.", where="min_len", min_len=min_len)
    if target_len is not None and min_len:
        raise InputError("min_len goes with max_len; with target_len it must be 0.", where="min_len")


def texts_of_length(*lengths: int) -> tuple[str, ...]:
    """Build texts for examples, one of each length."""
    return tuple("x" * length for length in lengths)


@preset(
    name="length_penalty",
    label=Bilingual("Length penalty", "长度惩罚"),
    summary=Bilingual(
        "0 within the allowed length, falling in a line to max_penalty outside.",
        "长度在允许范围内为 0，范围外线性降至最大惩罚。",
    ),
    parameters=(
        unit("chars"),
        integer(
            "max_len",
            Bilingual("Longest", "最大长度"),
            Bilingual(
                "Longest length without a penalty. Give this or a target.", "不受罚的最大长度。与目标长度二选一。"
            ),
            None,
            optional=True,
            minimum=0,
        ),
        integer(
            "min_len",
            Bilingual("Shortest", "最小长度"),
            Bilingual("Shortest length without a penalty.", "不受罚的最小长度。"),
            0,
            minimum=0,
        ),
        integer(
            "target_len",
            Bilingual("Target", "目标长度"),
            Bilingual("Any deviation from the target is penalised.", "偏离目标长度即受罚。"),
            None,
            optional=True,
            minimum=0,
        ),
        number(
            "tolerance",
            Bilingual("Tolerance", "容差"),
            Bilingual(
                "The deviation at which the full penalty is reached; empty: max_len (or target_len). At 0 any "
                "deviation "
                "earns the full penalty.",
                "达到最大惩罚的偏离量；留空则取最大长度（或目标长度）。为 0 时任何偏离都得最大惩罚。",
            ),
            None,
            optional=True,
            minimum=0,
        ),
        number(
            "max_penalty",
            Bilingual("Largest penalty", "最大惩罚"),
            Bilingual("Zero or negative; the reward never falls below it.", "零或负数；奖励不会低于此值。"),
            -1.0,
            maximum=0,
        ),
    ),
    examples=(
        Example(
            (0.0, 0.0, -0.01, -0.5, -1.0, -1.0), texts_of_length(80, 100, 101, 150, 200, 500), None, {"max_len": 100}
        ),
        Example(
            (-0.25, -0.5, -1.0, -1.0), texts_of_length(105, 110, 120, 121), None, {"max_len": 100, "tolerance": 20}
        ),
        Example((-0.5, -0.25, 0.0), texts_of_length(0, 5, 10), None, {"min_len": 10, "max_len": 100, "tolerance": 20}),
        Example(
            (0.0, -0.5, -0.5, -1.0), texts_of_length(200, 150, 250, 320), None, {"target_len": 200, "tolerance": 100}
        ),
        Example((-0.25, -1.0), texts_of_length(150, 0), None, {"target_len": 200}),
        Example((0.0, -1.0), texts_of_length(10, 11), None, {"max_len": 10, "tolerance": 0}),
        Example((None,), ("no token count",), None, {"max_len": 10, "unit": "tokens"}),
        Example((-0.5,), ({"content": "", "completion_ids": [1] * 15},), None, {"max_len": 10, "unit": "tokens"}),
    ),
    check=_check_length_penalty,
)
def length_penalty(params: JsonObject, _sample: Sample, completion: Completion) -> Score:
    """Score ``max_penalty * min(1, d / T)``: d is the deviation, T the tolerance."""
    length = measure(params, completion)
    if isinstance(length, Score):
        return length
    target, longest = params["target_len"], params["max_len"]
    deviation = abs(length - target) if longest is None else max(length - longest, params["min_len"] - length, 0)
    base = target if longest is None else longest
    tolerance = base if params["tolerance"] is None else params["tolerance"]
    if deviation == 0:
        return Score.scored(0.0, _length_reason(params, length, "no penalty"))
    share = min(Decimal(1), deviation / Decimal(str(tolerance))) if tolerance else Decimal(1)
    return Score.scored(float(Decimal(str(params["max_penalty"])) * share), _length_reason(params, length, "penalty"))


def _length_reason(params: JsonObject, length: int, outcome: str) -> Sentence:
    unit_name = params["unit"]
    if params["max_len"] is None:
        target = params["target_len"]
        if outcome == "penalty":
            return sentence("{n} {unit}, the target is {target}: penalty", n=length, unit=unit_name, target=target)
        return sentence("{n} {unit}, the target: no penalty", n=length, unit=unit_name)
    low, high = params["min_len"], params["max_len"]
    if outcome == "penalty":
        return sentence("{n} {unit}, outside {low} to {high}: penalty", n=length, unit=unit_name, low=low, high=high)
    return sentence("{n} {unit}, within {low} to {high}: no penalty", n=length, unit=unit_name, low=low, high=high)
