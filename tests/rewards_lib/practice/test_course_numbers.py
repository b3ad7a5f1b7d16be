"""The numbers of the course that these exercises follow: the right ones hold, the mistaken ones are named and do not.

The exercises' own solutions are run here without the executor, as a trainer would import them.
"""

import re
from fractions import Fraction

import pytest

from rewards_lib.agentic import (
    assign_advantage,
    assign_reward_kl_weighted,
    assign_reward_last_token,
    assign_reward_uniform,
    build_loss_mask,
    shift_mask_for_clm,
)
from rewards_lib.practice import exercises

BOXED_391 = "<think>23*17 = 23*17 = 391</think><answer>\\boxed{391}</answer>"
MASK = [0, 0, 1, 1, 0, 1, 1, 1, 0]
KL = [0, 0, 0.1, 0.5, 0, 2.0, 0.1, 0.3, 0]
COURSE_PATTERN = re.compile(r"^\s*<think>.*?</think>\s*<answer>.*?</answer>\s*$", re.DOTALL)


def solution(name):
    names = {}
    exec(exercises()[name].solution, names)
    return names


@pytest.mark.parametrize(
    ("completion", "reward"),
    [
        ("<think>Let me compute 2+3</think><answer>5</answer>", 1.0),
        ("The answer is 5", 0.0),
        ("<answer>5</answer><think>oops</think>", 0.0),
        ("<think>halfway", 0.0),
        ("  <think>x</think>\n\n<answer>y</answer>", 1.0),
    ],
)
def test_the_five_completions_of_the_format_reward(completion, reward):
    assert solution("format_reward")["format_reward"](completion) == reward


def test_mistaken_the_courses_pattern_is_not_strict_since_its_dots_swallow_tags():
    repeated = "<think>a</think><answer>5</answer><answer>6</answer>"
    assert COURSE_PATTERN.match(repeated)
    assert solution("format_reward")["format_reward"](repeated) == 0.0


@pytest.mark.parametrize(
    ("completion", "truth", "reward"),
    [
        ("so \\boxed{0.5}", "1/2", 1.0),
        ("\\boxed{\\frac{1}{2}}", "0.5", 1.0),
        ("\\boxed{2}\n\\boxed{3}", "3", 1.0),
        ("no answer", "5", 0.0),
        ("\\boxed{abc}", "5", 0.0),
    ],
)
def test_the_five_cases_of_the_verifiable_reward(completion, truth, reward):
    assert solution("verifiable_reward")["accuracy_reward"](completion, truth) == reward


def test_mistaken_the_courses_box_pattern_finds_no_fraction_and_fails_its_own_second_case():
    assert re.findall(r"\\boxed\{([^{}]*)\}", "\\boxed{\\frac{1}{2}}") == []


def test_mistaken_the_courses_short_normalisation_raises_on_a_text_that_is_no_number():
    with pytest.raises(ValueError, match="could not convert"):
        Fraction(float("abc"))  # what it falls back to when Fraction("abc") has failed
    assert solution("verifiable_reward")["as_number"]("abc") is None


def test_the_mask_of_twelve_tokens_and_its_shift():
    spans = [("system", 0, 2), ("user", 2, 5), ("assistant", 5, 8), ("tool", 8, 10), ("assistant", 10, 12)]
    raw, shifted = [0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 1, 1], [0, 0, 0, 0, 1, 1, 1, 0, 0, 1, 1]
    assert (
        build_loss_mask(range(12), spans).tolist() == raw == solution("loss_mask")["build_loss_mask"](range(12), spans)
    )
    assert shift_mask_for_clm(raw).tolist() == shifted == solution("mask_shift")["shift_mask"](raw)
    assert (sum(shifted), len(shifted)) == (5, 11)


def test_mistaken_a_batch_holds_the_oldest_rollouts_not_the_newest():
    """A comment of the course says newest above ``popleft``; the case of the exercise says which it is."""
    full = next(check for check in exercises()["rollout_buffer"].checks if "full" in str(check.case))
    assert full.gives == [["c", "d"], ["e", "f"], 2]


def test_mistaken_the_composite_of_a_short_right_answer_is_not_1_1():
    """The course expects a length reward of 0 and a total of 1.1; its formula pays short right answers most."""
    names = solution("composite_reward")
    length = names["cosine_length"](len(BOXED_391), 512, right=True)
    assert (len(BOXED_391), round(1 - length, 6), round(length, 6)) == (62, 0.035747, 0.964253)
    parts = {
        "fmt": solution("format_reward")["format_reward"],
        "acc": solution("verifiable_reward")["accuracy_reward"],
    }
    functions = {
        "fmt": lambda completion, truth: parts["fmt"](completion),
        "acc": parts["acc"],
        "cos_len": lambda completion, truth: length,
    }
    reward = names["compose"]({"fmt": 0.1, "acc": 1.0, "cos_len": 0.2}, functions)
    assert round(reward(BOXED_391, "391")["total"], 6) == 1.292851


def test_the_three_ways_to_share_a_reward_out():
    names = solution("credit_assignment")
    ours = [
        assign_reward_last_token(1.0, MASK), assign_reward_uniform(1.0, MASK), assign_reward_kl_weighted(1.0, MASK, KL),
    ]  # fmt: skip
    theirs = [names["last_token"](1.0, MASK), names["uniform"](1.0, MASK), names["by_kl"](1.0, MASK, KL)]
    shown = [[0, 0, 0, 0, 0, 0, 0, 1, 0], [0, 0, 0.2, 0.2, 0, 0.2, 0.2, 0.2, 0]]
    shown.append([0, 0, 0.033333, 0.166667, 0, 0.666667, 0.033333, 0.1, 0])
    for one, other, numbers in zip(ours, theirs, shown, strict=True):
        assert one.tolist() == pytest.approx(other)
        assert other == pytest.approx(numbers, abs=1e-6)


def test_mistaken_grpo_does_not_use_the_last_token_only():
    names = solution("credit_assignment")
    assert names["broadcast"](0.5, MASK) == assign_advantage(0.5, MASK).tolist() == [0.5 * keep for keep in MASK]
