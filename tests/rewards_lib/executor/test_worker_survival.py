"""The fork server: it survives what runs do, leaves nothing behind, and goes when it is told or when we die."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from executor_inputs import HEADER, least_seconds, payload_of
from worker_processes import at_work, children, forked, wait_until, zygotes

from rewards_lib.errors import DependencyError
from rewards_lib.executor import Executor, FunctionSource, Limits

pytestmark = [pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"), pytest.mark.usefixtures("bystanders")]
GOOD = FunctionSource(HEADER + "def reward_fn(context, sample, completions):\n    return RewardFunctionResult([1])\n")
CRASH = FunctionSource(HEADER + "def reward_fn(context, sample, completions):\n    raise KeyError\n")
FLOOD = FunctionSource("def reward_fn(context, sample, completions):\n    while True: print('x' * 100_000)\n")
ENDLESS = FunctionSource("def reward_fn(context, sample, completions):\n    while True: pass\n")
SLOW = FunctionSource(
    HEADER + "import time\ndef reward_fn(context, sample, completions):\n    time.sleep(1)\n"
    "    return RewardFunctionResult([1])\n"
)


def score(executor: Executor, function: FunctionSource = GOOD, seconds: float = 5.0) -> float | None:
    return executor.run_function(function, payload_of("x"), limits=Limits(wall_seconds=seconds)).scores[0].value


def test_a_few_hundred_runs_leave_nothing_behind(own):
    """Kills, crashes and floods mixed in; descriptors, processes and threads as before."""
    score(own)
    zygotes()
    before = (len(os.listdir("/proc/self/fd")), len(children()), threading.active_count())
    for place in range(200):
        if place % 50 == 10:
            assert score(own, ENDLESS, seconds=0.1) is None
        elif place % 50 == 20:
            assert score(own, FLOOD) is None
        elif place % 10 == 5:
            assert score(own, CRASH) is None
        else:
            assert score(own) == 1.0
    assert wait_until(lambda: len(children()) == before[1])
    assert (len(os.listdir("/proc/self/fd")), threading.active_count()) == (before[0], before[2])


def test_a_zygote_that_dies_is_replaced(own):
    assert score(own) == 1.0
    for process in children():
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    assert wait_until(lambda: not children())
    assert score(own) == 1.0


def test_a_zygote_that_dies_during_a_run_costs_one_repetition(own):
    score(own)
    with ThreadPoolExecutor() as pool:
        future = pool.submit(score, own, SLOW, 60.0)  # booting anew takes long on a busy machine
        assert wait_until(lambda: len(forked()) > 1)
        for process in zygotes():
            with contextlib.suppress(ProcessLookupError):  # the first kill takes the others along
                os.kill(process, signal.SIGKILL)
        assert future.result(70) == 1.0


@pytest.mark.parametrize("switch", ["tier=A", "tier=B"])
def test_a_kill_that_reaches_the_child_before_its_zygote_is_not_the_functions_fault(tmp_path, monkeypatch, switch):
    """As when a whole group or container is killed: the zygote may still report how its child ended."""
    monkeypatch.setenv("REWARD_CONSOLE_TEST_EXECUTOR", switch)
    own = Executor(home=tmp_path)
    try:
        score(own)
    except DependencyError as error:
        pytest.skip(str(error))
    with ThreadPoolExecutor() as pool:
        future = pool.submit(own.run_function, SLOW, payload_of("x"), limits=Limits(wall_seconds=60))
        assert wait_until(lambda: len(forked()) > 1)
        for process in (*forked(), *zygotes()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        run = future.result(70)
    own.close()
    assert (run.scores[0].value, str(run.error)) == (1.0, "None")


def test_a_child_that_is_killed_while_its_zygote_lives_is_told_as_what_it_is(own):
    score(own)
    with ThreadPoolExecutor() as pool:
        future = pool.submit(own.run_function, ENDLESS, payload_of("x"), limits=Limits(wall_seconds=60))
        assert wait_until(at_work, 30)  # killed before it began, the run would be tried again
        for process in at_work():
            os.kill(process, signal.SIGKILL)
        assert "killed from outside" in str(future.result(70).error)


def test_a_zygote_that_hangs_is_ended_with_its_run(own):
    def let_one_hang() -> None:
        assert score(own) == 1.0
        os.kill(max(zygotes()), signal.SIGSTOP)

    def run_in_it() -> None:
        assert score(own, seconds=0.5) is None

    assert least_seconds(run_in_it, 5, before=let_one_hang) < 5
    assert score(own) == 1.0


def test_runs_of_many_threads_do_not_mix(own):
    def one(number: int) -> float | None:
        source = f"def reward_fn(context, sample, completions):\n    return RewardFunctionResult([{number}])\n"
        return score(own, FunctionSource(HEADER + source))

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(one, range(40))) == [float(number) for number in range(40)]


def test_closing_ends_every_process_and_refuses_more(tmp_path):
    before = children()
    executor = Executor(home=tmp_path)
    score(executor)
    executor.run_items("math:sqrt", [1], item_seconds=5)
    executor.close()
    assert wait_until(lambda: children() == before)
    with pytest.raises(DependencyError, match="closed"):
        score(executor)


def test_a_worker_survives_the_thread_that_started_it(own):
    """Die-with-parent means the thread: console pages run in threads that come and go."""
    thread = threading.Thread(target=score, args=(own,))
    thread.start()
    thread.join()
    before = zygotes()
    assert score(own) == 1.0
    assert zygotes() == before


def test_a_spare_child_that_is_killed_costs_no_run(own):
    """Nobody has given it anything yet, or it dies with the request in its hands: the run is another child's."""
    score(own)
    for _ in range(5):
        zygotes()
        for process in forked():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        assert score(own) == 1.0


PROGRAM = """
import os, sys
sys.path.insert(0, {tests!r})
from executor_inputs import payload_of, HEADER
from rewards_lib.executor import Executor, FunctionSource, Limits
executor = Executor()
source = HEADER + "def reward_fn(c, s, r):\\n    " + sys.argv[1] + "\\n"
print("ready", flush=True)
executor.run_function(FunctionSource(source), payload_of("x"), limits=Limits(wall_seconds=30))
"""


def start_program(line: str, home: Path) -> subprocess.Popen[bytes]:
    program = PROGRAM.format(tests=str(Path(__file__).parent))
    environment = {
        **os.environ,
        "REWARD_CONSOLE_HOME": str(home),
        "PYTHONPATH": os.pathsep.join(filter(None, [str(Path.cwd()), *sys.path])),
    }
    return subprocess.Popen([sys.executable, "-c", program, line], stdout=subprocess.PIPE, env=environment)


def test_a_program_that_ends_without_closing_leaves_no_process(tmp_path):
    with start_program("return RewardFunctionResult([1])", tmp_path) as program:
        assert program.wait(20) == 0
        assert wait_until(lambda: not children(program.pid))


def test_a_program_that_is_killed_takes_its_workers_along(tmp_path):
    with start_program("while True: pass", tmp_path) as program:
        assert wait_until(lambda: len(children(program.pid)) >= 2, 20)
        workers = children(program.pid)
        program.kill()
        program.wait()
        assert wait_until(lambda: not any(_is_running(process) for process in workers))


def _is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
