"""Limits: whatever a function does, its run ends and says why."""

from __future__ import annotations

import pytest
from executor_inputs import least_seconds

from rewards_lib.executor import Limits

SHORT = Limits(wall_seconds=1)


def body(*lines: str) -> str:
    return "def reward_fn(context, sample, completions):\n" + "".join(f"    {line}\n" for line in lines)


@pytest.mark.parametrize(
    "source",
    [
        body("while True: pass"),
        "import threading\n" + body("lock = threading.Lock()", "lock.acquire()", "lock.acquire()"),
        "import asyncio\n" + body("asyncio.run(asyncio.Event().wait())"),
        "while True: pass\n" + body("pass"),
        "class E(Exception):\n    def __str__(self):\n        while True: pass\n" + body("raise E()"),
        "import re\n" + body("re.match('(a*)*b', 'a' * 60)"),
    ],
)
def test_the_time_limit_ends_a_run_whatever_it_does(run, source):
    def reach_the_limit() -> None:
        result = run(source, limits=SHORT)
        assert "time limit of 1 s" in str(result.error)
        assert [score.value for score in result.scores] == [None, None]

    assert least_seconds(reach_the_limit, 1.6) < 1.6


def test_a_run_after_a_killed_one_is_as_quick_as_ever(run):
    def kill_one() -> None:
        run(body("while True: pass"), limits=Limits(wall_seconds=0.3))

    def run_another() -> None:
        assert run(body("return RewardFunctionResult([1, 1])")).status == "success"

    assert least_seconds(run_another, 1, before=kill_one) < 1


def test_processor_time_is_limited_apart_from_the_clock(run):
    result = run(body("while True: pass"), limits=Limits(wall_seconds=20, cpu_seconds=1))
    assert "processor time limit of 1 s" in str(result.error)


@pytest.mark.parametrize(
    "line", ["x = [0] * 10**10", "x = bytearray(3 * 10**9)", "x = 'a'\nwhile True: x += x", "'%*d' % (2147483000, 1)"]
)
def test_memory_is_limited(run, line):
    result = run(body(*line.splitlines()), limits=Limits(memory_mb=200))
    assert "MemoryError" in str(result.error)
    assert result.memory_mb is None or result.memory_mb < 400


def test_threads_are_limited_and_thirty_are_fine(run):
    threads = "import threading, time\n" + body(
        "started = 0",
        "try:",
        "    while started < 200:",
        "        threading.Thread(target=time.sleep, args=(0.5,), daemon=True).start()",
        "        started += 1",
        "except RuntimeError as error:",
        "    print(error)",
        "return RewardFunctionResult([started, 1])",
    )
    result = run(threads)
    assert 30 <= result.scores[0].value <= 64
    assert "limit of 64 threads" in result.logs


@pytest.mark.parametrize(("megabytes", "value"), [(60, 1), (70, None)])
def test_the_limit_on_memory_is_the_runs_own_and_not_what_the_warm_worker_holds(run, megabytes, value):
    source = body(f"held = bytearray({megabytes} << 20)", "return RewardFunctionResult([1, 1])")
    result = run(source, limits=Limits(memory_mb=64))
    assert result.scores[0].value == value
    assert value or "more than 64 MB" in str(result.error)


def test_left_over_threads_do_not_hold_a_run(run):
    source = "import threading, time\n" + body(
        "threading.Thread(target=time.sleep, args=(8,)).start()", "return RewardFunctionResult([1, 1])"
    )
    assert run(source).duration_ms < 3_000


def test_a_flood_of_output_ends_the_run(run):
    result = run(body("while True: print('x' * 100_000)"))
    assert "printed more than 16 MB" in str(result.error)
    assert len(result.logs) < 70_000


def test_a_result_that_is_too_large_ends_the_run(run):
    result = run(
        body("return RewardFunctionResult([1, 1], {}, 'success', 'e' * 10**7)"), limits=Limits(result_bytes=500)
    )
    assert "larger than 500 bytes" in str(result.error)


def test_endless_recursion_is_an_ordinary_error(run):
    result = run("def f(n): return f(n + 1)\n" + body("return f(0)"))
    assert "RecursionError" in str(result.error)


@pytest.mark.parametrize(
    "source", ["x = " + "(" * 5_000, "x = " + "-" * 100_000 + "1", "f = " + "lambda: " * 2_000 + "1"]
)
def test_nesting_that_kills_the_compiler_is_a_failure_of_the_run(run, source):
    result = run(source + "\n" + body("return RewardFunctionResult([1, 1])"))
    assert result.status in ("failure", "success")
    assert result.error is None or "Syntax error" in str(result.error) or "nested too deeply" in str(result.error)


def test_huge_powers_are_refused_before_they_start(run):
    result = run(body("n = 9", "return n ** n ** n"))
    assert "integer power too large" in str(result.error)


def test_an_alarm_of_the_authors_own_works(run):
    source = (
        "import signal\nclass Late(Exception): pass\n"
        "def on_alarm(number, frame):\n    assert frame is None\n    raise Late\n"
        + body(
            "signal.signal(signal.SIGALRM, on_alarm)",
            "signal.setitimer(signal.ITIMER_REAL, 0.1)",
            "try:",
            "    while True: sum(range(100))",
            "except Late:",
            "    return RewardFunctionResult([1, 1])",
        )
    )
    result = run(source)
    assert (result.error, result.status) == (None, "success")


@pytest.mark.parametrize("deed", ["signal.setitimer(2, 0)", "signal.signal(signal.Signals(27), signal.SIG_IGN)"])
def test_the_clock_of_processor_time_is_not_the_authors_to_stop(run, deed):
    result = run(f"import signal\ndef reward_fn(c, s, r):\n    {deed}\n    return RewardFunctionResult([1, 1])\n")
    assert [score.value for score in result.scores] == [None, None]
    assert "alone" in str(result.error)
