"""Presets that compare texts: ``exact_match``, ``contains``, ``regex_match``.

Invariant: the ground truth is looked for in the text, never the text in the ground truth.
"""

from __future__ import annotations

import re

from rewards_lib.contract import Completion, Finding, JsonObject, Sample, Score, sentence
from rewards_lib.errors import InputError
from rewards_lib.extraction import Extraction, Span, extract
from rewards_lib.mathematics.numbers import is_close, read_number
from rewards_lib.presets.grading import graded_part, ground_truths, is_han, no_answer, prepare, shown, took, verdict
from rewards_lib.presets.parameters import (
    ANSWER_FIELD,
    GRADING,
    IGNORE_CASE,
    NORMALIZE,
    extract_from,
    flag,
    option,
    text,
    time_limit,
)
from rewards_lib.presets.patterns import compiled, explosive_parts, sees_thinking
from rewards_lib.presets.registry import REQUIRED, Bilingual, Example, Parameter, preset


@preset(
    name="exact_match",
    label=Bilingual("Exact match", "字符串全等"),
    summary=Bilingual(
        "Matches when the graded part equals the ground truth, or one of several.",
        "评分部分与标准答案（或其中之一）完全相同即匹配。",
    ),
    parameters=(
        extract_from("text"),
        ANSWER_FIELD,
        flag(
            "strip",
            Bilingual("Strip ends", "去除首尾空白"),
            Bilingual("Ignore white space at both ends.", "忽略首尾空白。"),
            True,
        ),
        IGNORE_CASE,
        NORMALIZE,
        *GRADING,
    ),
    examples=(
        Example((1.0, 1.0, 0.0), ("42", " 42\n", "42.0"), 42, prompt="What is 6 times 7?"),
        Example((0.0,), ("paris",), "Paris"),
        Example((1.0,), ("paris",), "Paris", {"ignore_case": True}),
        Example((0.0,), ("４２",), "42"),
        Example((1.0,), ("４２",), "42", {"normalize": True}),
        Example((1.0,), ("B",), ["A", "B"]),
        Example((0.0, 1.0), ("42", r"\boxed{42}"), "42", {"extract": "boxed"}),
        Example((None,), ("anything",), ""),
    ),
)
def exact_match(params: JsonObject, sample: Sample, completion: Completion) -> Score:
    """Score match iff the prepared graded part equals one prepared ground truth."""
    truths = ground_truths(params, sample)
    if isinstance(truths, Score):
        return truths
    part = graded_part(params, completion)
    if part.text is None:
        return no_answer(params, part)
    is_match = prepare(part.text, params) in {prepare(truth, params) for truth in truths}
    return verdict(params, is_match, took(part, truths, is_match), part.spans)


@preset(
    name="contains",
    label=Bilingual("Contains", "字符串包含"),
    summary=Bilingual("Matches when the ground truth occurs in the graded part.", "标准答案出现在评分部分中即匹配。"),
    parameters=(
        extract_from("text"),
        ANSWER_FIELD,
        option(
            "mode",
            Bilingual("Lists", "列表"),
            Bilingual(
                "When the ground truth is a list: all entries must occur, or any one. With any, naming every "
                "candidate "
                "earns the reward by definition.",
                "标准答案为列表时：须全部出现（all），或出现任一（any）。any 模式下，罗列所有候选按定义也会得分。",
            ),
            "all",
            ("all", "any"),
        ),
        flag(
            "whole_token",
            Bilingual("Whole token", "整词匹配"),
            Bilingual(
                "No letter, digit or underscore may touch the occurrence: 1 does not occur in 21. Beside Han "
                "characters "
                "every position is a boundary.",
                "出现位置两侧不得紧邻字母、数字或下划线：21 中没有 1。汉字旁的任何位置都算边界。",
            ),
            False,
        ),
        IGNORE_CASE,
        NORMALIZE,
        *GRADING,
    ),
    examples=(
        Example((1.0, 0.0), ("It is Paris", ""), "Paris", prompt="What is the capital of France?"),
        Example((1.0,), ("a party",), "art"),
        Example((0.0,), ("a party",), "art", {"whole_token": True}),
        Example((0.0,), ("A or B",), ["A", "C"]),
        Example((1.0,), ("A or B",), ["A", "C"], {"mode": "any"}),
        Example((0.0, 1.0, 0.0), ("21 files", "There is 1 file.", "Total: 10"), "1", {"whole_token": True}),
        Example((None,), ("anything",), ""),
    ),
)
def contains(params: JsonObject, sample: Sample, completion: Completion) -> Score:
    """Score match iff all (or any) ground truths occur in the graded part."""
    truths = ground_truths(params, sample)
    if isinstance(truths, Score):
        return truths
    part = graded_part(params, completion)
    if part.text is None or part.span is None:
        return no_answer(params, part)
    body = prepare(part.text, params)
    hits = [_occurrence(body, prepare(truth, params), params["whole_token"]) for truth in truths]
    is_match = (all if params["mode"] == "all" else any)(hit is not None for hit in hits)
    # Case folding never shortens a text: with an equal length every place in it is a place in the completion.
    places_hold = len(body) == len(part.text) and not params["normalize"]
    spans = tuple((part.span[0] + hit[0], part.span[0] + hit[1]) for hit in hits if hit) if places_hold else part.spans
    named = [shown(truth) for truth, hit in zip(truths, hits, strict=True) if (hit is None) != is_match]
    why = sentence("found {truths}" if is_match else "did not find {truths}", truths=", ".join(named))
    return verdict(params, is_match, why, spans)


def _occurrence(body: str, truth: str, whole_token: bool) -> Span | None:
    at = body.find(truth)
    while at >= 0:
        end = at + len(truth)
        if not whole_token or (_is_boundary(body, at) and _is_boundary(body, end)):
            return at, end
        at = body.find(truth, at + 1)
    return None


def _is_boundary(body: str, position: int) -> bool:
    """Tell whether no word goes on across the position; Han characters bound on both sides."""
    if position <= 0 or position >= len(body):
        return True
    return any(is_han(side) or not (side.isalnum() or side == "_") for side in body[position - 1 : position + 1])


def _check_pattern(params: JsonObject) -> None:
    try:
        pattern = compiled(params["pattern"], params["flags"])
    except (re.error, RecursionError, OverflowError) as error:
        raise InputError(
            "The pattern does not compile: {problem}.", where="pattern", problem=str(error),
            remedy="Patterns follow Python's re syntax.",
        ) from None  # fmt: skip
    if not _has_group(pattern, params["group"]):
        raise InputError(
            "The pattern has no group {group}; it has {count} groups.", where="group", group=params["group"],
            count=pattern.groups, remedy="Allowed are 0 (the whole match), a group's number, or its name.",
        )  # fmt: skip


def _advise_pattern(params: JsonObject) -> list[Finding]:
    problems = explosive_parts(params["pattern"], params["flags"])
    return [Finding("warning", problem, path="pattern", rule="regex_match") for problem in problems]


def _has_group(pattern: re.Pattern[str], group: int | str) -> bool:
    return group in pattern.groupindex if isinstance(group, str) else 0 <= group <= pattern.groups


@preset(
    name="regex_match",
    label=Bilingual("Regular expression", "正则匹配"),
    summary=Bilingual(
        "Matches when a pattern is found, or when what it captures equals the ground truth.",
        "找到模式即匹配；或将捕获的内容与标准答案比较。",
    ),
    parameters=(
        text(
            "pattern",
            Bilingual("Pattern", "正则表达式"),
            Bilingual(
                "Python syntax. A pattern that itself names a think tag sees the whole completion, whatever "
                "after_think says.",
                "Python 语法。若模式本身包含 think 标签，则无论 after_think 如何都作用于整个回答。",
            ),
            REQUIRED,
            minLength=1,
        ),
        option(
            "mode",
            Bilingual("Mode", "方式"),
            Bilingual(
                "search: anywhere; fullmatch: the whole graded part.", "search：任意位置；fullmatch：整个评分部分。"
            ),
            "search",
            ("search", "fullmatch"),
        ),
        text(
            "flags",
            Bilingual("Flags", "标志"),
            Bilingual(
                "Any of i (ignore case), m (^ and $ at lines), s (dot matches line feeds), x (verbose).",
                "可选 i（忽略大小写）、m（^ $ 匹配行首行尾）、s（点匹配换行）、x（详细模式）。",
            ),
            "",
            pattern="^[imsx]*$",
        ),
        Parameter(
            "group",
            Bilingual("Group", "捕获组"),
            Bilingual(
                "Which group is compared, by number or name: 0 is the whole match. A group that took no part "
                "in the match "
                "is a mismatch.",
                "比较哪个捕获组（编号或名称）：0 为整个匹配。未参与匹配的组视为不匹配。",
            ),
            0,
            {"type": ["integer", "string"], "minimum": 0},
        ),
        option(
            "compare",
            Bilingual("Compare with the ground truth", "与标准答案比较"),
            Bilingual(
                "none: finding the pattern is enough. Otherwise the group of the last match is compared with "
                "the ground "
                "truth as text, as a number (relative tolerance 1e-6) or as mathematics.",
                "none：找到即可。否则取最后一次匹配的捕获组，按文本、数值（相对误差 1e-6）或数学等价与标准答案比较。",
            ),
            "none",
            ("none", "exact", "number", "math"),
        ),
        ANSWER_FIELD,
        extract_from("text"),
        *GRADING,
        time_limit(1.0),
    ),
    examples=(
        Example(
            (1.0, 0.0),
            ("Answer: 41\nAnswer: 42", "no answer"),
            42,
            {"pattern": r"Answer:\s*(-?\d+)", "group": 1, "compare": "number"},
            prompt="What is 6 times 7?",
        ),
        Example(
            (0.0,), ("Answer: 41\nAnswer: 42",), 41, {"pattern": r"Answer:\s*(-?\d+)", "group": 1, "compare": "number"}
        ),
        Example((1.0,), ("Answer: 42",), None, {"pattern": "Answer"}),
        Example((0.0,), ("Answer: 42",), None, {"pattern": "Answer", "mode": "fullmatch"}),
        Example((1.0,), ("= 0.5",), r"\frac12", {"pattern": "= (.*)", "group": 1, "compare": "math"}),
        Example((None,), ("Answer: 1",), None, {"pattern": "Answer", "compare": "exact"}),
    ),
    check=_check_pattern,
    advise=_advise_pattern,
)
def regex_match(params: JsonObject, sample: Sample, completion: Completion) -> Score:
    """Score match iff the pattern is found and, unless compare is "none", its group equals a ground truth."""
    truths = () if params["compare"] == "none" else ground_truths(params, sample)
    if isinstance(truths, Score):
        return truths
    after_think = params["after_think"] and not sees_thinking(params["pattern"])
    part = extract(completion.text, params["extract"], after_think=after_think)
    if part.text is None or part.span is None:
        return no_answer(params, part)
    last = _last_match(params, part.text)
    if last is None:
        return verdict(params, False, sentence("the pattern is not found"))
    if params["compare"] == "none":
        return verdict(params, True, sentence("the pattern is found"), (_place(part.span, part.text, last.span()),))
    captured: str | None = last.group(params["group"])
    if captured is None:
        return verdict(params, False, sentence("group {group} took no part in the match", group=params["group"]))
    place = _place(part.span, part.text, last.span(params["group"]))
    return _compared(params, Extraction(captured, place), truths)


def _place(whole: Span, body: str, inner: Span) -> Span:
    """Where a match inside the graded part stands in the completion; numbers in other scripts have no finer place."""
    if whole[1] - whole[0] != len(body):
        return whole
    return whole[0] + inner[0], whole[0] + inner[1]


def _last_match(params: JsonObject, body: str) -> re.Match[str] | None:
    pattern = compiled(params["pattern"], params["flags"])
    if params["mode"] == "fullmatch":
        return pattern.fullmatch(body)
    if params["compare"] == "none":
        return pattern.search(body)
    last = None
    for match in pattern.finditer(body):
        last = match
    return last


def _compared(params: JsonObject, captured: Extraction, truths: tuple[str, ...]) -> Score:
    answer = captured.text or ""
    if params["compare"] == "math":
        from rewards_lib.presets.math_grading import score_answer

        return score_answer(params, captured, truths)
    if params["compare"] == "exact":
        is_match = answer.strip() in {truth.strip() for truth in truths}
        return verdict(params, is_match, took(captured, truths, is_match), captured.spans)
    wanted = [read_number(truth) for truth in truths]
    if None in wanted:
        return Score.failed(sentence("unusable ground truth: {truth} is not a number", truth=shown(" / ".join(truths))))
    value = read_number(answer)
    is_match = value is not None and any(
        is_close(value, number, rel_tol=1e-6) for number in wanted if number is not None
    )
    return verdict(params, is_match, took(captured, truths, is_match), captured.spans)
