"""``run_functions``: many groups in few children, none of which costs or changes another."""

from __future__ import annotations

import time

import pytest
from executor_inputs import HEADER, least_seconds, payload_of

from rewards_lib.executor import Executor, FunctionSource, Limits

FRAME = HEADER + "{top}\ndef reward_fn(context, sample, completions):\n    n = int(sample['extra']['answer'])\n{body}\n"


@pytest.fixture
def batch(executor):
    """Run a body over groups of two completions whose answer is their number."""

    def call(body: str, groups: int = 6, *, top: str = "", seconds: float = 5.0, **limits):
        body = "\n".join("    " + line for line in body.splitlines())
        source = FunctionSource(FRAME.format(top=top, body=body))
        payloads = [payload_of("one", "two", answer=str(number)) for number in range(groups)]
        return executor.run_functions(source, payloads, limits=Limits(**limits), group_seconds=seconds)

    return call


def values(runs) -> list[list[float | None]]:
    return [[score.value for score in run.scores] for run in runs]


GOOD = "return RewardFunctionResult([n, n + 0.5])"


def test_every_group_gets_its_own_scores_in_order(batch):
    runs = batch(GOOD, 300)
    assert values(runs) == [[number, number + 0.5] for number in range(300)]
    assert {run.status for run in runs} == {"success"}


def test_one_group_gives_what_run_function_gives(executor, batch):
    body = "print('seen', n)\nreturn RewardFunctionResult([n, None], {'m': 2.0})"
    [many] = batch(body, 1)
    source = FunctionSource(FRAME.format(top="", body="    " + body.replace("\n", "\n    ")))
    alone = executor.run_function(source, payload_of("one", "two", answer="0"))
    assert (many.scores, many.metrics, many.logs, many.status, many.error, many.isolation) == (
        alone.scores, alone.metrics, alone.logs, alone.status, alone.error, alone.isolation,
    )  # fmt: skip


def test_no_groups_need_no_child_and_a_group_may_be_empty(executor):
    source = FunctionSource(HEADER + "def reward_fn(c, s, r):\n    return RewardFunctionResult([0.5 for _ in r])\n")
    assert executor.run_functions(source, []) == []
    [empty, full] = executor.run_functions(source, [payload_of(), payload_of("x")])
    assert (empty.scores, empty.status, full.scores[0].value) == ((), "success", 0.5)


@pytest.mark.parametrize(
    ("fate", "reason"),
    [
        ("while True: pass", "time limit of 0.3 s"),
        ("import time; time.sleep(60)", "time limit of 0.3 s"),
        ("raise KeyError('no')", "KeyError"),
        ("raise SystemExit(3)", "SystemExit"),
        ("return RewardFunctionResult([1])", "1 rewards for 2 completions"),
        ("return 7", "must return RewardFunctionResult"),
        ("return bytearray(10 ** 10)", "MemoryError"),
        ("while True: print('x' * 100_000)", "printed more than 16 MB"),
        ("return RewardFunctionResult([1, 2], {f'{k}' * 180: k for k in range(900)}, 'success', 'x' * 2000)", None),
    ],
)
def test_a_group_that_goes_wrong_costs_itself_alone(batch, fate, reason):
    seconds = 0.3 if "time limit" in str(reason) else 30.0
    runs = batch(f"if n in (1, 4):\n    {fate}\n{GOOD}", seconds=seconds, memory_mb=200)
    assert [values([run])[0] for place, run in enumerate(runs) if place not in (1, 4)] == [
        [n, n + 0.5] for n in (0, 2, 3, 5)
    ]
    for place in (1, 4):
        assert (runs[place].error is None) == (reason is None)
        assert reason is None or reason in str(runs[place].error)
        assert reason is None or values([runs[place]]) == [[None, None]]


def test_a_child_that_dies_costs_the_group_it_died_in(make_confined):
    open_executor = make_confined("tier=B policy=off")
    source = FunctionSource(FRAME.format(top="import os", body=f"    if n == 2: os._exit(0)\n    {GOOD}"))
    runs = open_executor.run_functions(source, [payload_of("a", "b", answer=str(n)) for n in range(5)])
    assert values(runs) == [[n, n + 0.5] if n != 2 else [None, None] for n in range(5)]
    assert "ended without a result" in str(runs[2].error)


def test_processor_time_is_limited_for_each_group(batch):
    def reach_the_limit() -> None:
        runs = batch(f"if n == 1:\n    while True: pass\n{GOOD}", 3, cpu_seconds=0.3)
        assert "processor time limit" in str(runs[1].error)
        assert values(runs)[2] == [2, 2.5]

    assert least_seconds(reach_the_limit, 4) < 4


def test_the_result_does_not_depend_on_what_came_before_in_the_child(executor):
    top = (
        "import random, decimal, logging, signal, sys, warnings, os, contextlib, io\n"
        "count = 0\nseen = []\nclass Kept:\n    total = 0\n"
        "logger = logging.getLogger('mine')\nlogger.addHandler(logging.StreamHandler())"
    )
    body = (
        "global count\ncount += 1\nseen.append(n)\nKept.total += 1\n"
        "reward_fn.calls = getattr(reward_fn, 'calls', 0) + 1\n"
        "completions[0]['messages'].append(1)\n"
        "found = [count, len(seen), Kept.total, reward_fn.calls, len(completions[0]['messages']),\n"
        "    random.random(), decimal.getcontext().prec, sys.getrecursionlimit(), 0,\n"
        "    len(os.environ), signal.getitimer(signal.ITIMER_REAL)[0]]\n"
        "logger.warning('said once')\n"
        "decimal.getcontext().prec = 99\nsys.setrecursionlimit(5000)\nwarnings.simplefilter('error')\n"
        "os.environ['X'] = '1'\nsignal.alarm(50)\n"
        "return RewardFunctionResult([n, n], {str(k): float(v) for k, v in enumerate(found)})"
    )
    source = FunctionSource(FRAME.format(top=top, body="    " + body.replace("\n", "\n    ")))
    payloads = [payload_of("one", "two", answer=str(number)) for number in range(8)]
    together = executor.run_functions(source, payloads)
    apart = [run for payload in payloads for run in executor.run_functions(source, [payload])]
    assert [str(run.error) for run in together] == ["None"] * 8
    assert [run.metrics for run in together] == [run.metrics for run in apart]
    assert [run.logs for run in together] == [run.logs for run in apart] == ["said once\n"] * 8
    assert len({run.metrics["5"] for run in together}) == 8


def test_a_thread_that_is_left_running_does_not_reach_the_next_group(batch):
    body = (
        "import threading, time\nbefore = threading.active_count()\n"
        "threading.Thread(target=time.sleep, args=(60,)).start()\n"
        "return RewardFunctionResult([before, n])"
    )
    assert values(batch(body, 4)) == [[1, 0], [1, 1], [1, 2], [1, 3]]


def test_memory_that_earlier_groups_hold_is_not_held_against_a_group(batch):
    """The error of a library that never lets go must not fall on whoever comes last."""
    top = "import functools\n@functools.lru_cache(None)\ndef take(n):\n    return bytearray(60 << 20)"
    runs = batch("take(n)\n" + GOOD, 8, top=top, memory_mb=300)
    assert values(runs) == [[n, n + 0.5] for n in range(8)]


def test_what_a_group_prints_is_its_own_log(batch):
    runs = batch("import sys\nprint('out', n)\nif n % 2: print('err', n, file=sys.stderr)\n" + GOOD, 50)
    told = [{f"out {n}", f"err {n}"} if n % 2 else {f"out {n}"} for n in range(50)]
    assert [set(run.logs.splitlines()) for run in runs] == told
    long = batch("print('x' * 5_000)\n" + GOOD, 20, output_bytes=1_024)
    assert {len(run.logs.split("\n")[0]) for run in long} == {1_024}
    assert all("3977 more bytes" in run.logs for run in long)


def test_a_top_level_that_fails_is_every_groups_error_at_once(batch):
    runs = batch(GOOD, 50, top="print('trying')\nraise ValueError('no table')")
    assert {str(run.error) for run in runs} == {"line 3: ValueError: no table"}
    assert runs[7].logs == "trying\n"
    start = time.monotonic()
    runs = batch(GOOD, 50, top="while True: pass", seconds=0.2, wall_seconds=0.4)
    assert time.monotonic() - start < 5
    assert "time limit of 0.4 s was reached while its top level ran" in str(runs[49].error)


def test_refused_code_is_every_groups_refusal(batch):
    runs = batch(GOOD, 3, top="import subprocess")
    assert all("cannot start programs" in str(run.error) and run.error_line == 2 for run in runs)
    assert all(len(run.findings) == 1 for run in runs)


def test_each_groups_network_calls_are_its_own(executor, server):
    host = f"127.0.0.1:{server.server_address[1]}"
    body = (
        f"    import urllib.request\n    if n % 2: urllib.request.urlopen('http://{host}/' + str(n)).read()\n"
        f"    elif n == 2: urllib.request.urlopen('http://127.0.0.1:1/')\n    {GOOD}"
    )
    source = FunctionSource(FRAME.format(top="", body=body), allow_hosts=(host,))
    runs = executor.run_functions(source, [payload_of("a", "b", answer=str(n)) for n in range(5)])
    assert [len(run.network_calls) for run in runs] == [0, 1, 1, 1, 0]
    assert server.paths == ["/1", "/3"]
    assert [finding.rule for finding in runs[2].findings] == ["network"]
    assert values(runs)[2] == [None, None]


def test_a_group_that_hangs_before_megabytes_of_others_costs_itself_alone(executor):
    groups = [payload_of("x" * 20_000, answer=str(number)) for number in range(400)]
    source = FunctionSource(
        HEADER + "import time\ndef reward_fn(c, s, r):\n"
        "    time.sleep(60 if s['extra']['answer'] == '0' else 0)\n    return RewardFunctionResult([1])\n"
    )
    start = time.monotonic()
    runs = executor.run_functions(source, groups, group_seconds=0.5)
    assert [run.scores[0].value for run in runs] == [None] + [1.0] * 399
    assert time.monotonic() - start < 10


@pytest.mark.parametrize("children", [1, 3])
def test_results_do_not_depend_on_how_many_children_share_a_batch(children):
    body = (
        "    if n == 4: time.sleep(9)\n    if n == 5: raise ValueError('five')\n"
        "    if n == 6: return RewardFunctionResult([None, float('nan')])\n    print(n)\n" + f"    {GOOD}"
    )
    source = FunctionSource(FRAME.format(top="import time", body=body))
    with Executor(batch_children=children) as executor:
        groups = [payload_of("one", "two", answer=str(number)) for number in range(10)]
        runs = executor.run_functions(source, groups, group_seconds=0.4)
    assert values(runs) == [[None, None] if n in (4, 5, 6) else [n, n + 0.5] for n in range(10)]
    assert [run.logs for run in runs] == ["" if n in (4, 5, 6) else f"{n}\n" for n in range(10)]
    assert "time limit of 0.4 s" in str(runs[4].error)
    assert "five" in str(runs[5].error)
