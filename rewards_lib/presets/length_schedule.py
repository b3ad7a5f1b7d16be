"""Presets whose reward follows the length on a schedule: ``cosine_length``, ``soft_overlong``, ``length_group``.

Invariant: every schedule is clamped at its end, so that padding a completion never pays more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from rewards_lib.contract import Completion, Finding, JsonObject, Sample, Score, sentence
from rewards_lib.errors import InputError
from rewards_lib.presets.correctness import PARAMETERS, complete_correct_params, is_right
from rewards_lib.presets.grading import measure
from rewards_lib.presets.length import texts_of_length
from rewards_lib.presets.parameters import flag, integer, number, unit
from rewards_lib.presets.registry import Bilingual, Example, group_preset, preset


def _check_cosine(params: JsonObject) -> None:
    for side in ("correct", "wrong"):
        if params[f"min_{side}"] > params[f"max_{side}"]:
            raise InputError(
                "{low} cannot be more than {high}.", where=f"min_{side}", low=f"min_{side}", high=f"max_{side}"
            )
    complete_correct_params(params)


def _advise_cosine(params: JsonObject) -> list[Finding]:
    if params["min_correct"] >= params["max_wrong"]:
        return []
    message = sentence("min_correct is below max_wrong: a long wrong answer may earn more than a long right one")
    return [Finding("warning", message, "min_correct", "cosine_overlap")]


_RIGHT = {"correct_by": "regex_match", "correct_params": {"pattern": "x|^$"}}
_WRONG = {"correct_by": "regex_match", "correct_params": {"pattern": "y"}}
_SEED_BOUNDS = {"min_correct": 0, "max_correct": 1, "min_wrong": -1, "max_wrong": 0, "max_len": 512}


@preset(
    name="cosine_length",
    label=Bilingual("Cosine length", "余弦长度"),
    summary=Bilingual(
        "Right answers earn more when short, wrong ones lose less when long, on a cosine.",
        "正确回答越短奖励越高，错误回答越长扣分越少，按余弦变化。",
    ),
    parameters=(
        *PARAMETERS,
        number(
            "min_wrong",
            Bilingual("Wrong, short", "错误且短"),
            Bilingual("Reward of a wrong answer at length 0.", "错误回答长度为 0 时的奖励。"),
            -1.0,
        ),
        number(
            "max_wrong",
            Bilingual("Wrong, long", "错误且长"),
            Bilingual("Reward of a wrong answer at max_len and beyond.", "错误回答达到或超过最大长度时的奖励。"),
            -0.5,
        ),
        number(
            "min_correct",
            Bilingual("Right, long", "正确且长"),
            Bilingual("Reward of a right answer at max_len and beyond.", "正确回答达到或超过最大长度时的奖励。"),
            0.5,
        ),
        number(
            "max_correct",
            Bilingual("Right, short", "正确且短"),
            Bilingual("Reward of a right answer at length 0.", "正确回答长度为 0 时的奖励。"),
            1.0,
        ),
        integer(
            "max_len",
            Bilingual("Full length", "满长度"),
            Bilingual(
                "Where the schedule ends. Longer completions earn what this length earns, never more.",
                "余弦变化的终点；更长的回答与此长度同分，绝不更高。",
            ),
            1000,
            minimum=1,
        ),
        unit("chars"),
    ),
    examples=(
        Example(
            (0.9642530402, -0.9642530402),
            ("所以\\boxed{391}" + "." * 49, "所以\\boxed{390}" + "." * 49),
            391,
            _SEED_BOUNDS,
            prompt="What is 23 times 17?",
        ),
        Example((1.0, 0.9267766953, 0.75, 0.5, 0.5), texts_of_length(0, 250, 500, 1000, 2000), None, _RIGHT),
        Example((-1.0, -0.9267766953, -0.75, -0.5, -0.5), texts_of_length(0, 250, 500, 1000, 2000), None, _WRONG),
        Example(
            (1.0, 0.8535533906, 0.5, 0.1464466094, 0.0, 0.0),
            texts_of_length(0, 128, 256, 384, 512, 700),
            None,
            _SEED_BOUNDS | _RIGHT,
        ),
        Example(
            (-1.0, -0.8535533906, -0.5, -0.1464466094, 0.0, 0.0),
            texts_of_length(0, 128, 256, 384, 512, 700),
            None,
            _SEED_BOUNDS | _WRONG,
        ),
        Example((None,), ("\\boxed{5}",), ""),
    ),
    check=_check_cosine,
    advise=_advise_cosine,
)
def cosine_length(params: JsonObject, sample: Sample, completion: Completion) -> Score:
    """Score ``min + (max - min)(1 + cos(pi p))/2``, p the share of ``max_len``; wrong ones the other way.

    Source: arXiv 2502.03373, clamped at ``max_len``.
    """
    right, length = is_right(params, sample, completion), measure(params, completion)
    if isinstance(right, Score):
        return right
    if isinstance(length, Score):
        return length
    start, end = ("max_correct", "min_correct") if right else ("min_wrong", "max_wrong")
    share = min(length / params["max_len"], 1.0)
    value = params[end] + (params[start] - params[end]) / 2 * (1 + math.cos(math.pi * share))
    facts = {"n": length, "unit": params["unit"], "max_len": params["max_len"]}
    if right:
        return Score.scored(value, sentence("right, {n} {unit} of {max_len}", **facts))
    return Score.scored(value, sentence("wrong, {n} {unit} of {max_len}", **facts))


def _check_overlong(params: JsonObject) -> None:
    if not params["enabled"]:
        return
    for name in ("max_len", "cache_len"):
        if params[name] is None:
            raise InputError("{name} must be given while enabled is true.", where=name, name=name)
    if params["cache_len"] > params["max_len"]:
        raise InputError("cache_len cannot be more than max_len.", where="cache_len")


@preset(
    name="soft_overlong",
    label=Bilingual("Soft overlong penalty (DAPO)", "超长软惩罚 (DAPO)"),
    summary=Bilingual(
        "0 up to max_len - cache_len, then in a line to -1 at max_len, and -1 beyond.",
        "长度不超过 max_len - cache_len 时为 0，之后线性降至 max_len 处的 -1，再长仍为 -1。",
    ),
    parameters=(
        integer(
            "max_len",
            Bilingual("Longest", "最大长度"),
            Bilingual("From here on the penalty is -1.", "自此长度起惩罚为 -1。"),
            None,
            optional=True,
            minimum=0,
        ),
        integer(
            "cache_len",
            Bilingual("Soft zone", "缓冲长度"),
            Bilingual(
                "The last cache_len before max_len, in which the penalty grows. At 0 it starts at once beyond max_len.",
                "max_len 之前逐渐加重惩罚的区间长度。为 0 时超过 max_len 立即为 -1。",
            ),
            None,
            optional=True,
            minimum=0,
        ),
        unit("tokens"),
        flag(
            "enabled",
            Bilingual("Enabled", "启用"),
            Bilingual("Off: the reward is always 0 and the lengths need not be given.", "关闭时恒为 0，无需填写长度。"),
            True,
        ),
    ),
    examples=(
        Example(
            (0.0, -0.05, -0.5, -1.0, -1.0),
            texts_of_length(80, 81, 90, 100, 101),
            None,
            {"max_len": 100, "cache_len": 20, "unit": "chars"},
        ),
        Example(
            (0.0, -0.5, -1.0, -1.0),
            tuple({"content": "x", "usage": {"completion_tokens": n}} for n in (12288, 14336, 16384, 20480)),
            None,
            {"max_len": 16384, "cache_len": 4096},
        ),
        Example((0.0, -1.0), texts_of_length(100, 101), None, {"max_len": 100, "cache_len": 0, "unit": "chars"}),
        Example((0.0,), texts_of_length(1000), None, {"enabled": False}),
        Example((None,), ("no token count",), None, {"max_len": 100, "cache_len": 20}),
    ),
    check=_check_overlong,
)
def soft_overlong(params: JsonObject, _sample: Sample, completion: Completion) -> Score:
    """Score DAPO's soft overlong punishment (arXiv 2503.14476, eq. 13), clamped at -1."""
    if not params["enabled"]:
        return Score.scored(0.0, sentence("switched off"))
    length = measure(params, completion)
    if isinstance(length, Score):
        return length
    longest, cache = params["max_len"], params["cache_len"]
    facts = {"n": length, "unit": params["unit"], "free": longest - cache, "max_len": longest}
    if length <= longest - cache:
        return Score.scored(0.0, sentence("{n} {unit}, up to {free}: no penalty", **facts))
    if length > longest:
        return Score.scored(-1.0, sentence("{n} {unit}, beyond {max_len}: full penalty", **facts))
    value = float(Fraction(longest - cache - length, cache))
    return Score.scored(value, sentence("{n} {unit}, between {free} and {max_len}: penalty", **facts))


_MARKED = {"correct_by": "regex_match", "correct_params": {"pattern": "r"}}


@group_preset(
    name="length_group",
    label=Bilingual("Length within the group (Kimi)", "组内长度 (Kimi)"),
    summary=Bilingual(
        "Within a group short right answers earn up to 0.5, long ones down to -0.5; wrong ones never above 0.",
        "同组内短而正确的回答最高 0.5，长的最低 -0.5；错误回答不高于 0。",
    ),
    parameters=(unit("chars"), *PARAMETERS),
    examples=(
        Example((0.5, 0.0, -0.5), ("r" * 10, "r" * 20, "r" * 30), None, _MARKED),
        Example((0.5, 0.0, -0.5), ("r" * 10, "w" * 20, "w" * 30), None, _MARKED),
        Example((0.0, 0.0, -0.5), ("w" * 10, "r" * 20, "r" * 30), None, _MARKED),
        Example((0.0, 0.0), ("r" * 9, "r" * 9), None, _MARKED),
        Example((0.5, 0.0, -0.1666666667, -0.5), ("r" * 100, "w" * 150, "r" * 300, "w" * 400), None, _MARKED),
        Example((None,), ("\\boxed{5}",), ""),
    ),
    check=complete_correct_params,
)
def length_group(params: JsonObject, sample: Sample, completions: Sequence[Completion]) -> list[Score]:
    """Score ``lam = 0.5 - (n - min)/(max - min)`` for right answers, ``min(0, lam)`` for wrong ones (Kimi k1.5).

    Add a correctness preset beside it: the only right answer, when it is the longest, earns -0.5 here.
    """
    facts = [_right_and_length(params, sample, completion) for completion in completions]
    lengths = [fact[1] for fact in facts if not isinstance(fact, Score)]
    return [fact if isinstance(fact, Score) else _group_score(fact, lengths, params["unit"]) for fact in facts]


def _right_and_length(params: JsonObject, sample: Sample, completion: Completion) -> tuple[bool, int] | Score:
    right, length = is_right(params, sample, completion), measure(params, completion)
    if isinstance(right, Score):
        return right
    return length if isinstance(length, Score) else (right, length)


def _group_score(fact: tuple[bool, int], lengths: list[int], unit_name: str) -> Score:
    right, length = fact
    low, high = min(lengths), max(lengths)
    share = Fraction(1, 2) - Fraction(length - low, high - low) if high > low else Fraction(0)
    value = share if right else min(Fraction(0), share)
    facts = {"n": length, "unit": unit_name, "low": low, "high": high}
    if right:
        return Score.scored(float(value), sentence("right, {n} {unit}; the group has {low} to {high}", **facts))
    return Score.scored(float(value), sentence("wrong, {n} {unit}; the group has {low} to {high}", **facts))
