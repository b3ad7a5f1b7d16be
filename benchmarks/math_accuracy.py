"""Our mathematics verifier against math-verify on the same pairs, both in one run.

    python benchmarks/math_accuracy.py [PAIRS.jsonl] [--peer math-verify] [--suite FOLDER] [--repeat 3] [--json OUT]

PAIRS.jsonl has one ``{"gold", "prediction", "expect": 1 | 0}`` a line; without it pairs are made here. Each side runs
in a process of its own, imports and first calls outside the clock, in alternating order. ``--suite`` also scores the
labelled triples in the tests of an unpacked math-verify source archive; ``--suite fetch`` downloads it with pip. Then
hostile answers go through the executor from the main thread, from another thread and from eight at once. Exit status 1
when a goal is missed. Nothing else needs the network.
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
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import math_verify_suite

ROOT = Path(__file__).resolve().parents[1]
Pair = dict[str, Any]
GOALS = {"ratio": 20.0, "cpu_s_per_1000": 1.0, "p99_ms": 5.0, "suite_percent": 98.5}
LIMIT_SECONDS, GRACE_SECONDS = 1.0, 0.5


# --- pairs ---------------------------------------------------------------------------------------------------------


def made_pairs(count: int = 600) -> list[Pair]:
    """Labelled pairs of everyday answers, the same ones each time."""
    draw = random.Random(7)
    pairs = []
    for _ in range(count):
        truth, right, wrong = draw.choice(_KINDS)(draw)
        expect = draw.random() < 0.65
        answer = f"So the answer is $\\boxed{{{right if expect else wrong}}}$."
        pairs.append({"gold": truth, "prediction": answer, "expect": int(expect)})
    return pairs


def _integer(draw: random.Random) -> tuple[str, str, str]:
    n = draw.randint(1000, 999_999)
    return str(n), draw.choice([str(n), f"{n:,}", f"{n}.0"]), str(n + draw.choice([1, -1, 10]))


def _fraction(draw: random.Random) -> tuple[str, str, str]:
    a, b, k = draw.randint(1, 30), draw.randint(2, 30), draw.randint(2, 5)
    return f"\\frac{{{a}}}{{{b}}}", f"\\dfrac{{{a * k}}}{{{b * k}}}", f"\\frac{{{a + 1}}}{{{b}}}"


def _decimal(draw: random.Random) -> tuple[str, str, str]:
    n = draw.randint(1, 9999)
    return f"{n / 100}", f"\\frac{{{n}}}{{100}}", f"{(n + 1) / 100}"


def _root(draw: random.Random) -> tuple[str, str, str]:
    a, b = draw.randint(2, 9), draw.choice([2, 3, 5, 7])
    return f"{a}\\sqrt{{{b}}}", f"\\sqrt{{{a * a * b}}}", f"{a + 1}\\sqrt{{{b}}}"


def _percentage(draw: random.Random) -> tuple[str, str, str]:
    n = draw.randint(1, 99)
    return f"{n}\\%", f"{n / 100}", f"{n + 1}\\%"


def _tuple(draw: random.Random) -> tuple[str, str, str]:
    a, b = draw.randint(-9, 9), draw.randint(10, 19)
    return f"({a}, {b})", f"\\left({a}, \\frac{{{2 * b}}}{{2}}\\right)", f"({b}, {a})"


def _set(draw: random.Random) -> tuple[str, str, str]:
    a, b = draw.randint(1, 9), draw.randint(10, 19)
    return f"\\{{{a}, {b}\\}}", f"\\{{{b}, {a}\\}}", f"\\{{{a}, {b + 1}\\}}"


def _polynomial(draw: random.Random) -> tuple[str, str, str]:
    a, b = draw.randint(1, 9), draw.randint(1, 9)
    return f"x^2+{a + b}x+{a * b}", f"(x+{a})(x+{b})", f"x^2+{a + b}x+{a * b + 1}"


def _interval(draw: random.Random) -> tuple[str, str, str]:
    a = draw.randint(-9, 9)
    return f"[{a}, \\infty)", f"\\left[{a}, \\infty\\right)", f"({a}, \\infty)"


_KINDS = (_integer, _fraction, _decimal, _root, _percentage, _tuple, _set, _polynomial, _interval)


def read_pairs(path: Path) -> list[Pair]:
    """The pairs of a file, one JSON object a line."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


# --- one side, in a process of its own -----------------------------------------------------------------------------


def _our_grader(params: dict[str, Any]) -> Any:
    from rewards_lib.contract import Completion, Sample
    from rewards_lib.presets import check_params, find_preset

    preset = find_preset("math_accuracy")
    by_digits = {digits: check_params("math_accuracy", params | {"rounding_digits": digits}) for digits in range(2, 8)}

    def grade(pair: Pair) -> tuple[float | None, str]:
        complete = by_digits[pair.get("digits", 6)]
        [score] = preset.score_all(complete, Sample(extra={"answer": pair["gold"]}), [Completion(pair["prediction"])])
        why = str(score.why)
        return score.value, why.rpartition("(")[2].rstrip(")") if why.endswith(")") else "extraction"

    return grade


def _peer_grader(_: dict[str, Any]) -> Any:
    from math_verify import ExprExtractionConfig, LatexExtractionConfig, parse, verify

    configs = [LatexExtractionConfig(boxed_match_priority=0), ExprExtractionConfig()]

    def grade(pair: Pair) -> tuple[float | None, str]:
        wanted = parse(f"$\\boxed{{{pair['gold']}}}$", configs)
        if not wanted:
            return None, ""
        return float(verify(wanted, parse(pair["prediction"], configs))), ""

    return grade


def measure(side: str, pairs: list[Pair], params: dict[str, Any]) -> dict[str, Any]:
    """Grade the pairs in this process: verdicts, layers, CPU seconds (children included), milliseconds of each pair."""
    grade = (_our_grader if side == "ours" else _peer_grader)(params)
    for gold, answer in (("2\\sqrt{2}", "\\sqrt{8}"), ("x+1", "1+x"), ("1, 2", "2, 1"), ("5", "5\\text{ kg}")):
        grade({"gold": gold, "prediction": f"$\\boxed{{{answer}}}$"})
    started = _cpu_seconds()
    verdicts, layers, wall_ms = [], Counter[str](), []
    for pair in pairs:
        clock = time.perf_counter()
        verdict, layer = grade(pair)
        wall_ms.append((time.perf_counter() - clock) * 1e3)
        verdicts.append(verdict)
        layers[layer] += 1
    return {"verdicts": verdicts, "layers": layers, "cpu": _cpu_seconds() - started, "wall_ms": wall_ms}


def _cpu_seconds() -> float:
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def run_side(side: str, pairs: list[Pair], params: dict[str, Any]) -> dict[str, Any]:
    """``measure`` in a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, "--measure", side],
        input=json.dumps({"pairs": pairs, "params": params}), cwd=ROOT, capture_output=True, text=True, check=True,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


# --- report --------------------------------------------------------------------------------------------------------


def facts_of(runs: list[dict[str, Any]], pairs: list[Pair]) -> dict[str, Any]:
    """What is told of one side: accuracy of the first run, least CPU time, latencies over all runs."""
    verdicts = runs[0]["verdicts"]
    kinds = Counter(
        "unscored" if verdict is None else "right" if verdict == pair["expect"] else "FP" if verdict else "FN"
        for verdict, pair in zip(verdicts, pairs, strict=True)
    )
    walls = sorted(wall for run in runs for wall in run["wall_ms"])
    return {
        "accuracy": 100 * kinds["right"] / len(pairs), "FP": kinds["FP"], "FN": kinds["FN"],
        "unscored": kinds["unscored"], "cpu_s_per_1000": 1000 * min(run["cpu"] for run in runs) / len(pairs),
        "p50_ms": statistics.median(walls), "p99_ms": walls[int(0.99 * (len(walls) - 1))], "max_ms": walls[-1],
    }  # fmt: skip


def compare(pairs: list[Pair], repeat: int, with_peer: bool) -> dict[str, Any]:
    """Run both sides in alternating order and print what came of it."""
    sides = ["ours", "math-verify"] if with_peer else ["ours"]
    runs: dict[str, list[dict[str, Any]]] = {side: [] for side in sides}
    for number in range(repeat):
        for side in sides if number % 2 == 0 else sides[::-1]:
            runs[side].append(run_side(side, pairs, {}))
    report: dict[str, Any] = {"pairs": len(pairs)}
    for side in sides:
        facts = report[side] = facts_of(runs[side], pairs)
        print(
            "{side:12s} accuracy {accuracy:.2f} % FP {FP} FN {FN} unscored {unscored}; CPU s per 1,000 "
            "{cpu_s_per_1000:.3f}; ms p50 {p50_ms:.2f} p99 {p99_ms:.2f} max {max_ms:.1f}".format(side=side, **facts)
        )
    layers = runs["ours"][0]["layers"]
    report["layers"] = {layer: count / len(pairs) for layer, count in layers.items()}
    print("layers       " + ", ".join(f"{layer} {100 * share:.1f} %" for layer, share in report["layers"].items()))
    if with_peer:
        report |= _ratio(runs)
        _tell_differences(pairs, runs)
    return report


def _ratio(runs: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    ratios = [peer["cpu"] / ours["cpu"] for ours, peer in zip(runs["ours"], runs["math-verify"], strict=True)]
    span = f"{min(ratios):.1f} to {max(ratios):.1f}"
    print(f"ratio        {statistics.median(ratios):.1f} (CPU of math-verify / ours; {span})")
    return {"ratio": statistics.median(ratios), "ratio_range": [min(ratios), max(ratios)]}


def _tell_differences(pairs: list[Pair], runs: dict[str, list[dict[str, Any]]]) -> None:
    rows = list(zip(pairs, runs["ours"][0]["verdicts"], runs["math-verify"][0]["verdicts"], strict=True))
    differing = [row for row in rows if row[1] != row[2]]
    print(f"agreement    {100 * (1 - len(differing) / len(rows)):.2f} %")
    for pair, ours, peer in differing:
        verdicts = f"ours {ours}, math-verify {peer}, label {pair['expect']}"
        print(f"  {pair['gold']!r} / {pair['prediction'][-60:]!r}: {verdicts}")


def score_suite(folder: Path) -> dict[str, Any]:
    """Our verdicts on math-verify's own triples; they hold unboxed text, hence the fallback.

    All are told; the four that the catalogue leaves out count in neither accuracy nor the goal.
    """
    triples = math_verify_suite.read_triples(folder)
    run = run_side("ours", triples, {"fallback": "last_expression"})
    graded = list(zip(triples, run["verdicts"], strict=True))
    counted = [(triple, verdict) for triple, verdict in graded if "left_out" not in triple]
    facts = facts_of([run | {"verdicts": [verdict for _, verdict in counted]}], [triple for triple, _ in counted])
    print(
        f"suite        {len(counted)} of {len(triples)} triples, {facts['accuracy']:.1f} % "
        f"FP {facts['FP']} FN {facts['FN']} unscored {facts['unscored']}"
    )
    for triple, verdict in graded:
        if verdict != triple["expect"]:
            why = f"; left out: {triple['left_out']}" if "left_out" in triple else ""
            told = f"{triple['gold'][-50:]!r} / {triple['prediction'][-60:]!r}"
            print(f"  {told}: ours {verdict}, label {triple['expect']}{why}")
    return facts


# --- hostile answers through the executor --------------------------------------------------------------------------

HOSTILE = {
    "10^{10^{10}}": (0.0, None), "9^{9^{9^9}}": (0.0, None), "2^{10^9}+1": (0.0, None), "100000000!": (0.0, None),
    "5^{5^{5^{5^5}}}": (0.0, None), "\\int_0^1 x^x e^{x^2} \\sin(\\cos x) dx": (0.0, None),
    "\\sum_{k=1}^{1000000000} \\frac{1}{k}": (0.0, None), "(" * 300 + "1" + ")" * 300: (1.0, None),
    "\\frac{1}{" * 60 + "2" + "}" * 60: (0.0, None), "7" * 10_000: (0.0,), "\\frac{0}{0}": (0.0,), "\\frac10": (0.0,),
    "\\sqrt{" * 200 + "2" + "}" * 200: (0.0, None), "x^{" * 100 + "2" + "}" * 100: (0.0, None),
}  # fmt: skip
"""Answers that keep computer algebra busy, with the rewards that are right against the truth 1."""


def run_hostile() -> dict[str, Any]:
    """Score the hostile answers from three kinds of threads, and a thousand of them in a row for their memory."""
    from rewards_lib.executor import Executor, Limits
    from rewards_lib.presets.worker import PRELOAD

    params = {"time_limit_s": LIMIT_SECONDS}
    sample = {"messages": [], "extra": {"answer": "1"}, "tools": []}
    items = [
        {"preset": "math_accuracy", "params": params, "sample": sample, "completion": f"$\\boxed{{{answer}}}$"}
        for answer in HOSTILE
    ]
    with Executor() as executor:

        def score(batch: list[Pair], seconds: float = LIMIT_SECONDS) -> list[Any]:
            entry = "rewards_lib.presets.worker:score_item"
            return executor.run_items(entry, batch, item_seconds=seconds, limits=Limits(), preload=PRELOAD)

        score(items[:1])
        report = {"main thread": _judge(score(items))}
        with ThreadPoolExecutor(8) as threads:
            report["another thread"] = _judge(threads.submit(score, items).result())
            together = [run for runs in threads.map(score, [items] * 8) for run in runs]
        report["eight threads at once"] = _judge(together)
        before, clock = _resident_mb(), time.perf_counter()
        many = (items * (1000 // len(items) + 1))[:1000]
        score(many, seconds=0.2)
        report["a thousand in a row"] = {
            "seconds": time.perf_counter() - clock, "host_growth_mb": _resident_mb() - before, "wrong": 0,
        }  # fmt: skip
    for name, facts in report.items():
        print(f"hostile      {name}: " + ", ".join(f"{key} {value:.3g}" for key, value in facts.items()))
    return report


def _judge(runs: list[Any]) -> dict[str, float]:
    right = list(HOSTILE.values()) * (len(runs) // len(HOSTILE))
    values = [None if run.error or run.value is None else run.value["value"] for run in runs]
    longest = max(run.duration_ms for run in runs) / 1e3
    wrong = sum(value not in allowed for value, allowed in zip(values, right, strict=True))
    return {"longest_s": longest, "wrong": wrong, "undecided": sum(value is None for value in values)}


def _resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1]) if sys.platform == "linux" else 0
    return pages * resource.getpagesize() / 1e6


# --- goals ---------------------------------------------------------------------------------------------------------


def missed_goals(report: dict[str, Any]) -> list[str]:
    """The goals that this run shows to be missed."""
    ours = report["ours"]
    checks = {
        "no false positive": ours["FP"] == 0,
        "nothing unscored": ours["unscored"] == 0,
        f"CPU s per 1,000 <= {GOALS['cpu_s_per_1000']}": ours["cpu_s_per_1000"] <= GOALS["cpu_s_per_1000"],
        f"p99 <= {GOALS['p99_ms']} ms": ours["p99_ms"] <= GOALS["p99_ms"],
        f"ratio >= {GOALS['ratio']}": report.get("ratio", GOALS["ratio"]) >= GOALS["ratio"],
        "no less accurate than the peer": ours["accuracy"] >= report.get("math-verify", ours)["accuracy"],
        f"suite >= {GOALS['suite_percent']} %": report.get("suite", {"accuracy": 100})["accuracy"]
        >= GOALS["suite_percent"],
        "hostile answers right": all(not facts["wrong"] for facts in report["hostile"].values()),
        f"hostile answers within {LIMIT_SECONDS + GRACE_SECONDS} s": all(
            facts.get("longest_s", 0) <= LIMIT_SECONDS + GRACE_SECONDS for facts in report["hostile"].values()
        ),
    }
    return [goal for goal, is_met in checks.items() if not is_met]


def main() -> int:
    """Run the benchmark; the exit status says whether every goal was met."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("pairs", type=Path, nargs="?")
    parser.add_argument("--peer", choices=["math-verify", "none"], default="math-verify")
    parser.add_argument("--suite", type=Path, metavar="FOLDER", help="an unpacked source archive, or fetch")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", type=Path, metavar="OUT")
    parser.add_argument("--measure", choices=["ours", "math-verify"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        work = json.load(sys.stdin)
        print(json.dumps(measure(options.measure, work["pairs"], work["params"])))
        return 0
    pairs = read_pairs(options.pairs) if options.pairs else made_pairs()
    report = compare(pairs, options.repeat, options.peer != "none")
    if options.suite:
        with tempfile.TemporaryDirectory() as folder:
            is_fetched = str(options.suite) == "fetch"
            report["suite"] = score_suite(math_verify_suite.fetch(Path(folder)) if is_fetched else options.suite)
    report["hostile"] = run_hostile()
    missed = missed_goals(report)
    print("missed       " + "; ".join(missed) if missed else "every goal is met")
    if options.json:
        options.json.write_text(json.dumps(report, indent=1), encoding="utf-8")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main())
