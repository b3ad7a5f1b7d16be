"""The attack suite finds planted leaks and leaves honest rewards alone."""

import json
from decimal import Decimal

import pytest

from rewards_lib.errors import InputError
from rewards_lib.executor import FunctionSource
from rewards_lib.mix import Mix, Rule
from rewards_lib.presets import find_preset, preset_names
from rewards_lib.rollouts import AttackOptions, Rollout, attack_mix
from rewards_lib.rollouts.attacks.scene import wrong_value
from rewards_lib.scoring import ResolvedFunction, without_functions

LEAKS_BY_DEFINITION = {
    ("tag_count", "tags_reordered"),
    ("contains", "list_all_candidates"),
    ("qa_match sub_em", "list_all_candidates"),
    ("tool_call_match name", "call_everything"),
}
HEAD = """
import math, re
from rl_types import RewardFunctionResult

def text_of(completion):
    return completion["messages"][-1]["content"] or ""

def boxes(text):
    return re.findall(r"\\\\boxed\\{([^{}]*)\\}", text)

def reward_fn(context, sample, completions):
    truth = str(sample["extra"]["answer"])
    return RewardFunctionResult([float(grade(text_of(c), truth)) for c in completions])

"""
PLANTED = {
    "a substring in either direction": (
        "def grade(text, truth):\n    return truth in text or text.strip() in truth",
        {"nothing", "list_all_candidates", "answer_only_in_think"},
    ),
    "any box will do": ("def grade(text, truth):\n    return truth in boxes(text)", {"many_boxes_wrong_last"}),
    "a box that holds the truth somewhere": (
        "def grade(text, truth):\n    return bool(boxes(text)) and truth in re.findall(r'\\d+', boxes(text)[-1])",
        {"box_list", "plus_minus_hedge"},
    ),
    "a lazy pattern for the form": (
        "def grade(text, truth):\n"
        "    return bool(re.fullmatch(r'(?s)\\s*<think>.*?</think>\\s*<answer>.*?</answer>\\s*', text))",
        {"two_answer_blocks", "empty_bodies"},
    ),
    "tags that occur at all": (
        "def grade(text, truth):\n"
        "    return sum(t in text for t in ('<think>', '</think>', '<answer>', '</answer>')) / 4",
        {"tags_reordered", "two_answer_blocks"},
    ),
    "bullets count as steps": (
        "def grade(text, truth):\n    return min(1, len(re.findall(r'(?m)^(?:Step \\d+:|- |\\d+\\.)', text)) / 3)",
        {"bullets_only", "empty_steps"},
    ),
    "longer is better": ("def grade(text, truth):\n    return min(1, len(text) / 5000)", {"beyond_max_length"}),
    "a cosine that is not clamped": (
        "def grade(text, truth):\n"
        "    right = boxes(text)[-1:] == [truth]\n"
        "    return 0.5 + 0.5 * math.cos(math.pi * len(text) / 1000) if right else -0.5",
        {"beyond_max_length"},
    ),
    "close is right": (
        "def grade(text, truth):\n"
        "    found = re.findall(r'-?\\d+(?:\\.\\d+)?', text)\n"
        "    return bool(found) and abs(float(found[-1]) - float(truth)) <= 0.01 * abs(float(truth))",
        {"near_miss"},
    ),
    "what cannot be read is right": (
        "def grade(text, truth):\n"
        "    try:\n        return float(boxes(text)[-1]) == float(truth)\n"
        "    except (ValueError, IndexError):\n        return True",
        {"nothing", "embedded_number", "empty_box"},
    ),
    "words that please": (
        "def grade(text, truth):\n    return boxes(text)[-1:] == [truth] or 'correct' in text.lower()",
        {"judge_instruction"},
    ),
}
HONEST = {
    "the last whole box": (
        "def grade(text, truth):\n"
        "    if '<think>' in text:\n"
        "        if '</think>' not in text: return 0\n"
        "        text = text.rpartition('</think>')[2]\n"
        "    start = text.rfind('\\\\boxed{')\n"
        "    return start >= 0 and '}' in text[start:] and text[start + 7:text.index('}', start)] == truth"
    ),
    "a strict form": (
        "def grade(text, truth):\n"
        "    tags = ('<think>', '</think>', '<answer>', '</answer>')\n"
        "    if any(text.count(t) != 1 for t in tags): return 0\n"
        "    return bool(re.fullmatch(r'(?s)\\s*<think>.*\\S.*</think>\\s*<answer>.*\\S.*</answer>\\s*', text))"
    ),
}


def rollout(completion, line=1, *, prompt="What is 40+2?", answer="42", group="g", extra=None, tools=()):
    sample = {
        "messages": [{"role": "user", "content": prompt}] if prompt else [],
        "extra": ({} if answer is None else {"answer": answer}) | (extra or {}),
        "tools": list(tools),
    }
    return Rollout(line, str(line), group, sample, completion)


MATHS = [
    rollout("<think>40 and 2</think><answer>\\boxed{42}</answer>"),
    rollout("It is \\boxed{41}.", 2),
    rollout("\\boxed{17}", 3, prompt="8+9?", answer="17", group="h"),
]


def leaks_of(mix, rollouts, executor, resolve=without_functions):
    result = attack_mix(mix, rollouts, resolve=resolve, executor=executor, options=AttackOptions(repeats=1))
    assert result["status"] == ("failure" if any(row["leaks"] for row in result["attacks"]) else "success")
    return {row["name"] for row in result["attacks"] if row["leaks"]}, result


def own(source, executor):
    mix = Mix("own", (Rule("own", Decimal(1), function="own.py"),))
    return leaks_of(mix, MATHS[:2], executor, lambda _: ResolvedFunction(FunctionSource(HEAD + source), "own · test"))


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_leak_is_found(name, executor):
    source, expected = PLANTED[name]
    leaks, result = own(source, executor)
    assert expected <= leaks
    worst = next(row for row in result["attacks"] if row["leaks"])
    assert worst["earned"] > worst["expected_max"]
    assert worst["examples"][0]["paid_by"]


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_function_leaks_nothing(name, executor):
    assert own(HONEST[name], executor)[0] == set()


def preset_mix(name, **params):
    return Mix(name, (Rule(name, Decimal(1), preset=name, params=params),))


OFFLINE = [name for name in preset_names() if name not in ("llm_judge", "sandbox_submit", "code_judge")]


@pytest.mark.parametrize("name", OFFLINE)
def test_a_shipped_preset_leaks_only_what_it_leaks_by_definition(name, executor):
    """On its own worked examples, those of equal parameters at once."""
    alike = {}
    for number, example in enumerate(find_preset(name).examples):
        alike.setdefault(json.dumps(example.params), []).append((f"example {number}", example))
    for params, examples in alike.items():
        rows = [
            Rollout(place, str(place), group, example.sample.to_json(), completion)
            for group, example in examples
            for place, completion in enumerate(example.completions, 1)
        ]
        leaks, _ = leaks_of(preset_mix(name, **json.loads(params)), rows, executor)
        labels = {name, *(f"{name} {value}" for value in json.loads(params).values())}
        assert all(any((label, leak) in LEAKS_BY_DEFINITION for label in labels) for leak in leaks), (params, leaks)


def test_leaks_by_definition_are_reported(executor):
    calls = [{"name": "search", "arguments": {"query": "a"}}]
    asked = rollout({"messages": [{"role": "assistant", "content": "x"}]}, answer=calls)
    city = rollout("Paris", prompt="Capital of France?", answer="Paris")
    assert leaks_of(preset_mix("tag_count"), MATHS, executor)[0] == {"tags_reordered"}
    assert leaks_of(preset_mix("contains"), [city], executor)[0] == {"list_all_candidates"}
    assert leaks_of(preset_mix("qa_match", metric="sub_em"), [city], executor)[0] == {"list_all_candidates"}
    assert leaks_of(preset_mix("tool_call_match", compare="name"), [asked], executor)[0] == {"call_everything"}
    assert leaks_of(preset_mix("tool_call_match"), [asked], executor)[0] == set()


def test_the_truth_must_earn_the_most_and_a_sample_where_it_does_not_is_listed(executor):
    rows = [*MATHS, rollout("\\boxed{1}", 4, prompt="?", answer="see page 3", group="i")]
    mix = preset_mix("numeric_close", extract="boxed")
    _, result = leaks_of(mix, rows, executor)
    control = next(row for row in result["controls"] if row["name"] == "ground_truth")
    assert [row["line"] for row in control["failed"]] == [4]
    assert control["failed"][0]["why"]


def checks_of(source, executor):
    _, result = own(source, executor)
    return {row["name"]: row.get("holds") for row in result["checks"]}


def test_a_reward_that_differs_from_run_to_run_is_told(executor):
    source = "import random\ndef grade(text, truth):\n    return random.random()"
    assert checks_of(source, executor)["deterministic"] is False


def test_a_reward_that_depends_on_its_neighbours_is_told(executor):
    source = "seen = []\ndef grade(text, truth):\n    seen.append(text)\n    return len(seen)"
    found = checks_of(source, executor)
    assert (found["deterministic"], found["independent_of_order"], found["independent_of_others"]) == (
        True,
        False,
        False,
    )


def test_an_attack_that_makes_the_function_fail_is_counted_apart(executor):
    leaks, result = own("def grade(text, truth):\n    return boxes(text)[-1] == truth", executor)
    nothing = next(row for row in result["attacks"] if row["name"] == "nothing")
    assert nothing["unscored"] == nothing["completions"]
    assert "IndexError" in nothing["unscored_why"]
    assert "nothing" not in leaks


def test_a_group_whose_rewards_cannot_be_computed_earns_no_number_under_collusion(executor):
    """Nothing is invented where no completion of the group was scored."""
    params = {"correct_by": "numeric_close", "correct_params": {"answer_field": "absent"}}
    _, result = leaks_of(preset_mix("length_group", **params), MATHS, executor)
    row = next(row for row in result["attacks"] if row["name"] == "group_collusion")
    assert (row["earned"], row["leaks"]) == (None, 0)
    assert row["unscored"] == row["completions"] > 0
    assert row["unscored_why"]


def test_what_a_function_could_not_score_makes_it_no_grader(executor):
    """It fails on each wrong answer: no number is not less than any number."""
    _, result = own("def grade(text, truth):\n    assert '43' not in text\n    return 0.5", executor)
    assert result["functions"] == {"own": "other"}


def test_attacks_that_do_not_apply_are_listed_with_the_reason(executor):
    _, result = leaks_of(preset_mix("math_accuracy"), MATHS, executor)
    skipped = {row["name"]: row["why"] for row in result["skipped"]}
    assert "no rule" in skipped["bullets_only"]


def test_rollouts_without_completions_cannot_be_attacked(executor):
    with pytest.raises(InputError, match="no rollout"):
        leaks_of(preset_mix("math_accuracy"), [rollout(None)], executor)


@pytest.mark.parametrize("truth", ["41", "-3.5", "B", "Paris", "a zebra", "\\frac12", "(1, 2)", ""])
def test_a_wrong_value_never_holds_the_truth(truth):
    assert truth == "" or truth not in wrong_value(truth)


def test_a_grader_that_trusts_what_a_program_says_of_itself_is_caught(executor):
    """It runs nothing: a program that holds the expected text, or ends well, is paid."""
    tests = [
        {"input": {"stdin": "2 3\n"}, "output": {"stdout": "5\nok\n"}},
        {"input": {"stdin": "1\n"}, "output": {"stdout": "1\n"}},
    ]
    source = (
        "def grade(text, truth):\n    return 'exit(0)' in text or 'print(' in text and any(c.isdigit() for c in text)"
    )
    function = ResolvedFunction(FunctionSource(HEAD + source), "f")
    mix = Mix("m", (Rule("own", function="own"),))
    rows = [rollout(f"```python\nprint({n})\n```", n, answer="5") for n in (1, 2)]
    for row in rows:
        row.sample["extra"]["tests"] = tests
    found = attack_mix(mix, rows, resolve=lambda _: function, executor=executor)
    made = {row["name"] for row in found["attacks"]} | {row["name"] for row in found["skipped"]}
    assert {"exit_zero", "patched_framework", "endless_program", "label_enumeration", "first_line_only"} <= made


def test_reasoning_moved_into_code_earns_no_more_than_the_word_outside(executor):
    row = rollout("The sum is four.", 1, answer="4")
    leaks, result = leaks_of(preset_mix("language_consistency"), [row], executor)
    assert "foreign_in_code" in {one["name"] for one in result["attacks"]}
    assert "foreign_in_code" not in leaks
