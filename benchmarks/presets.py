"""Five presets over short completions against TRL's equivalent reward functions, both in one run.

    python benchmarks/presets.py [--count 20000] [--repeat 3] [--trl-python PATH] [--json OUT]

Ours: ``score_payloads`` over a mix of ``math_accuracy``, ``think_answer_format``, ``cosine_length``,
``repetition_penalty`` and ``soft_overlong``, in a confined worker, the start of the worker included. TRL's:
``accuracy_reward``, ``think_format_reward`` and what its makers of cosine, repetition and overlong rewards return,
called in process on the same completions, imports outside the clock. TRL needs PyTorch, so it gets an environment of
its own in a temporary folder, made here with pip, unless ``--trl-python`` names the Python of one that is there. Exit
status 1 when ours is not five times as fast.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
GROUP_SIZE = 8
GOAL = 5.0
MIX = {
    "name": "five",
    "rules": [
        {"name": "accuracy", "preset": "math_accuracy"},
        {"name": "format", "preset": "think_answer_format"},
        {"name": "cosine", "preset": "cosine_length", "params": {"unit": "tokens", "max_len": 200}},
        {"name": "repetition", "preset": "repetition_penalty", "params": {"tokenization": "ids"}},
        {"name": "overlong", "preset": "soft_overlong", "params": {"max_len": 200, "cache_len": 50}},
    ],
}
Row = dict[str, Any]


def make_groups(count: int) -> list[Row]:
    """Groups of eight short completions, the same ones each time; every other answer is wrong."""
    draw, groups = random.Random(11), []
    for _ in range(count // GROUP_SIZE):
        a, b = draw.randint(2, 99), draw.choice([2, 3, 5, 7])
        right, spelled, wrong = draw.choice(
            [
                (f"{a * b}", f"{a * b:,}", f"{a * b + 1}"),
                (f"\\frac{{{a}}}{{{b}}}", f"\\dfrac{{{2 * a}}}{{{2 * b}}}", f"\\frac{{{a + 1}}}{{{b}}}"),
                (f"{a}\\sqrt{{{b}}}", f"\\sqrt{{{a * a * b}}}", f"{a + 1}\\sqrt{{{b}}}"),
                (f"({a}, {b})", f"\\left({a}, {b}\\right)", f"({b}, {a})"),
            ]
        )
        texts = []
        for place in range(GROUP_SIZE):
            steps = " ".join(f"step {n}: {a} and {n * b} give {a + n * b}." for n in range(draw.randint(2, 12)))
            answer = wrong if place % 2 else draw.choice([right, spelled])
            texts.append(f"<think>{steps}</think>\n<answer>So it is $\\boxed{{{answer}}}$.</answer>")
        groups.append({"truth": right, "texts": texts})
    return groups


# --- one side, in a process of its own -----------------------------------------------------------------------------


def our_scorer(groups: list[Row]) -> Callable[[], list[list[float | None]]]:
    """What scores all groups with our presets, worker and isolation included."""
    sys.path.insert(0, str(ROOT))
    from rewards_lib.executor import Executor
    from rewards_lib.mix import read_mix
    from rewards_lib.payloads import read_payload
    from rewards_lib.scoring import score_payloads, without_functions

    mix = read_mix(json.dumps(MIX))
    payloads = [
        read_payload(
            json.dumps(
                {
                    "sample": {"messages": [{"role": "user", "content": "?"}], "extra": {"answer": group["truth"]}},
                    "completions": [
                        {"messages": [{"role": "assistant", "content": text}], "completion_ids": token_ids(text)}
                        for text in group["texts"]
                    ],
                }
            )
        )
        for group in groups
    ]

    def score() -> list[list[float | None]]:
        with Executor() as executor:
            results = score_payloads(mix, payloads, executor=executor, resolve=without_functions)
            print(f"isolation    {executor.isolation()}", file=sys.stderr)
        return [[value for result in results for value in result.rules[index].rewards] for index in range(5)]

    return score


def trl_scorer(groups: list[Row]) -> Callable[[], list[list[float | None]]]:
    """What scores all groups with TRL's reward functions, in this process."""
    from trl.rewards import (
        accuracy_reward,
        get_cosine_scaled_reward,
        get_repetition_penalty_reward,
        get_soft_overlong_punishment,
        think_format_reward,
    )

    texts = [text for group in groups for text in group["texts"]]
    completions = [[{"role": "assistant", "content": text}] for text in texts]
    wanted = [f"${group['truth']}$" for group in groups for _ in group["texts"]]
    ids = [token_ids(text) for text in texts]
    rewards = [
        accuracy_reward,
        think_format_reward,
        get_cosine_scaled_reward(max_len=200),
        get_repetition_penalty_reward(ngram_size=3, max_penalty=-1.0),
        get_soft_overlong_punishment(max_completion_len=200, soft_punish_cache=50),
    ]
    return lambda: [reward(completions=completions, solution=wanted, completion_ids=ids) for reward in rewards]


def token_ids(text: str) -> list[int]:
    """Stand-in tokens, one for each word."""
    return [len(word) for word in text.split()]


def measure(side: str, groups: list[Row]) -> Row:
    """Score all groups once: seconds on the wall, CPU seconds with children, the rewards of each function."""
    score = (our_scorer if side == "ours" else trl_scorer)(groups)
    cpu, wall = _cpu_seconds(), time.perf_counter()
    rewards = score()
    return {"wall": time.perf_counter() - wall, "cpu": _cpu_seconds() - cpu, "rewards": rewards}


def _cpu_seconds() -> float:
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def run_side(side: str, python: str, groups: list[Row]) -> Row:
    """``measure`` in a process of its own."""
    done = subprocess.run(
        [python, __file__, "--measure", side], input=json.dumps(groups), capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{side} failed:\n{done.stderr[-2000:]}")
    result: Row = json.loads(done.stdout.splitlines()[-1])
    return result


# --- the peer's environment ----------------------------------------------------------------------------------------


def make_environment(folder: Path) -> str:
    """Install TRL with math-verify into an environment of its own; returns its Python."""
    venv.create(folder / "env", with_pip=True)
    python = str(folder / "env" / "bin" / "python")
    for packages in (["torch==2.13.0"], ["trl", "math-verify"]):
        print("installing   " + " ".join(packages), file=sys.stderr)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True)
    return python


# --- report --------------------------------------------------------------------------------------------------------


def compare(groups: list[Row], repeat: int, trl_python: str) -> Row:
    """Run both sides in alternating order and print what came of it."""
    sides = {"ours": sys.executable, "trl": trl_python}
    runs: dict[str, list[Row]] = {side: [] for side in sides}
    for number in range(repeat):
        for side in list(sides) if number % 2 == 0 else list(sides)[::-1]:
            runs[side].append(run_side(side, sides[side], groups))
    report: Row = {"completions": sum(len(group["texts"]) for group in groups)}
    for side, own in runs.items():
        facts = {name: statistics.median(run[name] for run in own) for name in ("wall", "cpu")}
        report[side] = facts
        each = facts["wall"] / report["completions"] * 1e6
        print(f"{side:12s} {facts['wall']:.2f} s ({each:.0f} us each), CPU {facts['cpu']:.2f} s")
    pairs = list(zip(runs["trl"], runs["ours"], strict=True))
    for name in ("wall", "cpu"):
        ratios = sorted(peer[name] / ours[name] for peer, ours in pairs)
        report[f"{name}_ratio"] = statistics.median(ratios)
        print(f"ratio        {report[f'{name}_ratio']:.1f} in {name} ({ratios[0]:.1f} to {ratios[-1]:.1f})")
    same = [
        sum(a == b or (None not in (a, b) and abs(a - b) < 1e-9) for a, b in zip(ours, peer, strict=True)) / len(ours)
        for ours, peer in zip(runs["ours"][0]["rewards"], runs["trl"][0]["rewards"], strict=True)
    ]
    report["agreement"] = dict(zip([rule["name"] for rule in MIX["rules"]], same, strict=True))
    print("agreement    " + ", ".join(f"{name} {100 * share:.1f} %" for name, share in report["agreement"].items()))
    return report


def main() -> int:
    """Run the benchmark; the exit status says whether the goal was met."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=20_000, help="completions, in groups of eight")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--trl-python", metavar="PATH", help="the Python of an environment that has trl")
    parser.add_argument("--json", type=Path, metavar="OUT")
    parser.add_argument("--measure", choices=["ours", "trl"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options.measure, json.load(sys.stdin))))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        try:
            python = options.trl_python or make_environment(Path(folder))
        except subprocess.CalledProcessError:
            print("TRL cannot be installed here, so there is nothing to compare with; --trl-python names one that is.")
            return 0
        report = compare(make_groups(options.count), options.repeat, python)
    is_met = report["wall_ratio"] >= GOAL
    print(f"goal         >= {GOAL:g} times as fast: {'met' if is_met else 'missed'}")
    if options.json:
        options.json.write_text(json.dumps(report, indent=1), encoding="utf-8")
    return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(main())
