"""The helpers of reward code: what they find, what they leave None, and that reward code can import them."""

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards_lib import reward_tools
from rewards_lib.contract import Completion, Payload, Sample
from rewards_lib.executor import Executor, FunctionSource

TEXT = """<think>\\boxed{1} <answer>a</answer></think>
Costs 1,234.50 in total.
```python
print(1)
```
```Py
print(2)
```
{"a": 1} so <answer> 42 </answer> and \\boxed{\\frac{1}{2}}"""
FINDERS = [
    reward_tools.after_think, reward_tools.boxed, reward_tools.tag, reward_tools.last_line, reward_tools.numbers,
    reward_tools.last_number, reward_tools.to_number, reward_tools.code_blocks, reward_tools.last_code,
    reward_tools.json_value, reward_tools.calculate, reward_tools.completion_text,
]  # fmt: skip


def test_what_is_there_is_found():
    assert reward_tools.boxed(TEXT) == r"\frac{1}{2}"
    assert reward_tools.tag(TEXT) == "42"
    assert reward_tools.tag("<x>1</x>", "x") == "1"
    assert reward_tools.after_think(TEXT).startswith("\nCosts")
    assert reward_tools.code_blocks(TEXT) == ["print(1)\n", "print(2)\n"]
    assert reward_tools.code_blocks(TEXT, "python") == ["print(1)\n"]
    assert reward_tools.last_code(TEXT, "python", "py") == "print(2)\n"
    assert reward_tools.json_value(TEXT.partition("so")[0]) == {"a": 1}
    assert reward_tools.last_number("about 3/4") == 0.75


def test_what_is_not_there_is_none():
    assert reward_tools.after_think("<think>endless") is None
    for find in (reward_tools.boxed, reward_tools.tag, reward_tools.last_number, reward_tools.last_code):
        assert find("nothing here") is None
    assert reward_tools.json_value('{"a": 1, "a": 2}') is None
    assert reward_tools.last_number("1e400") is None
    assert reward_tools.to_number("1/0") is None


def test_mathematics_has_three_answers():
    assert reward_tools.math_equal("50%", 0.5) is True
    assert reward_tools.math_equal("28", r"28\%", percent="strict") is False
    assert reward_tools.math_equal("5", "}") is None


@pytest.mark.parametrize(
    ("expression", "value"),
    [("6/(1-3/4)", 24), ("2**10", 1024), (r"\frac{1}{2}+1", Fraction(3, 2)), ("-2^2", -4), ("1/0", None), ("x", None)],
)
def test_arithmetic_is_exact_and_nothing_else_is_evaluated(expression, value):
    assert reward_tools.calculate(expression) == value


@given(st.text(), st.sampled_from(FINDERS))
def test_no_text_makes_a_helper_raise(text, find):
    find(text)


@given(st.text(max_size=30), st.text(max_size=30))
def test_no_pair_of_texts_makes_equality_raise(answer, truth):
    assert reward_tools.math_equal(answer, truth) in (True, False, None)


def test_only_helpers_are_shown():
    shown = {name for name in vars(reward_tools) if not name.startswith("_")} - {"annotations"}
    assert shown == set(reward_tools.__all__)


REWARD = """
import reward_tools
from reward_tools import math_equal, boxed
from rl_types import RewardFunctionResult

def reward_fn(context, sample, completions):
    texts = [reward_tools.completion_text(completion) for completion in completions]
    equal = [math_equal(boxed(text) or "", sample["extra"]["answer"]) for text in texts]
    return RewardFunctionResult([None if one is None else float(one) for one in equal])
"""


def test_reward_code_imports_the_helpers_inside_the_executor():
    texts = [r"\boxed{\sqrt{8}}", r"\boxed{\sqrt{2}}", r"\boxed{\foo}", "no box"]
    payload = Payload(Sample(extra={"answer": "2\\sqrt2"}), tuple(map(Completion, texts)))
    with Executor() as executor:
        findings = executor.check(REWARD)
        run = executor.run_function(FunctionSource(REWARD), payload)
    assert findings == ()
    assert run.status == "success", run.error
    assert [score.value for score in run.scores] == [1.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    "line", ["import mpmath", "import rewards_lib", "from reward_tools import _contract", "reward_tools._extraction"]
)
def test_what_lies_behind_the_helpers_stays_out_of_reach(line):
    source = f"import reward_tools\n{line}\ndef reward_fn(context, sample, completions):\n    return [1.0]\n"
    with Executor() as executor:
        run = executor.run_function(FunctionSource(source), Payload(Sample(), (Completion("x"),)))
    assert run.status == "failure"


def test_every_helper_is_documented_and_the_documents_example_runs():
    text = (Path(__file__).parents[2] / "docs" / "reward_tools.md").read_text(encoding="utf-8")
    assert [name for name in reward_tools.__all__ if f"| `{name}(" not in text] == []
    example = text.partition("```python\n")[2].partition("```")[0]
    payload = Payload(Sample(extra={"answer": "1/2"}), tuple(map(Completion, [r"\boxed{0.5}", r"\boxed{2}", "no box"])))
    with Executor() as executor:
        run = executor.run_function(FunctionSource(example), payload)
    assert [score.value for score in run.scores] == [1.0, 0.0, 0.0]
