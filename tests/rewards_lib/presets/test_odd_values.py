"""Values that are unusual and allowed: whole floats, deep nesting, negative numbers, truths that fold to nothing."""

import pytest

from rewards_lib.contract import Completion, Sample
from rewards_lib.presets import check_params, find_preset


def score(name, params, completion, **extra):
    complete = check_params(name, params)
    return find_preset(name).score_all(complete, Sample([], extra, []), [Completion(completion)])[0].value


@pytest.mark.parametrize(
    ("name", "params", "completion"),
    [
        ("soft_overlong", {"max_len": 100, "cache_len": 20, "unit": "chars"}, "x" * 90),
        ("length_penalty", {"max_len": 100, "unit": "chars"}, "x" * 150),
        ("repetition_penalty", {"ngram": 3}, "a b c a b c a b c"),
        ("regex_match", {"pattern": "(x)y", "group": 1}, "xy"),
        ("reasoning_steps", {"target": 2}, "Step 1: think"),
    ],
)
def test_a_whole_number_may_be_written_as_a_float(name, params, completion):
    floats = {key: float(value) if isinstance(value, int) else value for key, value in params.items()}
    assert check_params(name, floats) == check_params(name, params)
    assert all(type(value) is not float for key, value in check_params(name, floats).items() if key in floats)
    assert score(name, floats, completion, answer="x") == score(name, params, completion, answer="x") is not None


def test_a_number_that_need_not_be_whole_stays_as_it_is():
    assert type(check_params("numeric_close", {"abs_tol": 1.0})["abs_tol"]) is float


def call(arguments):
    made = {"type": "function", "function": {"name": "search", "arguments": arguments}}
    return {"messages": [{"role": "assistant", "content": None, "tool_calls": [made]}]}


@pytest.mark.parametrize("depth", [300, 700, 990, 5_000])
def test_json_that_is_nested_too_deeply_is_wrong_and_not_unscored(depth):
    expected = [{"name": "search", "arguments": {"query": "a"}}]
    deep = "[" * depth + "]" * depth
    assert score("tool_call_match", {"answer_field": "calls"}, call(deep), calls=expected) == 0
    assert score("tool_call_match", {"answer_field": "calls"}, call('{"query": "a"}'), calls=expected) == 1
    trees = {"type": "array", "items": {"$ref": "#"}}
    assert score("json_schema", {"schema": {"type": "object"}}, deep) == 0
    assert score("json_schema", {"schema": trees | {"maxItems": 0}}, deep) == 0
    both = {"type": "object", "properties": {"a": {"type": "string"}, "b": trees}, "required": ["a", "b"]}
    assert score("json_schema", {"schema": both, "partial": True}, f'{{"a": 1, "b": {deep}}}') in (0, 0.5)


def test_a_schema_without_an_end_is_no_fault_of_the_completion():
    assert score("json_schema", {"schema": {"$ref": "#"}}, "[]") is None


@pytest.mark.parametrize("metric", ["em", "f1", "sub_em"])
def test_a_truth_of_which_no_word_is_left_scores_nothing(metric):
    assert score("qa_match", {"metric": metric}, "<answer>anything</answer>", answer="❤️") is None
    assert score("qa_match", {"metric": metric}, "<answer>a heart</answer>", answer="heart") is not None


@pytest.mark.parametrize(
    ("numbers", "target", "expression", "reward"),
    [
        ([-3, 5], 2, "5+(-3)", 1.0),
        ([-3, 5], 2, "-3+5", 1.0),
        ([-3, 5], 2, "5-3", 0.1),
        ([-3, 5], 8, "5--3", 1.0),
        ([-3, 5], -15, "5*-3", 1.0),
        ([-3, -3, 2], -4, "-3+-3+2", 1.0),
        ([-3, 3], 0, "-3+3", 1.0),
        ([-3, -3], 0, "-3+3", 0.1),
        ([3, 5], 2, "-3+5", 1.0),
        ([-1.5, 2], 0.5, "2+(-1.5)", 1.0),
    ],
)
def test_a_negative_number_is_used_with_its_sign(numbers, target, expression, reward):
    assert score("countdown", {}, f"<answer>{expression}</answer>", numbers=numbers, target=target) == reward
