"""What holds for every preset on any text: it never raises, stays in bounds, and ignores what it claims to ignore."""

from __future__ import annotations

import math
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rewards_lib.contract import Completion, ScoreState
from rewards_lib.presets import check_params, find_preset, preset_names

NAMES = [name for name in preset_names() if find_preset(name).runs_on == "worker"]
PENALTIES = {"length_penalty": (-1, 0), "soft_overlong": (-1, 0), "repetition_penalty": (-1, 0)}
BOUNDS = PENALTIES | {"cosine_length": (-1, 1), "length_group": (-0.5, 0.5)}
"""The lowest and highest reward under default parameters; 0 and 1 for all others."""
LENGTHS = {"length_penalty", "cosine_length", "soft_overlong", "length_group"}
KEEPS_BLANKS = LENGTHS | {"regex_match", "code_format"}
"""White space counts there: it is length, and what a pattern may look for; an indented fence is no fence."""

anything = st.text(alphabet=st.characters(exclude_categories=()), max_size=60)
pieces = st.sampled_from(
    [
        *("<think>", "</think>", "<answer>", "</answer>", "\\boxed{", "}", "{", "$", "```python\n", "```\n", "\n"),
        *("\ud800", "\0", "½", "٧", "１", "\u200b", "A", "B", "Step 1: x\n", "answer is ", "1/0", "9" * 400, "1e999"),
        *("\\frac{1}{", "(" * 99, "^", "=", "\\pm", '{"a":', "[1,", "NaN", "and", "或", "100!", "10^{10^{10}}"),
    ]
)
composed = st.lists(pieces, max_size=12).map("".join)
texts = st.one_of(anything, composed)


def score(name, text, params=None, example=None):
    preset = find_preset(name)
    example = example or preset.examples[0]
    complete = check_params(name, example.params if params is None else params)
    return preset.score_all(complete, example.sample, [Completion(text)])[0]


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=60, deadline=None)
@given(text=texts)
def test_any_text_is_scored_within_bounds_or_has_a_reason_for_having_no_score(name, text):
    result = score(name, text)
    assert result.why is not None
    str(result.why)
    if result.state is ScoreState.SCORED:
        low, high = BOUNDS.get(name, (0, 1))
        assert math.isfinite(result.value)
        assert low <= result.value <= high
        assert str(result.value) != "-0.0"
    else:
        assert result.value is None
    assert all(0 <= start <= end <= len(text) for start, end in result.spans)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in KEEPS_BLANKS])
@settings(max_examples=25, deadline=None)
@given(before=st.text(" \n\t", max_size=3), after=st.text(" \n\t", max_size=3), data=st.data())
def test_white_space_around_a_completion_changes_nothing(name, before, after, data):
    example = data.draw(st.sampled_from(find_preset(name).examples))
    raws = [raw for raw in example.completions if isinstance(raw, str)]
    text = data.draw(st.one_of(st.sampled_from(raws), composed)) if raws else data.draw(composed)
    assert score(name, before + text + after, None, example).value == score(name, text, None, example).value


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("piece", ["x", "\\boxed{1}", "<answer>", "{", "\n", "½", "我", "\ud800", "(", "```python\n"])
def test_a_long_text_costs_a_time_that_grows_with_its_length_only(name, piece):
    started = time.process_time()
    score(name, piece * (100_000 // len(piece)))
    assert time.process_time() - started < 5


BEGINNINGS = ["", "answer", "答案", "A", "Step 1", "1", "\\boxed{", "<think>", "```python"]
RUNS = [" ", "\t", " \n", ")", "(", "*", "{", "\\text{", "A", "1,", "."]


@pytest.mark.parametrize("name", NAMES)
def test_a_run_behind_a_phrase_and_before_another_end_costs_no_more(name):
    """Two patterns that may share one run of blanks try every way to part it, but only where the end does not fit."""
    started = time.process_time()
    for beginning in BEGINNINGS:
        for run in RUNS:
            score(name, beginning + run * (800 // len(run)) + "z")
    assert time.process_time() - started < 8


lengths = st.lists(st.integers(0, 400), min_size=2, max_size=6).map(sorted)


@given(lengths)
def test_a_longer_completion_never_earns_more_under_a_length_rule(counts):
    for name, params in (
        ("length_penalty", {"max_len": 100, "tolerance": 37}),
        ("soft_overlong", {"max_len": 200, "cache_len": 77, "unit": "chars"}),
        ("cosine_length", {"max_len": 300, "correct_by": "regex_match", "correct_params": {"pattern": "x|^$"}}),
    ):
        values = [score(name, "x" * count, params).value for count in counts]
        assert values == sorted(values, reverse=True)


@given(lengths)
def test_a_longer_wrong_completion_never_loses_more_under_a_cosine(counts):
    params = {"max_len": 300, "correct_by": "regex_match", "correct_params": {"pattern": "y"}}
    values = [score("cosine_length", "x" * count, params).value for count in counts]
    assert values == sorted(values)


@given(st.integers(3, 30), st.integers(1, 30))
def test_repeating_the_same_words_once_more_never_lightens_the_penalty(size, times):
    words = " ".join(f"w{n}" for n in range(size))
    penalties = [score("repetition_penalty", " ".join([words] * count)).value for count in (times, times + 1)]
    assert penalties[1] <= penalties[0] <= 0


@given(st.integers(0, 8), st.integers(1, 6))
def test_more_new_steps_never_earn_less(count, target):
    steps = [f"Step {n}: do thing {n}" for n in range(count + 1)]
    fewer, more = (score("reasoning_steps", "\n".join(steps[:n]), {"target": target}).value for n in (count, count + 1))
    assert fewer <= more <= 1


@given(st.fractions(min_value=-1000, max_value=1000, max_denominator=1000), st.floats(0, 5), st.floats(0, 5))
def test_a_wider_tolerance_never_loses_a_match(value, first, second):
    narrow, wide = sorted((first, second))
    text = f"{float(value):.6f}"
    example = find_preset("numeric_close").examples[0]
    values = [score("numeric_close", text, {"abs_tol": tolerance}, example).value for tolerance in (narrow, wide)]
    assert values[0] <= values[1]
