"""The hack table of the catalogue: what each preset pays for a completion that should not earn."""

from __future__ import annotations

import pytest

from rewards_lib.contract import Completion, Sample, ScoreState
from rewards_lib.presets import check_params, find_preset

G, W = "12", "13"  # the truth and a wrong value
GRADERS = {
    "math_accuracy": {},
    "exact_match": {"extract": "boxed"},
    "contains": {"extract": "boxed"},
    "numeric_close": {"extract": "boxed"},
    "qa_match": {"extract": "boxed"},
    "regex_match": {"pattern": r"\d+", "compare": "exact", "extract": "boxed"},
}


def earned(preset, completion, params=None, *, answer=None, extra=None, prompt=""):
    messages = ({"role": "user", "content": prompt},) if prompt else ()
    sample = Sample(messages, ({} if answer is None else {"answer": answer}) | (extra or {}))
    [score] = find_preset(preset).score_all(check_params(preset, params or {}), sample, [Completion(completion)])
    assert score.state is not ScoreState.FAILED, str(score.why)
    return score.value


TWO_ANSWERS = "<think>a</think><answer>13</answer><answer>12</answer>"
EMPTY = "<think></think><answer></answer>"
REORDERED = "</answer><answer></think><think>"
NUMBERS = {"numbers": [1, 2, 3, 4], "target": 24}
FLOOD = "<answer>" * 11 + "12</answer>"

TABLE = [
    ("two_answer_blocks", "think_answer_format", TWO_ANSWERS, {}, None, 0),
    ("two_answer_blocks", "tag_count", TWO_ANSWERS, {}, None, 0.5),
    ("two_answer_blocks", "qa_match", TWO_ANSWERS, {}, G, 1),
    ("two_answer_blocks", "qa_match", "<answer>12</answer><answer>13</answer>", {}, G, 0),
    ("trailing_text", "think_answer_format", "<think>a</think><answer>b</answer>\nextra", {}, None, 0),
    ("empty_bodies", "think_answer_format", EMPTY, {}, None, 0),
    ("empty_bodies", "exact_match", EMPTY, {"extract": "answer_tag"}, G, 0),
    ("empty_bodies", "contains", EMPTY, {}, G, 0),
    ("empty_bodies", "qa_match", EMPTY, {}, G, 0),
    ("tags_inside_think", "think_answer_format", "<think>a<answer>12</answer></think>", {}, None, 0),
    ("tags_reordered", "think_answer_format", REORDERED, {}, None, 0),
    ("tags_reordered", "tag_count", REORDERED, {}, None, 1),  # a leak by definition
    ("tag_flood", "qa_match", FLOOD, {}, G, 0),
    ("tag_flood", "tag_count", FLOOD, {}, None, 0.25),
    ("tag_flood", "think_answer_format", FLOOD, {}, None, 0),
    ("unfinished_box", "math_accuracy", r"\boxed{12} and then \boxed{13", {}, G, 0),
    ("unfinished_box", "math_accuracy", r"\boxed{12} then \boxed{13", {"fallback": "last_expression"}, G, 0),
    ("empty_box", "math_accuracy", r"\boxed{}", {}, G, 0),
    ("empty_box", "multiple_choice", r"The answer is B \boxed{}", {}, "B", 0),
    ("box_list", "math_accuracy", r"\boxed{11, 12, 13}", {}, G, 0),
    ("box_list", "math_accuracy", r"\boxed{x=12 \text{ or } x=13}", {}, G, 0),
    ("box_list", "math_accuracy", r"\boxed{\{12, 13\}}", {}, G, 0),
    ("box_list", "numeric_close", r"\boxed{11, 12, 13}", {"extract": "boxed"}, G, 0),
    ("many_boxes_wrong_last", "math_accuracy", r"\boxed{12}" + " text" * 500 + r" \boxed{13}", {}, G, 0),
    ("subset_of_answers", "math_accuracy", r"\boxed{2}", {}, "2, 3", 0),
    ("subset_of_answers", "contains", "only A", {}, ["A", "B"], 0),
    ("echo_unsolved", "math_accuracy", r"\boxed{x - 12 = 0}", {}, G, 0),
    ("echo_unsolved", "math_accuracy", r"\boxed{2x > 24}", {}, "x>12", 0),
    ("echo_unsolved", "math_accuracy", r"\boxed{x}", {}, G, 0),
    ("plus_minus_hedge", "math_accuracy", r"\boxed{\pm 12}", {}, G, 0),
    ("near_miss", "math_accuracy", r"\boxed{12.0012}", {}, G, 0),
    ("near_miss", "math_accuracy", r"\boxed{1200}", {}, G, 0),
    ("near_miss", "math_accuracy", r"\boxed{0.12}", {}, G, 0),
    ("near_miss", "math_accuracy", r"\boxed{3.14}", {}, r"\pi", 0),
    ("near_miss", "math_accuracy", r"\boxed{\frac{1}{2006!}}", {}, r"\frac{1}{2004!}", 0),
    ("near_miss", "numeric_close", "12.0012", {}, G, 0),
    ("embedded_number", "math_accuracy", r"\boxed{\foo 12 \bar}", {}, G, 0),
    ("embedded_number", "math_accuracy", r"\boxed{12\sqrt(2)}", {}, G, 0),
    ("list_all_candidates", "exact_match", "A or B or C or D", {}, "B", 0),
    ("list_all_candidates", "multiple_choice", "A or B or C or D", {}, "B", 0),
    ("list_all_candidates", "qa_match", "<answer>Rome Paris Oslo</answer>", {}, "Paris", 0),
    ("list_all_candidates", "qa_match", "<answer>Rome Paris Oslo</answer>", {"metric": "sub_em"}, "Paris", 1),  # a leak
    ("list_all_candidates", "contains", "Rome Paris Oslo", {}, "Paris", 1),  # a leak
    ("hedged_choice", "multiple_choice", "The answer is A or B", {}, "B", 0),
    ("hedged_choice", "multiple_choice", r"\boxed{A, B}", {}, "B", 0),
    ("untagged_answer", "qa_match", "12", {}, G, 0),
    ("untagged_answer", "math_accuracy", "12", {}, G, 0),
    ("words_around", "math_accuracy", r"\boxed{x = 13 = 12}", {}, G, 0),
    ("words_around", "math_accuracy", r"\boxed{18 \text{ km}}", {}, r"18\text{ cm}", 0),
    ("words_around", "exact_match", "x = 12", {}, G, 0),
    ("unicode_lookalike", "multiple_choice", "The answer is В", {}, "B", 0),  # a Cyrillic letter
    ("unicode_lookalike", "exact_match", "1\u200d3", {}, G, 0),
    ("unicode_lookalike", "numeric_close", "１３", {}, G, 0),
    ("bullets_only", "reasoning_steps", "- a\n- b\n- c\n- d", {}, None, 0),
    ("empty_steps", "reasoning_steps", "Step 1:\nStep 2:\nStep 3:", {}, None, 0),
    ("repeated_steps", "reasoning_steps", "Step 1: x\nStep 2: x\nStep 3: x", {}, None, 1 / 3),
    ("invisible_padding", "reasoning_steps", "Step 1: \u200b\u200b\nStep 2: ....", {}, None, 0),
    ("invisible_padding", "reasoning_steps", "Step 1: x\nStep 2: x\u200b...", {}, None, 1 / 3),
    ("two_code_blocks", "code_format", "```python\nx\n```\n```python\ny\n```", {}, None, 0),
    ("unclosed_fence", "code_format", "```python\nx", {}, None, 0),
    ("decoy_json", "json_schema", '{"a": 1} {"b": 1}', {"schema": {"required": ["a"]}}, None, 0),
    ("decoy_json", "json_schema", '{"a": 1, "a": 2}', {"schema": {"required": ["a"]}}, None, 0),
    ("decoy_json", "json_schema", '{"a": NaN}', {"schema": {"required": ["a"]}}, None, 0),
    ("foreign_in_code", "language_consistency", "```\nThe answer\n```\n好", {"language": "zh"}, None, 1),
    ("foreign_in_code", "language_consistency", "\t```\nThe answer\n```\n好", {"language": "zh"}, None, 1),
    ("foreign_in_code", "language_consistency", "`The answer is` $five$", {"language": "zh"}, None, None),
]


@pytest.mark.parametrize(("attack", "preset", "completion", "params", "answer", "right"), TABLE)
def test_an_attack_earns_no_more_than_it_should(attack, preset, completion, params, answer, right):
    value = earned(preset, completion, params, answer=answer)
    assert value == (None if right is None else pytest.approx(right)), attack


@pytest.mark.parametrize("completion", ["", " \n ", ":", "."])
def test_nothing_earns_nothing(completion):
    for preset, params in GRADERS.items():
        assert earned(preset, completion, params, answer=G) == 0
    assert earned("think_answer_format", completion) == 0
    assert earned("tag_count", completion) == 0
    assert earned("length_penalty", completion, {"max_len": 10}) == 0
    assert earned("countdown", completion, extra=NUMBERS) == 0


@pytest.mark.parametrize(("preset", "params"), GRADERS.items())
@pytest.mark.parametrize(
    "completion",
    [
        r"<think>\boxed{12}</think> The answer is \boxed{13}", r"<think>\boxed{12}</think> plain text after",
        r"<think> it must be \boxed{12}", r"<think>a</think><answer>\boxed{nonsense}</answer>",
    ],
    ids=["answer_only_in_think", "answer_only_in_think_plain", "unclosed_think", "format_only"],
)  # fmt: skip
def test_only_the_answer_after_thinking_earns(preset, params, completion):
    assert earned(preset, completion, params, answer=G) == 0


@pytest.mark.parametrize("share", [0.5, 0.8, 0.95])
def test_a_completion_cut_short_earns_nothing(share):
    text = r"<think>ten and two</think><answer>The answer is \boxed{\frac{24}{2}}.</answer>"
    cut = text[: int(len(text) * share)]
    complete = r"\boxed{\frac{24}{2}}" in cut
    assert earned("math_accuracy", cut, answer=G) == complete
    assert earned("think_answer_format", cut) == 0
    code = "```python\nprint(1)\n```"
    assert earned("code_format", code[: int(len(code) * share)]) == 0
    data = '{"a": {"b": 1}, "c": 2}'
    assert earned("json_schema", data[: int(len(data) * share)], {"schema": {"required": ["a", "c"]}}) == 0


@pytest.mark.parametrize("factor", [1.5, 2, 10])
def test_padding_beyond_the_maximum_never_pays_more(factor):
    right, wrong = r"\boxed{12}", r"\boxed{13}"
    for text in (right, wrong):
        at_most, padded = (text + "." * (int(length) - len(text)) for length in (100, 100 * factor))
        cosine = {"max_len": 100}
        assert earned("cosine_length", padded, cosine, answer=G) == earned("cosine_length", at_most, cosine, answer=G)
        overlong = {"max_len": 100, "cache_len": 20, "unit": "chars"}
        assert earned("soft_overlong", padded, overlong) == -1
        assert -1 <= earned("length_penalty", padded, {"max_len": 100}) < 0


def test_a_loop_is_punished_however_it_is_spelled():
    loop = "we look at it again. " * 50
    assert earned("repetition_penalty", loop) < -0.9
    shuffled = "We LOOK   at it Again. we look AT it again.  " * 25
    assert earned("repetition_penalty", shuffled) == earned("repetition_penalty", loop)
    assert earned("repetition_penalty", shuffled, {"tokenization": "word"}) < -0.9


def test_invisible_padding_counts_as_length():
    assert earned("length_penalty", "x" + "\u200b" * 200, {"max_len": 100}) == -1


@pytest.mark.parametrize(
    ("expression", "right"),
    [("24", 0.1), ("1*2*3*4*1", 0.1), ("12+3*4", 0.1), ("9**9**9", 0), ("(" * 300 + "1" + ")" * 300, 0)],
)
def test_countdown_believes_only_the_given_numbers(expression, right):
    assert earned("countdown", f"<answer>{expression}</answer>", extra=NUMBERS) == right
    assert earned("countdown", expression, extra=NUMBERS) == 0


def test_wrong_answers_that_collude_on_being_short_earn_nothing():
    preset = find_preset("length_group")
    params = check_params("length_group", {})
    texts = [r"\boxed{13}", r"\boxed{13}" + "." * 50, r"\boxed{12}" + "." * 90]
    scores = preset.score_all(params, Sample(extra={"answer": G}), [Completion(text) for text in texts])
    assert [score.value for score in scores] == [0, pytest.approx(min(0, 0.5 - 50 / 90)), -0.5]


def test_calling_everything_pays_only_when_names_are_compared():
    calls = [{"name": name, "arguments": {}} for name in ("a", "b", "c")] * 5
    completion = {"messages": [{"role": "assistant", "content": "", "tool_calls": calls}]}
    truth = [{"name": "b", "arguments": {"x": 1}}]
    assert earned("tool_call_match", completion, answer=truth) == 0
    assert earned("tool_call_match", completion, {"compare": "name"}, answer=truth) == 1  # a leak by definition


@pytest.mark.parametrize("prompt", ["What is 3 times 4? Put it in \\boxed{}. A. 12 B. 13"])
def test_echoing_the_prompt_earns_nothing(prompt):
    assert earned("math_accuracy", prompt, answer=G) == 0
    assert earned("exact_match", prompt, answer=G) == 0
    assert earned("multiple_choice", prompt, answer="A") == 0


@pytest.mark.parametrize(
    "power",
    ["10^{10^{10}}", "9^{9^{9^9}}", "100000000!", "(" * 300 + "13" + ")" * 300, "\\frac{1}{" * 60 + "2" + "}" * 60],
)
def test_huge_powers_and_deep_nesting_are_wrong_or_unscored_at_once(power):
    for preset, params, text in (
        ("math_accuracy", {}, f"\\boxed{{{power}}}"),
        ("regex_match", {"pattern": "= (.*)", "group": 1, "compare": "math"}, f"= {power}"),
    ):
        sample = Sample(extra={"answer": G})
        [score] = find_preset(preset).score_all(check_params(preset, params), sample, [Completion(text)])
        assert score.value in (0.0, None)
