"""What a check tells beyond refusals: imports that are not declared, a ``reward_fn`` that nobody will call."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards_lib.executor import check_once

GOOD = "def reward_fn(context, sample, completions):\n    return 1\n"


def told(findings) -> list[tuple[str, int | None, str]]:
    return [(finding.severity, finding.line, str(finding.message)) for finding in findings]


def test_an_import_that_no_requirement_offers_is_told_at_its_line(executor):
    source = "import math\nimport numpy as np, sympy\nfrom math_verify import parse\n" + GOOD
    assert told(executor.check(source, "numpy\n")) == [
        ("warning", 2, "No module named sympy: add it to the requirements and install them."),
        ("warning", 3, "No module named math_verify: add it to the requirements and install them."),
    ]
    assert executor.check(source, "numpy\nsympy\nmath-verify\n") == ()


def test_the_module_is_marked_and_nothing_else(executor):
    [finding] = executor.check("import os, numpy.linalg as la\n" + GOOD, "")
    assert (finding.column, finding.end_column, finding.rule) == (12, 17, "undeclared")


@pytest.mark.parametrize(
    "source",
    [
        "try:\n    import numpy\nexcept ImportError:\n    numpy = None\n",
        "import os.path, xml.etree.ElementTree\nfrom rl_types import RewardFunctionResult\nimport reward_tools\n",
        "from __future__ import annotations\n",
    ],
)
def test_what_is_optional_or_always_there_is_not_told(executor, source):
    assert executor.check(source + GOOD, "") == ()


def test_requirements_that_are_not_installed_or_not_given_leave_imports_alone(executor):
    source = "import nowhere\n" + GOOD
    assert executor.check(source) == executor.check(source, "no-such-thing==1\n") == ()
    assert executor.check(source, "-e .\n") == ()


def test_a_source_without_reward_fn_is_told(executor):
    [(severity, line, message)] = told(executor.check("x = 1\n", ""))
    assert (severity, line, "defines no function reward_fn" in message) == ("warning", 1, True)
    assert executor.check("x = 1\n") == ()


@pytest.mark.parametrize("name", ["reward_func", "rewardfn", "reward_fm", "Reward_Fn", "rewards_fn"])
def test_a_misspelt_reward_fn_is_told_at_its_name(executor, name):
    [finding] = executor.check(f"import math\ndef {name}(context, sample, completions):\n    return 1\n", "")
    assert f"named {name}; it must be named reward_fn" in str(finding.message)
    assert (finding.line, finding.column, finding.end_column) == (2, 5, 5 + len(name))


@pytest.mark.parametrize(
    "source",
    [
        "reward_fn = lambda c, s, r: 1\n", "from reward_tools import boxed_answer as reward_fn\n",
        "if True:\n    def reward_fn(c, s, r): pass\n", "class Judge:\n    pass\nreward_fn = Judge()\n",
        "def reward_fn(*arguments): pass\n", "def reward_fn(c, s, r, more=1): pass\n",
        "def reward_fn(c, /, s, r): pass\n",
        "import functools\n@functools.lru_cache\ndef reward_fn(one): pass\n",
        "def reward_fn(c): pass\ndef reward_fn(c, s, r): pass\n", "def reward_fn(c, s, r, **more): pass\n",
    ],
)  # fmt: skip
def test_a_reward_fn_that_may_work_has_no_advice(executor, source):
    assert executor.check(source, "") == ()


@pytest.mark.parametrize(
    ("source", "word"),
    [
        ("async def reward_fn(c, s, r): pass\n", "asynchronous"),
        ("def reward_fn(sample, completions): pass\n", "three arguments"),
        ("def reward_fn(a, b, c, d): pass\n", "three arguments"),
        ("def reward_fn(a, b, c, *, d): pass\n", "three arguments"),
        ("def reward_fn(): pass\n", "three arguments"),
    ],
)
def test_a_reward_fn_that_cannot_be_called_is_told(executor, source, word):
    [finding] = executor.check(source, "")
    assert word in str(finding.message)
    assert finding.severity == "warning"


def test_a_check_without_a_warm_worker_says_the_same(executor):
    source = "import numpy, sympy\ndef reward_func(c, s, r): pass\n"
    numpy_alone = {"numpy"}
    assert check_once(source, numpy_alone, advice=True) == executor.check(source, "numpy") != ()
    assert check_once(source) == executor.check(source) == ()


@given(st.text(max_size=60))
def test_advice_comes_with_a_place_and_never_breaks_on_any_text(executor, text):
    for finding in executor.check(text, ""):
        assert finding.line >= 1
        assert 1 <= finding.column < finding.end_column
