"""What an author may set: every stored value gives limits that the executor can hold."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards_lib.executor import Limits, limits_from
from rewards_lib.executor.limits import RANGES

ANYTHING = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.lists(st.integers())


@given(st.dictionaries(st.sampled_from([*RANGES, "cpu_seconds", "result_bytes", "other"]), ANYTHING))
def test_any_stored_limits_stay_within_their_ranges(stored):
    limits = limits_from({"limits": stored})
    for name, (least, most) in RANGES.items():
        assert least <= getattr(limits, name) <= most
    assert (limits.cpu_seconds, limits.result_bytes) == (None, Limits().result_bytes)


@pytest.mark.parametrize(
    "content", [{}, {"limits": None}, {"limits": []}, {"limits": {}}, {"limits": {"threads": "64"}}]
)
def test_what_is_not_set_has_its_default(content):
    assert limits_from(content) == Limits()


def test_a_number_beyond_every_float_is_the_bound():
    assert limits_from({"limits": {"threads": 10**400}}).threads == RANGES["threads"][1]


def test_infinity_is_the_bound_and_no_number_is_not_set():
    assert limits_from({"limits": {"memory_mb": math.inf}}).memory_mb == RANGES["memory_mb"][1]
    assert limits_from({"limits": {"memory_mb": math.nan}}) == Limits()


def test_a_run_is_held_to_the_limits_of_its_function(run):
    source = (
        "import threading\ndef reward_fn(context, sample, completions):\n    wait = threading.Event()\n"
        "    for _ in range(8):\n        threading.Thread(target=wait.wait, daemon=True).start()\n"
        "    return RewardFunctionResult([1, 1])\n"
    )
    assert run(source).error is None
    assert "limit of 4 threads" in str(run(source, limits=limits_from({"limits": {"threads": 4}})).error)
