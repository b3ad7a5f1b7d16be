"""``run_items``: our own code over items, in a child that can be killed, resumed behind whatever went wrong."""

from __future__ import annotations

import pytest
from executor_inputs import least_seconds

from rewards_lib.errors import ExecutionError, LimitError
from rewards_lib.executor import Limits


def test_every_item_gets_its_value_in_order(executor):
    runs = executor.run_items("math:factorial", list(range(50)), item_seconds=5)
    assert [run.value for run in runs][:6] == [1, 1, 2, 6, 24, 120]
    assert len(runs) == 50
    assert all(run.error is None and run.duration_ms >= 0 for run in runs)


def test_our_own_modules_are_found_inside(executor):
    assert (
        executor.run_items("rewards_lib.strict_json:write_json", [{"a": -0.0}], item_seconds=5)[0].value == '{"a": 0.0}'
    )


def test_an_item_over_its_own_seconds_is_killed_and_the_rest_goes_on(executor):
    def reach_the_limit_twice() -> None:
        runs = executor.run_items("time:sleep", [0, 60, 0, 60, 0], item_seconds=[5, 0.2, 5, 0.2, 5])
        assert [run.error is None for run in runs] == [True, False, True, False, True]
        assert isinstance(runs[1].error, LimitError)
        assert (runs[1].error.limit, "0.2 s" in str(runs[1].error)) == ("wall", True)

    assert least_seconds(reach_the_limit_twice, 3) < 3


@pytest.mark.parametrize("entry", ["os:_exit", "signal:raise_signal"])
def test_a_crash_costs_the_item_it_happened_on(executor, entry):
    """SIGSEGV is 11; signal 0 and exit status 0 are no crash but still no value for what follows in that child."""
    runs = executor.run_items(entry, [11, 11, 11], item_seconds=5)
    assert [type(run.error) for run in runs] == [ExecutionError] * 3


def test_running_out_of_memory_costs_the_item_it_happened_on(executor):
    runs = executor.run_items("builtins:bytearray", [10**11, "x", 0], item_seconds=5, limits=Limits(memory_mb=200))
    assert isinstance(runs[0].error, LimitError)
    assert runs[0].error.limit == "memory"
    assert "TypeError" in str(runs[1].error)
    assert "not JSON serializable" in str(runs[2].error)


def test_an_exception_is_the_items_own_error_and_the_child_goes_on(executor):
    runs = executor.run_items("math:sqrt", [4, -1, 9], item_seconds=5)
    assert [run.value for run in runs] == [2.0, None, 3.0]
    assert "ValueError" in str(runs[1].error)


def test_an_entry_that_cannot_be_imported_is_every_items_error(executor):
    runs = executor.run_items("rewards_lib.nowhere:nothing", [1, 2], item_seconds=5)
    assert ["nowhere" in str(run.error) for run in runs] == [True, True]


def test_a_value_that_is_no_json_is_an_error(executor):
    assert executor.run_items("math:exp", [710.0], item_seconds=5)[0].value is None
    assert executor.run_items("builtins:float", ["nan"], item_seconds=5)[0].value is None


def test_no_items_need_no_worker(executor):
    assert executor.run_items("math:sqrt", [], item_seconds=1) == []


def test_our_own_code_is_confined_too(executor):
    if executor.isolation().tier == "C":
        pytest.skip("tier C holds no files back")
    runs = executor.run_items("os:listdir", ["/root", "/home", "/tmp"], item_seconds=5)
    assert all(run.value is None or "passwd" not in run.value for run in runs)
    assert executor.run_items("io:open", ["/etc/passwd"], item_seconds=5)[0].value is None


def test_one_time_limit_for_each_item_or_one_for_all(executor):
    with pytest.raises(ValueError, match="one entry for each item"):
        executor.run_items("math:sqrt", [1, 2], item_seconds=[1])
