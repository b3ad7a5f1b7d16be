"""Many runs at once: a bounded queue, fair turns, and warm workers that do not pile up."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from executor_inputs import HEADER, payload_of
from hypothesis import given, settings
from hypothesis import strategies as st

from rewards_lib.errors import BusyError
from rewards_lib.executor import Executor, FunctionSource, Limits
from rewards_lib.executor.pool import ZygotePool
from rewards_lib.executor.run_queue import RunQueue
from rewards_lib.executor.zygotes import WorkerPlan
from rewards_lib.mix import Mix, Rule
from rewards_lib.scoring import score_payload, without_functions

GOOD = FunctionSource(HEADER + "def reward_fn(context, sample, completions):\n    return RewardFunctionResult([1])\n")


class Visitor:
    """Somebody in a thread of their own who wants a turn, and gives it back when told to."""

    def __init__(self, queue: RunQueue, caller: str, served: list[str]) -> None:
        self.error: BusyError | None = None
        self.has_turn, self.enough = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._visit, args=(queue, caller, served), daemon=True)
        self._thread.start()

    def _visit(self, queue: RunQueue, caller: str, served: list[str]) -> None:
        try:
            with queue.turn(caller):
                served.append(caller)
                self.has_turn.set()
                self.enough.wait(60)
        except BusyError as error:
            self.error = error

    def leave(self) -> None:
        self.enough.set()
        self._thread.join(60)


def leave_as_they_are_served(visitors: list[Visitor]) -> None:
    """Each leaves as soon as it has its turn, and makes room for the next."""
    left, deadline = list(visitors), time.monotonic() + 60
    while left:
        assert time.monotonic() < deadline
        for one in [one for one in left if one.has_turn.is_set()]:
            one.leave()
            left.remove(one)
        threading.Event().wait(0.002)


def wait_for_waiting(queue: RunQueue, count: int) -> None:
    deadline = time.monotonic() + 20
    while queue.waiting != count:
        assert time.monotonic() < deadline
        threading.Event().wait(0.002)


def test_callers_take_turns_however_many_runs_one_of_them_asked_for():
    queue, served = RunQueue(at_once=1, most_waiting=20), []
    first = Visitor(queue, "greedy", served)
    assert first.has_turn.wait(20)
    visitors = [first]
    for place, caller in enumerate(["greedy"] * 4 + ["ada", "bob"], 1):
        visitors.append(Visitor(queue, caller, served))
        wait_for_waiting(queue, place)
    leave_as_they_are_served(visitors)
    assert served == ["greedy", "greedy", "ada", "bob", "greedy", "greedy", "greedy"]


def test_one_caller_never_holds_the_last_turn():
    queue, served = RunQueue(at_once=3, most_waiting=20), []
    greedy = [Visitor(queue, "greedy", served) for _ in range(6)]
    wait_for_waiting(queue, 4)
    ada = Visitor(queue, "ada", served)
    assert ada.has_turn.wait(20)
    assert queue.waiting == 4
    ada.leave()
    leave_as_they_are_served(greedy)
    assert served.count("greedy") == 6


def test_a_full_queue_is_an_error_and_one_caller_cannot_fill_it():
    queue, served = RunQueue(at_once=1, most_waiting=4), []
    running = Visitor(queue, "greedy", served)
    assert running.has_turn.wait(20)
    waiting = [Visitor(queue, "greedy", served) for _ in range(2)]
    wait_for_waiting(queue, 2)
    with pytest.raises(BusyError, match="1 runs are in progress and 2 wait"), queue.turn("greedy"):
        pass
    waiting += [Visitor(queue, caller, served) for caller in ("ada", "bob")]
    wait_for_waiting(queue, 4)
    with pytest.raises(BusyError), queue.turn("eve"):
        pass
    assert queue.waiting == 4
    running.leave()
    for one in waiting:
        one.enough.set()
    wait_for_waiting(queue, 0)


def test_waiting_too_long_gives_the_place_back():
    queue = RunQueue(at_once=1, wait_seconds=0.01)
    with queue.turn("a"):
        with pytest.raises(BusyError), queue.turn("b"):
            pass
        assert queue.waiting == 0
    with queue.turn("b"):
        pass


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=30), st.integers(1, 4))
def test_no_turn_is_lost_and_never_too_many_are_out(callers, at_once):
    queue, lock, out, most = RunQueue(at_once=at_once, most_waiting=100), threading.Lock(), [0], [0]

    def visit(caller: str) -> None:
        with queue.turn(caller):
            with lock:
                out[0] += 1
                most[0] = max(most[0], out[0])
            with lock:
                out[0] -= 1

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(visit, callers))
    assert most[0] <= at_once
    assert (queue.running, queue.waiting) == (0, 0)


def test_a_run_that_finds_the_queue_full_is_unscored_and_says_busy(tmp_path):
    queue = RunQueue(at_once=1, wait_seconds=0.01)
    with Executor(home=tmp_path, queue=queue) as executor, queue.turn("somebody"):
        run = executor.on_behalf_of("me").run_function(GOOD, payload_of("x", "y"))
        items = executor.run_items("math:sqrt", [4, 9], item_seconds=5)
    assert (run.status, [score.value for score in run.scores]) == ("failure", [None, None])
    assert "busy" in str(run.error)
    assert [(one.value, type(one.error)) for one in items] == [(None, BusyError)] * 2


def test_a_preset_that_finds_the_queue_full_is_unscored_and_says_busy(tmp_path):
    queue = RunQueue(at_once=1, wait_seconds=0.01)
    mix = Mix(name="m", rules=(Rule(name="exact", preset="exact_match"),))
    with Executor(home=tmp_path, queue=queue) as executor, queue.turn("somebody"):
        result = score_payload(mix, payload_of("4"), executor=executor, resolve=without_functions)
    assert (result.status, result.rewards) == ("failure", (None,))
    assert str(result.rules[0].scores[0].why).startswith("The executor is busy")


def test_a_run_of_any_length_gives_its_turn_back(tmp_path):
    queue = RunQueue(at_once=2)
    endless = FunctionSource("def reward_fn(context, sample, completions):\n    while True: pass\n")
    with Executor(home=tmp_path, queue=queue) as executor:
        executor.run_function(endless, payload_of("x"), limits=Limits(wall_seconds=0.2))
        executor.run_function(FunctionSource("x ="), payload_of("x"))
        executor.run_items("os:_exit", [1], item_seconds=5)
    assert queue.running == 0


def _plan(number: int, folder: str) -> WorkerPlan:
    return WorkerPlan("A", site=(f"{folder}/{number}",))


def test_at_most_four_idle_workers_stay_warm_and_the_oldest_goes_first(tmp_path):
    pool = ZygotePool(None)
    for number in range(5):
        with pool.lease(_plan(number, str(tmp_path))):
            pass
    assert {plan.site for plan in pool._zygotes} == {_plan(number, str(tmp_path)).site for number in range(1, 5)}
    pool.close()


def test_a_worker_retires_after_ten_idle_minutes_and_not_during_a_run(tmp_path):
    pool = ZygotePool(None)
    with pool.lease(_plan(1, str(tmp_path))), pool.lease(_plan(2, str(tmp_path))):
        pass
    with pool.lease(_plan(1, str(tmp_path))) as busy:
        pool.retire(now=time.monotonic() + 599)
        assert len(pool._zygotes) == 2
        pool.retire(now=time.monotonic() + 601)
        assert list(pool._zygotes) == [busy.plan]
        assert busy.is_alive
    pool.close()
