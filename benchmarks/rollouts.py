"""Scoring files of rollouts: workers, memory, cost, and the same bytes; everything in one run.

    python benchmarks/rollouts.py [--full | --small]

Prints one line a measure with its goal. ``--full`` goes up to 1,000,000 rollouts instead of 100,000. Figures of workers
need two free cores. Nothing is fetched; files are made in a temporary folder.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

FIVE = {
    "name": "five",
    "rules": [
        {"name": "has", "preset": "contains"},
        {"name": "format", "preset": "think_answer_format", "weight": 0.1},
        {"name": "tags", "preset": "tag_count", "weight": 0.1},
        {"name": "length", "preset": "length_penalty", "params": {"max_len": 400}, "weight": 0.2},
        {"name": "loops", "preset": "repetition_penalty", "weight": 0.3},
    ],
}
MATHS = {"name": "maths", "rules": [{"name": "accuracy", "preset": "math_accuracy"}]}
TEXT = {"name": "text", "rules": [{"name": "has", "preset": "contains"}]}
OWN = {"name": "own", "rules": [{"name": "own", "function": "own.py"}]}
OWN_SOURCE = """
from difflib import SequenceMatcher
from rl_types import RewardFunctionResult

def reward_fn(context, sample, completions):
    truth = "so the answer is " + sample["extra"]["answer"]
    texts = [c["messages"][-1]["content"] for c in completions]
    return RewardFunctionResult([round(SequenceMatcher(None, text * 6, truth).ratio(), 6) for text in texts])
"""
"""Costs about a quarter of a millisecond a completion, as rewards that look at a text do."""


def make_rollouts(path: Path, count: int) -> Path:
    """Groups of four short sums, half of them right."""
    numbers = random.Random(1)
    with path.open("w") as file:
        for group in range(count // 4):
            a, b = numbers.randint(1, 999), numbers.randint(1, 999)
            sample = {"messages": [{"role": "user", "content": f"What is {a}+{b}?"}], "extra": {"answer": str(a + b)}}
            for place in range(4):
                text = f"<think>{a} and {b} is {a + b}</think><answer>\\boxed{{{a + b + place % 2}}}</answer>"
                file.write(json.dumps({"group": f"g{group}", "sample": sample, "completion": text}) + "\n")
    return path


def score(folder: Path, mix: dict, rollouts: Path, workers: int = 1) -> tuple[float, float, str]:
    """Seconds, peak memory in MB of the command with all its children, and the digest of what it wrote."""
    (folder / "mix.json").write_text(json.dumps(mix))
    (folder / "own.py").write_text(OWN_SOURCE)
    out = folder / "scored.jsonl"
    command = [
        sys.executable, "-c", _MEASURED, "score", "--mix", str(folder / "mix.json"), "--rollouts", str(rollouts),
        "--out", str(out), "--workers", str(workers),
    ]  # fmt: skip
    done = subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, text=True, check=True)
    seconds = json.loads(done.stdout)["seconds"]
    memory_mb = float(done.stderr.rsplit("peak_mb=", 1)[1])
    with out.open("rb") as file:
        return seconds, memory_mb, hashlib.file_digest(file, "sha256").hexdigest()


_MEASURED = """
import resource, sys
from rewards_lib.cli import main
status = main()
own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
print(f"peak_mb={max(own.ru_maxrss, children.ru_maxrss) / 1024}", file=sys.stderr)
sys.exit(status)
"""


def plain_loop(rollouts: Path) -> float:
    """Seconds of a loop that reads the same file, calls the bare function and writes the rewards, with no isolation."""
    import types

    stand_in = types.ModuleType("rl_types")
    stand_in.RewardFunctionResult = lambda rewards: rewards  # type: ignore[attr-defined]
    sys.modules["rl_types"] = stand_in
    namespace: dict = {}
    exec(OWN_SOURCE, namespace)
    started, groups = time.perf_counter(), {}
    with rollouts.open() as file:
        for row in map(json.loads, file):
            groups.setdefault(row["group"], []).append(row)
    with rollouts.with_suffix(".plain").open("w") as out:
        for rows in groups.values():
            texts = [{"messages": [{"role": "assistant", "content": row["completion"]}]} for row in rows]
            for row, reward in zip(rows, namespace["reward_fn"]({}, rows[0]["sample"], texts), strict=True):
                out.write(json.dumps(row | {"reward": reward}) + "\n")
    return time.perf_counter() - started


def custom_function_ratio(folder: Path, rollouts: Path, turns: int = 3) -> float:
    """Wall time of ``score`` against a plain loop that reads, calls and writes the same; least of alternating turns."""
    own, plain = [], []
    for _ in range(turns):
        own.append(score(folder, OWN, rollouts)[0])
        plain.append(plain_loop(rollouts))
    return min(own) / min(plain)


def own_work(rollouts: Path) -> float:
    """CPU seconds of reading, grouping, packing and writing a file around an executor that calls nothing."""
    from rewards_lib.contract import Score
    from rewards_lib.executor import Executor, FunctionRun, FunctionSource
    from rewards_lib.mix import read_mix
    from rewards_lib.rollouts import score_file
    from rewards_lib.scoring import ResolvedFunction

    class Idle(Executor):
        def run_functions(self, _function, payloads, **_options):
            nothing = Score.scored(0.0)
            return [
                FunctionRun((nothing,) * len(payload.completions), "success", self.isolation()) for payload in payloads
            ]

    def resolve(_rule: object) -> ResolvedFunction:
        return ResolvedFunction(FunctionSource(OWN_SOURCE), None, None)

    with Idle() as executor:
        executor.isolation()
        mix, out = read_mix(json.dumps(OWN)), rollouts.with_suffix(".own")
        return min(
            cpu_seconds(lambda: score_file(mix, rollouts, out, resolve=resolve, executor=executor)) for _ in range(3)
        )


def reading_ratio(rollouts: Path) -> float:
    """CPU time of reading a file as rollouts against ``json.loads`` of its lines; least of three turns."""
    from rewards_lib.rollouts import open_rollouts

    def plain() -> None:
        with rollouts.open() as file:
            for line in file:
                json.loads(line)

    def ours() -> None:
        for _ in open_rollouts(rollouts):
            pass

    return min(map(cpu_seconds, [ours] * 3)) / min(map(cpu_seconds, [plain] * 3))


def analysis_ratio(rewards: int = 1_000_000) -> float:
    """CPU time of summing up that many rewards against one numpy pass that computes the groups' means."""
    import numpy as np

    from rewards_lib.rollouts import RewardTable
    from rewards_lib.rollouts.group_statistics import group_table

    chance = np.random.default_rng(1)
    values, group_of = chance.integers(0, 2, rewards).astype(float), np.arange(rewards) // 8
    nothing = np.full(rewards, np.nan)
    table = RewardTable(values, group_of, tuple(map(str, range(rewards // 8))), {}, {}, nothing, np.arange(rewards))
    one = min(cpu_seconds(lambda: np.bincount(group_of, values) / np.bincount(group_of)) for _ in range(3))
    return min(cpu_seconds(lambda: group_table(table, right=0.5)) for _ in range(3)) / one


def cpu_seconds(work: Callable[[], object]) -> float:
    """CPU seconds of this process."""
    begun = time.process_time()
    work()
    return time.process_time() - begun


def killed_and_resumed(folder: Path, rollouts: Path) -> str:
    """The digest of a run that was killed in the middle and then resumed."""
    (folder / "mix.json").write_text(json.dumps(FIVE))
    out = folder / "killed.jsonl"
    command = [
        sys.executable, "-m", "rewards_lib", "score", "--mix", str(folder / "mix.json"), "--rollouts", str(rollouts),
        "--out", str(out), "--workers", "2", "--resume",
    ]  # fmt: skip
    quiet = {"cwd": Path(__file__).parents[1], "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    running = subprocess.Popen(command, **quiet)
    while running.poll() is None and (not out.exists() or out.stat().st_size < 1_000_000):
        time.sleep(0.01)
    running.kill()
    running.wait()
    subprocess.run(command, check=True, **quiet)
    with out.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def main() -> None:
    """Measure, and print what was found beside what was wanted."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="up to 1,000,000 rollouts")
    parser.add_argument("--small", action="store_true", help="up to 5,000, to see that it runs")
    options = parser.parse_args()
    sizes = [10_000, 100_000, 1_000_000] if options.full else [1_000, 5_000] if options.small else [10_000, 100_000]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = {size: make_rollouts(folder / f"{size}.jsonl", size) for size in sizes}
        small = make_rollouts(folder / "800.jsonl", 800)
        for what, mix, goal in (("one text rule", TEXT, 2), ("mathematics", MATHS, 10)):
            print(f"800 rollouts, {what}: {score(folder, mix, small)[0]:.2f} s, goal <= {goal} s")
        seconds, memory, digests = {}, {}, {}
        for size in sizes:
            seconds[size], memory[size], digests[size] = score(folder, FIVE, files[size])
            cost = seconds[size] / size * 1e6
            print(f"{size} rollouts, five presets, one worker: {cost:.0f} us each, peak {memory[size]:.0f} MB")
        first, last = sizes[0], sizes[-1]
        growth = (seconds[last] / last) / (seconds[first] / first)
        print(f"cost each from {first} to {last}: x {growth:.2f}, goal 0.8 to 1.2")
        print(f"memory from {sizes[-2]} to {last}: x {memory[last] / memory[sizes[-2]]:.2f}, goal <= 1.2")
        both, _, digest = score(folder, FIVE, files[sizes[1]], workers=2)
        print(f"two workers against one on {sizes[1]}: x {seconds[sizes[1]] / both:.2f}, goal >= 1.6 on two free cores")
        same = digest == digests[sizes[1]] == score(folder, FIVE, files[sizes[1]], workers=4)[2]
        print(f"the same bytes from 1, 2 and 4 workers: {same}")
        print(f"the same bytes after a kill and a resume: {killed_and_resumed(folder, files[sizes[1]]) == digest}")
        ratio = custom_function_ratio(folder, files[first])
        print(f"custom function on {first}: x {ratio:.2f} of a plain loop over the same file, goal <= 1.15")
        print(f"of it reading, grouping and writing: {own_work(files[first]) / first * 1e6:.0f} us of CPU a rollout")
        print(f"reading {first}: x {reading_ratio(files[first]):.2f} of json.loads, goal <= 2")
        print(f"groups of 1,000,000 rewards: x {analysis_ratio():.2f} of one pass of numpy, goal <= 3")
    print(f"peak of this script: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
