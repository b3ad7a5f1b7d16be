"""What the executor costs: the execution policy against plain Python, one run, a check, items and batches, in one run.

    python benchmarks/executor.py [--runs 150]

Plain Python is the same source in the same worker with the policy off, the two taking turns. Prints one line a measure
with its goal; exit status 1 when a goal is missed. Nothing is fetched; a quiet machine is assumed.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from rewards_lib.contract import Completion, Payload, Sample, Score
from rewards_lib.executor import Executor, FunctionSource, Limits, check_once
from rewards_lib.executor.groups import arguments_of

TURNS = 7
ITEMS = 300
GROUPS, GROUP_SIZE = 2_500, 8
PAYLOAD = Payload(
    Sample(messages=({"role": "user", "content": "What is 2 + 2?"},), extra={"answer": "4"}),
    tuple(Completion(f"<think>two and two, try {n}</think>\nThe answer is \\boxed{{{n}}}") for n in range(8)),
)
FRAME = """
import json, math, re, time
from collections import Counter
from dataclasses import dataclass
from rl_types import RewardFunctionResult
{body}
def reward_fn(context, sample, completions):
    texts = [c["messages"][-1]["content"] for c in completions]
    rewards = [score(t, sample["extra"]["answer"]) for t in texts]
    start = time.perf_counter()
    for _ in range({repeats}):
        for text in texts:
            score(text, "4")
    return RewardFunctionResult(rewards, {{"seconds": time.perf_counter() - start}})
"""
TYPICAL = {
    "regex and compare": (400, """
BOXED = re.compile(r"\\\\\\\\boxed\\{([^}]*)\\}")
def score(text, answer):
    found = BOXED.findall(text)
    return 1.0 if found and found[-1].strip() == answer else 0.0
"""),
    "format check": (400, """
def score(text, answer):
    points = 0.0
    for tag in ("<think>", "</think>"):
        points += 0.25 if text.count(tag) == 1 else -0.25
    if text.startswith("<think>") and "The answer is" in text.split("</think>")[-1]:
        points += 0.5
    return points
"""),
    "repetition": (60, """
def score(text, answer):
    words = text.lower().split() * 20
    grams = Counter(tuple(words[i:i + 3]) for i in range(len(words) - 2))
    return -sum(n - 1 for n in grams.values()) / max(len(words), 1)
"""),
    "json and numbers": (200, """
def score(text, answer):
    record = json.loads(json.dumps({"text": text, "answer": answer, "parts": text.split()}))
    total = 0.0
    for i, part in enumerate(record["parts"]):
        total += math.log1p(len(part)) * (i + 1) ** -0.5
    return total
"""),
    "edit distance": (4, """
def score(text, answer):
    a, b = text[:40], answer * 30
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (x != y))
    return 1 - row[-1] / 40
"""),
}  # fmt: skip
ATTRIBUTES = (20, """
@dataclass
class Point:
    x: float
    y: float
    def move(self, dx, dy):
        self.x += dx
        self.y += dy
        return self.x * self.y
def score(text, answer):
    point, total = Point(0.0, 1.0), 0.0
    for _ in range(100):
        total += point.move(1.0, 0.5)
    return total
""")  # fmt: skip
TRIVIAL = """
from rl_types import RewardFunctionResult
{imports}
def reward_fn(context, sample, completions):
    return RewardFunctionResult([1.0 for _ in completions])
"""
HEAVY = ("import numpy, sympy, math_verify", "numpy\nsympy\nmath-verify\n")


def seconds_inside(executor: Executor, body: tuple[int, str]) -> float:
    """Seconds that the function itself says its loop took."""
    source = FRAME.format(repeats=body[0], body=body[1])
    run = executor.run_function(FunctionSource(source), PAYLOAD)
    if run.error is not None:
        raise SystemExit(f"a benchmark's function failed: {run.error}\n{run.traceback}")
    return run.metrics["seconds"]


def policy_ratio(guarded: Executor, plain: Executor, body: tuple[int, str]) -> float:
    """Least guarded time over least plain time, in turns."""
    pairs = [(seconds_inside(guarded, body), seconds_inside(plain, body)) for _ in range(TURNS)]
    return min(pair[0] for pair in pairs) / min(pair[1] for pair in pairs)


def milliseconds(call: Callable[[], object], runs: int) -> tuple[float, float]:
    """Median and 95th percentile of a call, after a warm-up."""
    for _ in range(5):
        call()
    spent = []
    for _ in range(runs):
        start = time.perf_counter()
        call()
        spent.append((time.perf_counter() - start) * 1e3)
    return statistics.median(spent), statistics.quantiles(spent, n=20)[-1]


def items_ratio(executor: Executor) -> float:
    """``run_items`` against a plain loop that reads, calls and writes the same lines; least of turns."""
    item = [x * x % 1_000 for x in range(2_000)]
    lines = [json.dumps(item)] * ITEMS
    inside, outside = [], []
    executor.run_items("statistics:stdev", [item], item_seconds=5)
    for _ in range(TURNS):
        start = time.perf_counter()
        executor.run_items("statistics:stdev", [item] * ITEMS, item_seconds=5)
        inside.append(time.perf_counter() - start)
        start = time.perf_counter()
        for text in lines:
            json.dumps(statistics.stdev(json.loads(text)))
        outside.append(time.perf_counter() - start)
    return min(inside) / min(outside)


BUSY = """
from rl_types import RewardFunctionResult
def reward_fn(context, sample, completions):
    return RewardFunctionResult([float(sum(i * i for i in range(300_000)) % 7) for _ in completions])
"""
HANGS = {
    "a loop": "while True: pass",
    "a sleep": "time.sleep(60)",
    "a regex": "re.match('(a+)+$', 'a' * 40 + 'b')",
    "threads": "[threading.Thread(target=lambda: [0 for _ in iter(int, 1)]).start() for _ in range(8)]",
    "prints": "[print('x' * 100) for _ in iter(int, 1)]",
    "a signal handler": "signal.signal(signal.SIGALRM, lambda *_: None); [signal.alarm(1) for _ in iter(int, 1)]",
}
HANG = (
    "import re, signal, threading, time\ndef reward_fn(context, sample, completions):\n    {deed}\n    time.sleep(60)\n"
)
LIMIT_SECONDS = 0.3


def throughput(executor: Executor, at_once: int = 8) -> float:
    """Runs a second of eight at once over runs a second one after another, of a function that only computes."""
    function, runs = FunctionSource(BUSY), 4 * at_once

    def seconds(workers: int) -> float:
        start = time.perf_counter()
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(lambda _: executor.run_function(function, PAYLOAD), range(runs)))
        return time.perf_counter() - start

    seconds(2)
    turns = [(seconds(1), seconds(at_once)) for _ in range(3)]
    return min(one for one, _ in turns) / min(many for _, many in turns)


def kill_lateness(executor: Executor, kills: int) -> float:
    """How long after its limit a run that hangs is answered, in seconds: the 99th percentile over all ways to hang."""
    late = []
    for number in range(kills):
        deed = list(HANGS.values())[number % len(HANGS)]
        start = time.perf_counter()
        run = executor.run_function(
            FunctionSource(HANG.format(deed=deed)), PAYLOAD, limits=Limits(wall_seconds=LIMIT_SECONDS)
        )
        late.append(time.perf_counter() - start - LIMIT_SECONDS)
        if run.scores[0].value is not None:
            raise SystemExit(f"a run that hangs was scored: {deed}")
    return statistics.quantiles(late, n=100)[-1]


THINKING = "First I add the two numbers, then I look at what is left over and check the sum once more. "
BATCH_SOURCE = """
import re
from rl_types import RewardFunctionResult
ANSWER = re.compile(r"\\\\boxed\\{([^{}]*)\\}")
SHAPE = re.compile(r"\\A<think>.+?</think>\\s*[^<]+\\Z", re.DOTALL)
def score(text, answer):
    found = ANSWER.findall(text)
    right = bool(found) and found[-1].strip() == answer
    return (1.0 if right else 0.0) + (0.1 if SHAPE.match(text) else 0.0)
def reward_fn(context, sample, completions):
    texts = [completion["messages"][-1]["content"] for completion in completions]
    return RewardFunctionResult([score(text, sample["extra"]["answer"]) for text in texts])
"""


def groups() -> list[Payload]:
    """Groups of short chains of thought that end in a boxed number."""
    return [
        Payload(
            Sample(messages=({"role": "user", "content": f"What is {n} + 2?"},), extra={"answer": str(n + 2)}),
            tuple(
                Completion(f"<think>{THINKING * 10}</think>\nSo it is \\boxed{{{n + k}}}.") for k in range(GROUP_SIZE)
            ),
        )
        for n in range(GROUPS)
    ]


def batch_ratio(executor: Executor) -> tuple[float, float]:
    """``run_functions`` against a plain loop in this process, and its seconds; least of turns.

    The loop makes the same arguments from the same groups, calls the same function as plain Python and makes the same
    scores. The two results must be equal.
    """
    payloads, namespace = groups(), {}
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "rewards_lib" / "executor" / "worker"))
    exec(BATCH_SOURCE, namespace)
    sys.path.pop(0)
    function, source = namespace["reward_fn"], FunctionSource(BATCH_SOURCE)
    executor.run_functions(source, payloads[:1])
    inside, outside = [], []
    for _ in range(TURNS):
        start = time.perf_counter()
        runs = executor.run_functions(source, payloads, group_seconds=5)
        inside.append(time.perf_counter() - start)
        start = time.perf_counter()
        plain = [
            tuple(Score.scored(value) for value in function(**arguments_of(payload)).rewards) for payload in payloads
        ]
        outside.append(time.perf_counter() - start)
        if [run.scores for run in runs] != plain:
            raise SystemExit("the batch and the plain loop disagree")
    return min(inside) / min(outside), min(inside)


def main() -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=150)
    runs = parser.parse_args().runs
    missed = 0

    def line(name: str, value: float, unit: str, goal: float | None, *, at_least: bool = False) -> None:
        nonlocal missed
        is_missed = goal is not None and (value < goal if at_least else value > goal)
        sign = ">=" if at_least else "<="
        verdict = "" if goal is None else f"goal {sign} {goal:g}" + ("  MISSED" if is_missed else "")
        missed += is_missed
        print(f"{name:<46}{value:>9.2f} {unit:<3}{verdict}", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        guarded = Executor(home=Path(folder))
        os.environ["REWARD_CONSOLE_TEST_EXECUTOR"] = f"tier={guarded.isolation().tier} policy=off"
        plain = Executor(home=Path(folder))
        del os.environ["REWARD_CONSOLE_TEST_EXECUTOR"]
        with guarded, plain:
            print(f"Python {sys.version.split()[0]}, isolation tier {guarded.isolation().tier}")
            ratios = {name: policy_ratio(guarded, plain, body) for name, body in TYPICAL.items()}
            for name, ratio in ratios.items():
                line(f"policy / plain: {name}", ratio, "x", None)
            line("policy / plain: typical, median", statistics.median(ratios.values()), "x", 1.1)
            line("policy / plain: attributes in a loop", policy_ratio(guarded, plain, ATTRIBUTES), "x", 8)
            for name, imports, needs, goal in (("light", "", "", 10), ("heavy", *HEAVY, 15)):
                function = FunctionSource(TRIVIAL.format(imports=imports), requirements=needs)
                median, late = milliseconds(lambda f=function: guarded.run_function(f, PAYLOAD), runs)
                line(f"one run, {name}: median", median, "ms", goal)
                line(f"one run, {name}: 95th percentile", late, "ms", None)
            line("eight runs at once / one after another", throughput(guarded), "x", 1.7, at_least=True)
            line("answer after the limit: 99th percentile", kill_lateness(guarded, max(runs, 6)), "s", 0.5)
            source = FRAME.format(repeats=1, body=TYPICAL["json and numbers"][1])
            line("check, warm: median", milliseconds(lambda: guarded.check(source), runs)[0], "ms", 15)
            line("check_once: median", milliseconds(lambda: check_once(source), 15)[0], "ms", 300)
            line("run_items / plain loop", items_ratio(guarded), "x", 1.5)
            ratio, seconds = batch_ratio(guarded)
            line(f"run_functions / plain loop, {GROUPS * GROUP_SIZE:,} completions", ratio, "x", 1.15)
            line("the same: each completion", seconds / GROUPS / GROUP_SIZE * 1e6, "us", None)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
