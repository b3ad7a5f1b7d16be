"""A mix over completions: sums, abstentions, failures; first with made-up rules, then with the real executor."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards_lib.contract import Completion, Payload, RuleResult, Sample, Score, sentence
from rewards_lib.executor import Executor, FunctionSource, Limits
from rewards_lib.mix import Mix, Rule
from rewards_lib.mix_result import combine
from rewards_lib.scoring import ResolvedFunction, score_payload

finite = st.floats(-1e6, 1e6)
scores = st.one_of(
    finite.map(Score.scored), st.just(Score.abstained()), st.just(Score.failed(sentence("it was Tuesday")))
)
weights = st.integers(1, 100_000).map(lambda hundredths: hundredths / 100)


def rule(name, weight, *given_scores, status="success", metrics=None):
    return RuleResult(name=name, weight=weight, scores=given_scores, status=status, version=name, metrics=metrics or {})


def test_the_reward_is_the_weighted_sum_in_decimals():
    result = combine([rule("a", 0.1, Score.scored(1)), rule("b", 0.2, Score.scored(1))], version="v")
    assert result.rewards == (0.3,)


def test_an_abstaining_rule_is_left_out_of_the_sum_and_all_abstaining_is_unscored():
    a = rule("a", 1, Score.scored(1), Score.abstained())
    b = rule("b", 2, Score.abstained(), Score.abstained())
    result = combine([a, b], version="v")
    assert (result.rewards, result.status) == ((1.0, None), "success")


def test_a_failed_rule_leaves_the_completion_unscored_and_the_others_scored():
    bad = rule("b", 1, Score.failed(sentence("no")), Score.scored(1), status="failure")
    result = combine([rule("a", 1, Score.scored(1), Score.scored(1)), bad], version="v")
    assert (result.rewards, result.status) == ((None, 2.0), "failure")
    assert str(result.error).startswith("b: ")


def test_a_sum_beyond_the_floats_is_unscored_and_says_so():
    huge = rule("a", 1000, Score.scored(1e308))
    result = combine([huge, rule("b", 1000, Score.scored(1e308))], version="v")
    assert (result.rewards, result.status) == ((None,), "failure")
    assert "too large" in str(result.error)


def test_a_metric_of_two_rules_bears_the_rules_names():
    a, b = rule("a", 1, metrics={"n": 1.0, "only": 2.0}), rule("b", 1, metrics={"n": 3.0})
    assert combine([a, b], version="v").metrics == {"a/n": 1.0, "b/n": 3.0, "only": 2.0}


@given(st.lists(st.tuples(weights, scores), min_size=1, max_size=5))
def test_no_number_is_invented(parts):
    result = combine([rule(str(i), weight, score) for i, (weight, score) in enumerate(parts)], version="v")
    states = {score.state for _, score in parts}
    if "failed" in states or states == {"abstained"}:
        assert result.rewards == (None,)
    else:
        expected = sum(weight * score.value for weight, score in parts if score.value is not None)
        assert result.rewards[0] == pytest.approx(expected)


@given(st.lists(finite, min_size=1, max_size=5), weights)
def test_the_sum_is_linear_in_the_weights(values, weight):
    once = combine([rule(str(i), weight, Score.scored(v)) for i, v in enumerate(values)], version="v").rewards[0]
    twice = combine([rule(str(i), 2 * weight, Score.scored(v)) for i, v in enumerate(values)], version="v").rewards[0]
    assert twice == pytest.approx(2 * once, abs=1e-9)


# --- with the real executor ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def executor():
    with Executor() as running:
        yield running


def payload(*texts, answer="0.5"):
    return Payload(Sample(extra={"answer": answer}), tuple(map(Completion, texts)))


def function(source):
    return lambda _rule: ResolvedFunction(FunctionSource(source), "reward.py · test")


TWO_PRESETS = Mix(
    "math",
    (
        Rule("accuracy", Decimal("0.35"), preset="math_accuracy"),
        Rule("format", Decimal("0.1"), preset="think_answer_format"),
    ),
)


def test_presets_of_a_mix_are_scored_in_the_worker(executor):
    given_texts = ("<think>a</think><answer>\\boxed{\\frac12}</answer>", "\\boxed{0.5}", "no box")
    result = score_payload(TWO_PRESETS, payload(*given_texts), executor=executor, resolve=function(""))
    assert (result.rewards, result.status) == ((0.45, 0.35, 0.0), "success")
    assert result.isolation is not None
    assert all(score.why for rule_ in result.rules for score in rule_.scores)


def test_a_missing_ground_truth_is_unscored_not_wrong(executor):
    nothing = Payload(Sample(), (Completion("\\boxed{1}"),))
    result = score_payload(TWO_PRESETS, nothing, executor=executor, resolve=function(""))
    assert (result.rewards, result.status) == ((None,), "failure")
    assert result.rules[1].rewards == [0.0]


def test_a_preset_and_a_function_are_added_and_name_their_versions(executor):
    source = """
from rl_types import RewardFunctionResult

def reward_fn(context, sample, completions):
    return RewardFunctionResult([2.0 for _ in completions])
"""
    mix = Mix("m", (Rule("f", Decimal(3), function="reward.py"), Rule("e", Decimal(1), preset="exact_match")))
    result = score_payload(mix, payload("0.5", "x"), executor=executor, resolve=function(source))
    assert result.rewards == (7.0, 6.0)
    assert [one.version for one in result.rules] == ["reward.py · test", "preset exact_match v1"]


def test_a_function_that_raises_leaves_every_completion_unscored_with_its_line(executor):
    mix = Mix("m", (Rule("f", Decimal(1), function="reward.py"),))
    source = "def reward_fn(context, sample, completions):\n    return 1 / 0\n"
    result = score_payload(mix, payload("a", "b"), executor=executor, resolve=function(source))
    assert (result.rewards, result.status) == ((None, None), "failure")
    assert result.rules[0].error_line == 2
    assert "ZeroDivisionError" in str(result.error)


def test_a_regex_that_explodes_leaves_its_completion_unscored_and_scores_the_next(executor):
    mix = Mix("m", (Rule("r", Decimal(1), preset="regex_match", params={"pattern": "(a+)+$", "time_limit_s": 0.3}),))
    result = score_payload(mix, payload("a" * 40 + "b", "aaa"), executor=executor, resolve=function(""))
    assert (result.rewards, result.status) == ((None, 1.0), "failure")
    assert "time" in str(result.error)


def test_a_result_tells_which_parameters_are_likely_an_accident(executor):
    mix = Mix("m", (Rule("length", Decimal(1), preset="cosine_length", params={"min_correct": 0, "max_wrong": 0.5}),))
    result = score_payload(mix, payload("x"), executor=executor, resolve=function(""))
    assert [(one.rule, one.path) for one in result.findings] == [("cosine_overlap", "rules[0].params.min_correct")]


def test_a_group_preset_is_scored_over_all_completions_at_once(executor):
    mix = Mix("m", (Rule("short", Decimal(1), preset="length_group", params={"correct_by": "exact_match"}),))
    same = Payload(
        Sample(extra={"answer": ["a" * 10, "a" * 20, "a" * 30]}), tuple(Completion("a" * n) for n in (10, 20, 30))
    )
    result = score_payload(mix, same, executor=executor, resolve=function(""))
    assert (result.rewards, result.status) == ((0.5, 0.0, -0.5), "success")


def test_a_functions_own_limits_hold_and_the_callers_win_over_them(executor):
    mix = Mix("m", (Rule("f", Decimal(1), function="reward.py"),))
    endless = "def reward_fn(context, sample, completions):\n    while True:\n        pass\n"
    own = ResolvedFunction(FunctionSource(endless), "reward.py · test", limits=Limits(wall_seconds=0.3))
    alone = score_payload(mix, payload("a"), executor=executor, resolve=lambda _rule: own)
    assert "0.3 s" in str(alone.error)
    capped = Limits(wall_seconds=0.2)
    asked = score_payload(mix, payload("a"), executor=executor, resolve=lambda _rule: own, limits=capped)
    assert "0.2 s" in str(asked.error)
