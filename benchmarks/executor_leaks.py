"""Whether runs leave anything behind: good, crashing, flooding and endless ones, with workers killed in between.

``python benchmarks/executor_leaks.py --runs 2000`` prints descriptors, processes, threads, temporary files and memory
before and after, and ends with 1 when any of them grew.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import os
import signal
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from rewards_lib.contract import Completion, Payload, Sample
from rewards_lib.executor import Executor, FunctionSource, Limits

PAYLOAD = Payload(Sample(), (Completion("x"),))
HEADER = "from rl_types import RewardFunctionResult\ndef reward_fn(context, sample, completions):\n    "
GOOD = HEADER + "return RewardFunctionResult([1])\n"
KINDS = {
    "good": (GOOD, 5.0, 1.0),
    "raises": (HEADER + "raise KeyError('x')\n", 5.0, None),
    "refused": ("import subprocess\n", 5.0, None),
    "endless": (HEADER + "while True: pass\n", 0.1, None),
    "sleeps": (HEADER + "import time; time.sleep(60)\n", 0.1, None),
    "floods": (HEADER + "while True: print('x' * 100_000)\n", 5.0, None),
    "takes memory": (HEADER + "return bytearray(10 ** 10)\n", 5.0, None),
    "leaves threads": (
        HEADER + "import threading, time\n"
        "    [threading.Thread(target=time.sleep, args=(60,)).start() for _ in 'abc']\n"
        "    return RewardFunctionResult([1])\n", 5.0, 1.0,
    ),
    "asks the network": (
        HEADER + "import urllib.request\n    urllib.request.urlopen('http://192.0.2.1/', timeout=2)\n", 5.0, None,
    ),
}  # fmt: skip
RARE = {"endless": 25, "sleeps": 25, "floods": 50, "takes memory": 10, "leaves threads": 10, "asks the network": 10}
"""One in so many; the others share the rest."""
COMMON = ("good", "good", "raises", "refused")
WORKER_KILLED_EVERY = 200
BATCH_EVERY = 40
BATCH = FunctionSource(
    HEADER + "import os, threading, time\n    n = sample['extra']['answer']\n"
    "    while n == '1': pass\n"
    "    if n == '2': threading.Thread(target=time.sleep, args=(60,)).start()\n"
    "    if n == '3': bytearray(10 ** 10)\n"
    "    return RewardFunctionResult([1])\n"
)
BATCH_GROUPS = [Payload(Sample(extra={"answer": str(number)}), (Completion("x"),)) for number in range(5)]
BATCH_WANTED = [1.0, None, 1.0, None, 1.0]
SLACK_MB = 10.0
PORTION = 100


def kind_of(number: int) -> str:
    """Which run the number stands for."""
    return next((kind for kind, every in RARE.items() if number % every == every // 2), COMMON[number % len(COMMON)])


def children(parent: int, *, direct: bool = False) -> set[int]:
    """Every living process below one, at any depth unless only the direct ones are asked for."""
    above: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, parent_id = entry.read_text().rpartition(")")[2].split()[:2]
            if state != "Z":
                above.setdefault(int(parent_id), []).append(int(entry.parent.name))
    if direct:
        return set(above.get(parent, []))
    found: set[int] = set()
    waiting = [parent]
    while waiting:
        below = above.get(waiting.pop(), [])
        found.update(below)
        waiting += below
    return found


def memory_mb(process: int) -> float:
    """The resident memory of one process; 0 when it is gone."""
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    except OSError:
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def measure() -> dict[str, float]:
    """What this process holds at this moment."""
    gc.collect()
    below = children(os.getpid())
    return {
        "descriptors": len(os.listdir("/proc/self/fd")), "child processes": len(below),
        "threads": threading.active_count(), "temporary files": len(os.listdir(tempfile.gettempdir())),
        "memory, console (MB)": memory_mb(os.getpid()), "memory, workers (MB)": sum(map(memory_mb, below)),
    }  # fmt: skip


def settled(wanted: dict[str, float], seconds: float = 10.0) -> dict[str, float]:
    """Measure until what is counted is as before, or the time is over: killed processes go a moment later."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        now = measure()
        if all(now[name] <= value for name, value in wanted.items() if "memory" not in name):
            break
        time.sleep(0.1)
    return now


def run_all(executor: Executor, runs: int, at_once: int) -> dict[str, int]:
    """Make the runs; returns how many of each kind did not end as they should."""
    wrong: dict[str, int] = {}
    lock = threading.Lock()

    def one(number: int) -> None:
        if number % BATCH_EVERY == 7:
            runs = executor.run_functions(BATCH, BATCH_GROUPS, limits=Limits(memory_mb=256), group_seconds=0.2)
            if [run.scores[0].value for run in runs] != BATCH_WANTED:
                with lock:
                    wrong["batch"] = wrong.get("batch", 0) + 1
        kind = kind_of(number)
        source, seconds, wanted = KINDS[kind]
        run = executor.run_function(FunctionSource(source), PAYLOAD, limits=Limits(wall_seconds=seconds, memory_mb=256))
        if run.scores[0].value != wanted:
            with lock:
                wrong[kind] = wrong.get(kind, 0) + 1
        if number and number % WORKER_KILLED_EVERY == 0:
            for process in children(os.getpid(), direct=True):
                with contextlib.suppress(OSError):
                    os.kill(process, signal.SIGKILL)

    with ThreadPoolExecutor(at_once) as pool:
        for first in range(0, runs, PORTION):  # what waits in the pool is this benchmark's memory, not the console's
            list(pool.map(one, range(first, min(first + PORTION, runs))))
    return wrong


def main() -> int:
    """Run, compare, judge."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--at-once", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        tempfile.tempdir = home  # this machine's own folder is everybody's
        with Executor(home=Path(home)) as executor:
            run_all(executor, 60, options.at_once)  # the first runs load what stays loaded
            time.sleep(1)  # each worker forks the child of its next run beforehand
            before, start = settled({}), time.monotonic()
            wrong = run_all(executor, options.runs, options.at_once)
            spent, after = time.monotonic() - start, settled(before)
            print(
                f"Python {sys.version.split()[0]}, isolation tier {executor.isolation().tier}, {options.runs} runs, "
                f"{options.at_once} at once, {spent:.0f} s, every worker killed every {WORKER_KILLED_EVERY} runs"
            )
        left = settled({"child processes": 0})
    grown = 0
    for name, value in before.items():
        has_grown = after[name] > value + (SLACK_MB if "memory" in name else 0)
        grown += has_grown
        print(f"{name:<24}{value:>9.1f} before{after[name]:>9.1f} after{'   GREW' if has_grown else ''}")
    print(f"child processes after closing: {left['child processes']:.0f}")
    print("runs that did not end as they should:", wrong or "none")
    return 1 if grown or left["child processes"] or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
