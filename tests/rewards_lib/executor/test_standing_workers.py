"""Workers that stay: the same answers as forked ones, and a lost one costs an error or a repetition, never a number."""

import threading

import pytest

from rewards_lib.contract import write_json
from rewards_lib.executor import Executor
from rewards_lib.executor.standing import MOST_ITEMS

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
