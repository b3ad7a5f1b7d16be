"""Workers that stay: the same answers as forked ones, and a lost one costs an error or a repetition, never a number."""

import threading

import pytest

from rewards_lib.executor import Executor, Limits
from rewards_lib.executor.standing import MOST_ITEMS
from rewards_lib.executor.stopping import StopSwitch
from rewards_lib.strict_json import write_json

ENTRY = "rewards_lib.presets.worker:score_rules_item"


def item(completion, pattern="a"):
    rule = {"preset": "regex_match", "params": {"pattern": pattern}}
    return {"rules": [rule], "sample": {"messages": [], "extra": {}}, "completions": [completion]}


@pytest.fixture(scope="module")
def standing():
    with Executor(standing=1) as executor:
        yield executor


def test_standing_and_forked_workers_answer_alike(standing):
    items = [item("a"), item("b"), item("")]
    with Executor() as forked:
        expected = [run.value for run in forked.run_items(ENTRY, items, item_seconds=20)]
    assert [run.value for run in standing.run_items(ENTRY, items, item_seconds=20)] == expected
    assert write_json(expected) == write_json([run.value for run in standing.run_items(ENTRY, items, item_seconds=20)])


def test_an_item_over_its_time_is_a_limit_and_the_next_one_is_answered(standing):
    slow = item("a" * 40 + "b", pattern="(a+)+$")
    late, fine = standing.run_items(ENTRY, [slow, item("a")], item_seconds=[0.5, 20])
    assert late.value is None
    assert late.error.limit == "wall"
    assert fine.value is not None


def test_a_stop_ends_the_item_in_progress_and_leaves_the_rest_undone(standing):
    standing.run_items("time:sleep", [0], item_seconds=20)
    switch = StopSwitch()
    threading.Timer(0.3, switch.press).start()
    runs = standing.stopped_by(switch).run_items("time:sleep", [0, 20, 0], item_seconds=20)
    assert [str(run.error) for run in runs] == ["None", "The run was stopped.", "The run was stopped."]
    assert [run.duration_ms is None for run in runs] == [False, True, True]
    assert standing.run_items("time:sleep", [0], item_seconds=20)[0].error is None
    again = standing.stopped_by(switch).run_items("time:sleep", [0], item_seconds=20)
    assert [str(run.error) for run in again] == ["The run was stopped."]


def test_a_limit_of_the_run_is_kept(standing):
    wide, narrow = (
        standing.run_items("builtins:bytearray", [300 << 20], item_seconds=20, limits=limits)[0].error
        for limits in [Limits(), Limits(memory_mb=100)]
    )
    assert "not JSON serializable" in str(wide)
    assert (narrow.limit, "100 MB" in str(narrow)) == ("memory", True)


def test_a_child_that_died_has_no_duration_but_a_reason(standing):
    died, fine = standing.run_items("os:_exit", [3], item_seconds=20) + standing.run_items(
        "math:sqrt", [4], item_seconds=20
    )
    assert (died.value, died.duration_ms, "died" in str(died.error)) == (None, None, True)
    assert (fine.value, fine.duration_ms >= 0) == (2.0, True)


def test_what_an_entry_raises_is_the_items_error(standing):
    run = standing.run_items(ENTRY, [{"rules": 3}], item_seconds=20)[0]
    assert run.value is None
    assert "TypeError" in str(run.error) or "KeyError" in str(run.error)


def test_a_child_is_replaced_after_its_share(standing):
    worker = standing._standing._all[0]
    standing.run_items(ENTRY, [item("a")], item_seconds=20)
    before = worker._channel
    worker._items = MOST_ITEMS
    assert standing.run_items(ENTRY, [item("a")], item_seconds=20)[0].value is not None
    assert worker._channel is not before


def test_a_child_that_was_lost_while_idle_is_replaced_before_it_is_asked(standing):
    standing.run_items(ENTRY, [item("a")], item_seconds=20)
    worker = standing._standing._all[0]
    worker._channel.kill("result")
    deadline = threading.Event()
    for _ in range(100):
        if worker._is_lost():
            break
        deadline.wait(0.05)
    assert standing.run_items(ENTRY, [item("a")], item_seconds=20)[0].value is not None


def test_many_threads_share_few_children():
    with Executor(standing=2) as executor:
        got = []

        def ask(number):
            run = executor.run_items(ENTRY, [item("a" * (number % 2))], item_seconds=30)[0]
            got.append((number % 2, run.value))

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(24)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(got) == 24
    assert len({write_json(value) for kind, value in got if kind}) == 1


def test_closing_waits_for_no_item_in_progress_and_gives_each_an_error():
    with Executor(standing=1) as executor:
        executor.run_items("time:sleep", [0], item_seconds=60)
        got = []
        thread = threading.Thread(
            target=lambda: got.extend(executor.run_items("time:sleep", [60, 60], item_seconds=90))
        )
        thread.start()
        while executor._standing._free.qsize():
            thread.join(0.01)
        executor.close()
        thread.join(20)
        assert not thread.is_alive()
        assert [str(run.error) for run in got] == ["The run was stopped."] * 2


def test_a_run_that_waits_for_a_child_can_be_stopped():
    with Executor(standing=1) as executor:
        worker = executor._standing._free.get()
        switch = StopSwitch()
        threading.Timer(0.2, switch.press).start()
        [run] = executor.stopped_by(switch).run_items(ENTRY, [item("a")], item_seconds=20)
        assert (run.value, str(run.error)) == (None, "The run was stopped.")
        executor._standing._free.put(worker)
