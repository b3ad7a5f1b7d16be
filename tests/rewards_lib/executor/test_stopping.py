"""A stop: what is in progress ends at once, says so, and the next run is normal."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from executor_inputs import HEADER, payload_of

from rewards_lib.executor import Executor, FunctionSource, Limits
from rewards_lib.executor.run_queue import RunQueue
from rewards_lib.executor.stopping import StopSwitch

ENDLESS = FunctionSource(
    HEADER + "def reward_fn(c, sample, r):\n    print('begun', flush=True)\n"
    "    while sample['extra']['answer'] == '4': pass\n    return RewardFunctionResult([1])\n"
)


def press_soon(switch: StopSwitch, seconds: float = 0.3) -> None:
    threading.Timer(seconds, switch.press).start()


@pytest.fixture(autouse=True)
def warm(executor):
    executor.run_function(ENDLESS, payload_of("x", answer="1"))


def test_a_run_is_stopped_with_its_logs_kept(executor):
    switch = StopSwitch()
    start = time.monotonic()
    press_soon(switch)
    run = executor.stopped_by(switch).run_function(ENDLESS, payload_of("x"), limits=Limits(wall_seconds=30))
    assert time.monotonic() - start < 5
    assert (str(run.error), run.scores[0].value, run.logs) == ("The run was stopped.", None, "begun\n")


def test_a_batch_keeps_what_was_scored_and_leaves_the_rest_unscored(executor):
    switch = StopSwitch()
    press_soon(switch, 1.0)
    groups = [payload_of("x", answer=answer) for answer in "123456"]
    runs = executor.stopped_by(switch).run_functions(ENDLESS, groups, limits=Limits(wall_seconds=30))
    assert [run.scores[0].value for run in runs[:4]] == [1.0, 1.0, 1.0, None]
    assert {str(run.error) for run in runs if run.scores[0].value is None} == {"The run was stopped."}


def test_items_of_our_own_are_stopped_too(executor):
    executor.run_items("time:sleep", [0], item_seconds=60)  # a worker that is warm
    switch = StopSwitch()
    press_soon(switch, 1.0)
    runs = executor.stopped_by(switch).run_items("time:sleep", [0, 60, 0], item_seconds=60)
    assert [str(run.error) for run in runs] == ["None", "The run was stopped.", "The run was stopped."]


def test_a_switch_that_was_pressed_before_stops_at_once_and_only_its_own_runs(executor):
    switch = StopSwitch()
    switch.press()
    stopped = executor.stopped_by(switch)
    assert str(stopped.run_function(ENDLESS, payload_of("x")).error) == "The run was stopped."
    assert executor.run_function(ENDLESS, payload_of("x", answer="1")).scores[0].value == 1.0


@pytest.mark.parametrize("turn", range(3))
def test_a_stop_beside_other_runs_touches_none_of_them(executor, turn):
    switch = StopSwitch()
    with ThreadPoolExecutor(4) as pool:
        others = [pool.submit(executor.run_function, ENDLESS, payload_of("x", answer="1")) for _ in range(3)]
        mine = pool.submit(executor.stopped_by(switch).run_function, ENDLESS, payload_of("x"))
        press_soon(switch, 0.1 * turn)
        assert [one.result().scores[0].value for one in others] == [1.0] * 3
        assert str(mine.result().error) == "The run was stopped."


def test_an_end_is_called_once_and_not_after_its_block():
    switch, calls = StopSwitch(), []
    with switch.ending(lambda: calls.append("over")):
        pass
    with switch.ending(lambda: calls.append("in")):
        switch.press()
        switch.press()
    with switch.ending(lambda: calls.append("late")):
        pass
    assert calls == ["in", "late"]


def test_a_run_that_waits_for_its_turn_is_stopped_without_one(tmp_path):
    switch, queue = StopSwitch(), RunQueue(at_once=1)
    press_soon(switch)
    with Executor(home=tmp_path, queue=queue) as busy, queue.turn("somebody"):
        start = time.monotonic()
        run = busy.on_behalf_of("me").stopped_by(switch).run_function(ENDLESS, payload_of("x"))
        assert time.monotonic() - start < 10
    assert str(run.error) == "The run was stopped."
    assert queue.waiting == queue.running == 0
