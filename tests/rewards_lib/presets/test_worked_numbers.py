"""The catalogue's worked numbers that are no example of the registry, and what parameters are refused."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards_lib.contract import Completion, Sample, ScoreState
from rewards_lib.errors import InputError
from rewards_lib.mathematics.numbers import is_close, read_number
from rewards_lib.presets import check_params, find_preset, review_params
from rewards_lib.presets.countdown import read_arithmetic
from rewards_lib.presets.similarity import common_subsequence, edit_ratio, similarity


def score(preset, completion, params=None, **extra):
    [result] = find_preset(preset).score_all(
        check_params(preset, params or {}), Sample(extra=extra), [Completion(completion)]
    )
    return result


# --- the exercises of the seed (A.1) -------------------------------------------------------------------------------

SEED_FORMAT = re.compile(r"^<think>.*?</think>\s*<answer>.*?</answer>$", re.DOTALL)
SEED = [
    ("<think>a</think><answer>b</answer>", 1, 1),
    ("just 42", 0, 0),
    ("<answer>b</answer><think>a</think>", 0, 0),
    ("<think>a<answer>b</answer>", 0, 0),
    ("  <think>a</think>\n\n<answer>b</answer>  ", 1, 1),
    ("<think>a</think><answer>b</answer><answer>c</answer>", 1, 0),
    ("<think></think><answer></answer>", 1, 0),
]


@pytest.mark.parametrize(("text", "expression", "preset"), SEED)
def test_the_seeds_expression_and_the_preset_differ_where_the_catalogue_says(text, expression, preset):
    assert bool(SEED_FORMAT.match(text.strip())) == expression
    assert score("think_answer_format", text).value == preset


@pytest.mark.parametrize(("box", "total"), [("391", 1.2928506080), ("390", -0.0928506080)])
def test_the_seeds_composite_is_the_sum_of_its_three_rewards(box, total):
    text = f"<think>23*17 = 23*17 = 391</think><answer>\\boxed{{{box}}}</answer>"
    cosine = {"min_correct": 0, "max_correct": 1, "min_wrong": -1, "max_wrong": 0, "max_len": 512}
    parts = [
        0.1 * score("think_answer_format", text).value,
        score("math_accuracy", text, answer="391").value,
        0.2 * score("cosine_length", text, cosine, answer="391").value,
    ]
    assert len(text) == 62
    assert math.fsum(parts) == pytest.approx(total, abs=1e-9)


# --- similarity (A.16) ---------------------------------------------------------------------------------------------

METRICS = ("token_f1", "rouge_l", "bleu", "edit_ratio")
SIMILARITIES = [
    ("the cat sat", "the cat sat on the mat", (0.666667, 0.666667, 0.367879, 0.5)),
    ("cat sat", "the cat sat", (0.8, 0.8, 0.606531, 0.636364)),
    ("sat cat the", "the cat sat", (1.0, 0.333333, 0.638943, 0.454545)),
    ("今天天气很好", "今天天气不好", (0.833333, 0.833333, 0.638943, 0.833333)),
    ("dog", "the cat", (0, 0, 0, 0)),
    ("", "", (1, 1, 1, 1)),
    ("", "x", (0, 0, 0, 0)),
    ("x", "", (0, 0, 0, 0)),
]


@pytest.mark.parametrize(("candidate", "reference", "values"), SIMILARITIES)
def test_similarities_are_the_catalogues(candidate, reference, values):
    found = [similarity(metric, candidate, reference) for metric in METRICS]
    assert found == pytest.approx(list(values), abs=5e-7)


def slow_distance(first, second):
    row = list(range(len(second) + 1))
    for i, a in enumerate(first, 1):
        row, above = [i], row
        for j, b in enumerate(second, 1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (a != b)))
    return row[-1]


def slow_subsequence(first, second):
    row = [0] * (len(second) + 1)
    for a in first:
        above = row[:]
        for j, b in enumerate(second, 1):
            row[j] = above[j - 1] + 1 if a == b else max(above[j], row[j - 1])
    return row[-1]


short = st.text(alphabet="abcd", max_size=12)


@given(short, short)
def test_the_bit_parallel_distances_equal_the_plain_ones(first, second):
    longer = max(len(first), len(second), 1)
    if first or second:
        assert edit_ratio(first, second) == pytest.approx(1 - slow_distance(first, second) / longer)
    assert common_subsequence(first, second) == slow_subsequence(first, second)


@given(st.text(), st.text(), st.sampled_from(METRICS))
def test_similarities_lie_between_0_and_1_and_are_1_for_equal_texts(first, second, metric):
    assert 0 <= similarity(metric, first, second) <= 1
    assert similarity(metric, first, first) == pytest.approx(1)


# --- numbers -------------------------------------------------------------------------------------------------------


@given(st.fractions(max_denominator=10**6), st.sampled_from(["", "+"]))
def test_fractions_are_read_as_they_are_spelled(value, sign):
    sign = sign if value >= 0 else ""
    assert read_number(f"{sign}{value.numerator}/{value.denominator}") == value


@given(st.decimals(-(10**9), 10**9, places=3), st.decimals(0, 10, places=3))
def test_a_number_is_close_exactly_up_to_its_tolerance(truth, tolerance):
    value = read_number(str(truth))
    assert is_close(value + read_number(str(tolerance)), value, abs_tol=float(tolerance))
    assert not is_close(value + read_number(str(tolerance)) * 2 + 1, value, abs_tol=float(tolerance))


@given(st.text(alphabet="0123456789+-*/() ", max_size=30))
def test_arithmetic_never_raises_and_agrees_with_python(text):
    read = read_arithmetic(text)
    if read is not None and read[0] is not None and not re.search(r"\b0\d|\*\*|//", text):
        assert float(read[0]) == pytest.approx(eval(text.strip()), rel=1e-9, abs=1e-9)


# --- refusals ------------------------------------------------------------------------------------------------------

REFUSED = [
    ("regex_match", {"pattern": ""}, "pattern"),
    ("regex_match", {"pattern": "(unclosed"}, "pattern"),
    ("regex_match", {}, "pattern"),
    ("regex_match", {"pattern": "a", "group": 1}, "group"),
    ("regex_match", {"pattern": "a", "group": "x"}, "group"),
    ("regex_match", {"pattern": "a", "flags": "z"}, "flags"),
    ("length_penalty", {}, "max_len"),
    ("length_penalty", {"max_len": 1, "target_len": 2}, "max_len"),
    ("length_penalty", {"max_len": 1, "max_penalty": 0.5}, "max_penalty"),
    ("length_penalty", {"max_len": 1, "min_len": 2}, "min_len"),
    ("length_penalty", {"max_len": 1.5}, "max_len"),
    ("length_penalty", {"max_len": True}, "max_len"),
    ("repetition_penalty", {"ngram": 0}, "ngram"),
    ("repetition_penalty", {"max_penalty": 0.5}, "max_penalty"),
    ("soft_overlong", {}, "max_len"),
    ("soft_overlong", {"max_len": 10}, "cache_len"),
    ("soft_overlong", {"max_len": 10, "cache_len": 11}, "cache_len"),
    ("cosine_length", {"min_correct": 2}, "min_correct"),
    ("cosine_length", {"min_wrong": 0}, "min_wrong"),
    ("cosine_length", {"correct_by": "length_penalty"}, "correct_by"),
    ("cosine_length", {"correct_params": {"x": 1}}, "correct_params.x"),
    ("cosine_length", {"correct_by": "regex_match"}, "correct_params.pattern"),
    ("length_group", {"correct_params": {"match": 0}}, "correct_params.match"),
    ("json_schema", {}, "schema"),
    ("json_schema", {"schema": {"type": "oops"}}, "schema"),
    ("json_schema", {"schema": {"$ref": "https://example.com/s.json"}}, r"schema.$ref"),
    ("json_schema", {"schema": {"$ref": "#/$defs/none"}}, "schema.$ref"),
    ("tag_count", {"tags": []}, "tags"),
    ("multiple_choice", {"choices": "AAB"}, "choices"),
    ("reasoning_steps", {"target": 0}, "target"),
    ("exact_match", {"match": None}, "match"),
    ("exact_match", {"match": float("nan")}, "match"),
    ("math_accuracy", {"time_limit_s": 0}, "time_limit_s"),
]


@pytest.mark.parametrize(("preset", "params", "path"), REFUSED)
def test_bad_parameters_are_refused_with_their_path(preset, params, path):
    with pytest.raises(InputError) as refused:
        check_params(preset, params, where="rules[0].params")
    assert refused.value.where == f"rules[0].params.{path}"
    assert path.split(".")[0] in str(refused.value)


def test_a_schedule_on_which_wrong_may_beat_right_is_warned_about():
    params = check_params("cosine_length", {"min_correct": -0.8, "max_correct": 1})
    [finding] = review_params("cosine_length", params)
    assert (finding.severity, finding.path) == ("warning", "params.min_correct")
    assert review_params("cosine_length", check_params("cosine_length", {})) == []


# --- the rest ------------------------------------------------------------------------------------------------------


def test_reasons_are_short_sentences():
    assert str(score("exact_match", "42", answer="42").why) == "took 42, equal to 42"
    assert str(score("math_accuracy", "42", answer="42").why) == "no box; extract boxed earns 0.0"
    assert str(score("length_penalty", "x" * 50, {"max_len": 100}).why) == "50 chars, within 0 to 100: no penalty"
    assert str(score("think_answer_format", SEED[0][0]).why) == "one think block, then one answer block"
    assert str(score("think_answer_format", SEED[5][0]).why) == "2 times <answer>"


def test_a_schema_may_refer_to_its_own_parts():
    schema = {"$defs": {"n": {"type": "integer"}}, "properties": {"a": {"$ref": "#/$defs/n"}}}
    assert score("json_schema", '{"a": 1}', {"schema": schema}).value == 1
    assert score("json_schema", '{"a": "1"}', {"schema": schema}).value == 0
    assert score("json_schema", '{"a": 1}', {"schema": {"$ref": "#"}}).state is ScoreState.FAILED


def test_the_ground_truth_may_lie_deeper_in_extra():
    assert score("exact_match", "5", {"answer_field": "a.b"}, a={"b": 5}).value == 1
    assert score("exact_match", "5", {"answer_field": "a.b"}, **{"a.b": 5}).value == 1
    assert "sample.extra.a.c is missing" in str(score("exact_match", "5", {"answer_field": "a.c"}, a={"b": 5}).why)


@pytest.mark.parametrize("truth", [{}, {"x": 1}, [], [[]], [None], True, ""])
def test_an_unusable_ground_truth_is_unscored(truth):
    assert score("exact_match", "5", answer=truth).state is ScoreState.FAILED


def test_a_pattern_that_names_a_think_tag_sees_the_thinking():
    text = "<think>a</think>b"
    assert score("regex_match", text, {"pattern": "^<think>.*</think>b$"}).value == 1
    assert score("regex_match", text, {"pattern": "a"}).value == 0
    assert score("regex_match", text, {"pattern": "a", "after_think": False}).value == 1


def test_marked_places_are_those_that_decided():
    result = score(
        "regex_match", "<think>x</think>Answer: 41", {"pattern": r"(\d+)", "group": 1, "compare": "number"}, answer=41
    )
    assert result.spans == ((24, 26),)
    assert score("contains", "It is PARIS", {"ignore_case": True}, answer="paris").spans == ((6, 11),)
    assert score("multiple_choice", r"so \boxed{\text{(B)}}", answer="B").spans == ((17, 18),)


def test_large_integers_keep_every_digit():
    assert score("math_accuracy", r"\boxed{9007199254740995}", answer=9007199254740995).value == 1
    assert score("math_accuracy", r"\boxed{9007199254740996}", answer=9007199254740995).value == 0
    assert score("numeric_close", "9007199254740996", {"rel_tol": 0}, answer=9007199254740995).value == 0


def test_a_countdown_try_may_hold_latex_and_typographic_signs():
    assert score("countdown", r"<answer>6 \div (1 − 3 ÷ 4)</answer>", numbers=[1, 3, 4, 6], target=24).value == 1


def test_the_same_as_the_prompt_takes_the_prompts_script():
    def share(prompt, text):
        sample = Sample(({"role": "user", "content": prompt},))
        params = check_params("language_consistency", {})
        return find_preset("language_consistency").score_all(params, sample, [Completion(text)])[0]

    assert share("Сколько будет два плюс три?", "Ответ пять").value == 1
    assert share("2 + 3 = ?", "five").state is ScoreState.FAILED
    assert share("How many?", "`x` 5").state is ScoreState.ABSTAINED
    assert share("How many?", "five cats").metrics == {"letters_counted": 8.0}
