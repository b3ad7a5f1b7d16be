"""Reading exports against plain pandas, what a chart sends to the browser, and how often calm runs raise an alarm.

    python benchmarks/training_metrics.py [--full] [--fuzz 10000]

Prints one line a measure: the ratio, both figures (least of the rounds, taken in turn), and the goal. ``--full`` uses
20 000 x 800 cells for the wide file instead of 5 000 x 800, and adds a million rows of 30 metrics. ``--fuzz`` reads so
many made-up files, each of which must give an export or one clear error. Nothing is fetched; files are made in a
temporary folder. Against TensorBoard: tensorboard_loading.py.
"""

from __future__ import annotations

import argparse
import json
import math
import runpy
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from hypothesis import HealthCheck, given, settings, strategies

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from rewards_lib.training_metrics import Series, diagnose, drawn_points, read_export  # noqa: E402

ROUNDS, ROUNDS_OF_SMALL = 5, 40
SEEDS = range(1, 9)
MISSED: list[str] = []
"""The measures whose goals were missed."""
BARE = """
import sys, pandas
def memory_kb(key):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(key))
base = memory_kb("VmRSS")
pandas.read_csv(sys.argv[1])
print(memory_kb("VmHWM") - base)
"""
CHART = """
import json, sys, time
begin = time.perf_counter()
from pathlib import Path
from rewards_lib.training_metrics import diagnose, drawn_points, read_export, smooth_series
import numpy, pandas, tsdownsample
def memory_kb(key):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(key))
base = memory_kb("VmRSS")
export = read_export(Path(sys.argv[1]))
peak = memory_kb("VmHWM") - base
run = export.runs[0]
diagnose(run)
import plotly.graph_objects as go
def charts(weight):
    return [go.Figure(go.Scatter(x=x, y=y)).to_json() for name in run.names[:8]
            for x, y in [drawn_points(smooth_series(run.series(name), weight))]]
charts(0.8)
first = time.perf_counter() - begin
begin = time.perf_counter()
charts(0.6)
again = time.perf_counter() - begin
print(json.dumps({"first": first, "again": again, "peak_kb": peak, "frame_kb": run.values.nbytes / 1024}))
"""


def write_export(path: Path, rows: int, columns: int, blank_share: float) -> Path:
    """A wide export of random values with ``blank_share`` of its cells empty."""
    rng = np.random.default_rng(1)
    values = rng.normal(size=(rows, columns))
    values[rng.random(values.shape) < blank_share] = np.nan
    frame = pd.DataFrame(values, columns=[f"train/metric_{i}" for i in range(columns)])
    frame.insert(0, "train/global_step", np.arange(1, rows + 1))
    frame.to_csv(path, index=False, float_format="%.6g")
    return path


def fastest(*deeds: Callable[[], object], rounds: int = ROUNDS) -> list[tuple[float, float]]:
    """The least wall and processor seconds of each deed over interleaved rounds."""
    best = [(float("inf"), float("inf"))] * len(deeds)
    for _ in range(rounds):
        for place, deed in enumerate(deeds):
            wall, cpu = time.perf_counter(), time.process_time()
            deed()
            took = time.perf_counter() - wall, time.process_time() - cpu
            best[place] = min(best[place][0], took[0]), min(best[place][1], took[1])
    return best


def judge(measure: str, *ratios: float, goal: float) -> str:
    """The goal as it is printed; a missed one is remembered."""
    if max(ratios) > goal:
        MISSED.append(measure)
    return f"goal <= {goal:g}" + " MISSED" * (max(ratios) > goal)


def compare_parsing(path: Path, what: str, *, on_the_wall: bool) -> None:
    """Our reading, mending and ordering against pandas' bare parse of the same file.

    The goal is one of the processor; of the large files, which pandas 3 reads on all cores, of the wall as well.
    """
    rounds = ROUNDS if on_the_wall else ROUNDS_OF_SMALL
    ours, pandas = fastest(lambda: read_export(path), lambda: pd.read_csv(path), rounds=rounds)
    wall, cpu = (mine / theirs for mine, theirs in zip(ours, pandas, strict=True))
    ratios = f"{cpu:.2f} x pandas.read_csv in CPU seconds, {wall:.2f} x in wall seconds"
    figures = f"{ours[1]:.3f} against {pandas[1]:.3f}, {ours[0]:.3f} against {pandas[0]:.3f}"
    goal = judge(f"parse {what}", cpu, wall if on_the_wall else 0, goal=1.5)
    print(f"parse {what}: {ratios} ({figures}; {path.stat().st_size / 1e6:.1f} MB), {goal}")


def compare_holding_some(path: Path, what: str) -> None:
    """Reading five columns of a wide file against reading all of it."""
    some = [f"train/metric_{i}" for i in range(5)]
    all_of_it, five = fastest(lambda: read_export(path), lambda: read_export(path, only=some))
    print(f"five columns of {what}: {five[1] / all_of_it[1]:.2f} x the whole in CPU seconds ({five[1]:.3f} s)")


def time_first_chart(path: Path, what: str) -> None:
    """From the start of a process to the JSON of eight judged charts; the same charts again; the peak of memory."""
    code = [sys.executable, "-c", CHART, str(path)]
    begin = time.perf_counter()
    done = subprocess.run(code, cwd=ROOT, capture_output=True, text=True, check=True)
    whole, told = time.perf_counter() - begin, json.loads(done.stdout)
    code = [sys.executable, "-c", BARE, str(path)]
    bare = float(subprocess.run(code, cwd=ROOT, capture_output=True, text=True, check=True).stdout)
    again, peak = told["again"] / told["first"], told["peak_kb"] / told["frame_kb"]
    print(
        f"first charts of {what}: {whole:.2f} s from the start of the process; a widget change "
        f"{again:.2f} x of that without parsing ({told['again']:.2f} s), {judge(f'rerun {what}', again, goal=0.3)}; "
        f"peak of reading {peak:.2f} x the numbers held, {judge(f'peak {what}', peak, goal=2.2)} "
        f"(pandas.read_csv alone {bare / told['frame_kb']:.2f} x)"
    )


def count_alarms() -> None:
    """Findings that are no notes on simulated runs, over several seeds: what is fine must raise none."""
    made = runpy.run_path(str(ROOT / "examples" / "training_metrics" / "make_examples.py"))
    plan, rows, plans = made["Plan"], made["rows"], made["PLANS"]

    def rising(t: float) -> float:
        return -1.0 + 2.4 * (1 - math.exp(-2.5 * t))

    wanted = {
        "healthy": (plans["healthy"], "0"),
        "its gaps nan": (plans["healthy"], "0"),
        "longer and better": (plan(1, rising, rising, lambda t: 5.5 + 1.0 * t), "0"),
        "mastered": (plan(1, lambda t: 1 + 9 * t, lambda t: 1 + 9 * t, lambda _: 5.0), "notes only"),
        "hacked": (plans["hacked"], ">= 1"),
        "leaking": (plan(1, lambda t: -1 + 6 * max(0, t - 0.3), lambda _: -1.0, lambda _: 5.8), ">= 1"),
    }
    print(f"alarms (warnings and facts) of {len(SEEDS)} simulated runs each:")
    for name, (one, goal) in wanted.items():
        alarms, rules = [], Counter[str]()
        for seed in SEEDS:
            frame = pd.DataFrame(rows(plan(seed, one.skill, one.test_skill, one.log_length)))
            data = frame.to_csv(index=False, na_rep="nan" if "nan" in name else "").encode()
            found = diagnose(read_export(data, name).runs[0]).findings
            bad = [finding.rule for finding in found if finding.severity != "note"]
            alarms.append(len(bad))
            rules.update(bad)
        said = ", ".join(f"{rule} {count}" for rule, count in rules.most_common())
        print(f"  {name:18} {min(alarms)} to {max(alarms)}, goal {goal}  {said}")
        if min(alarms) < 1 if goal == ">= 1" else max(alarms) > 0:
            MISSED.append(f"alarms of {name} runs")


def compare_payload(points: int = 1_000_000) -> None:
    """The JSON of a chart of one long line, drawn as the page draws it and drawn raw."""
    rng = np.random.default_rng(2)
    line = Series(np.arange(1.0, points + 1), np.cumsum(rng.normal(size=points)))
    steps, values = drawn_points(line)
    thin = len(go.Figure(go.Scatter(x=steps, y=values)).to_json())
    raw = len(go.Figure(go.Scatter(x=line.steps, y=line.values)).to_json())
    kept = line.values.min() in values and line.values.max() in values
    ((wall, _),) = fastest(lambda: drawn_points(line))
    print(
        f"payload of {points} points: 1/{raw / thin:.0f} of the raw ({thin / 1e3:.0f} kB against {raw / 1e6:.1f} MB), "
        f"extremes kept: {kept}, {wall * 1e3:.1f} ms, goal <= 1/200"
    )
    if not kept or thin * 200 > raw:
        MISSED.append("payload")


def fuzz(count: int) -> None:
    """Read made-up tables, logs and bytes as the tests do, but many; tell the slowest."""
    made = runpy.run_path(str(ROOT / "tests" / "rewards_lib" / "training_metrics" / "test_metric_fuzz.py"))
    slowest, read = 0.0, 0

    def use(data: bytes) -> None:
        nonlocal slowest, read
        begin = time.perf_counter()
        made["use"](data)
        slowest, read = max(slowest, time.perf_counter() - begin), read + 1

    quiet = settings(max_examples=count // 3 + 1, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    for files in (made["tables"](), made["logs"](), strategies.binary(max_size=300)):
        quiet(given(files)(use))()
    print(f"fuzz: {read} files, each an export or one clear error; the slowest took {slowest:.2f} s")


def main() -> int:
    """Run all measures; 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="20 000 rows in the wide file, and a million rows")
    parser.add_argument("--fuzz", type=int, default=0, help="read so many made-up files")
    chosen = parser.parse_args()
    full = chosen.full
    wide_rows = 20_000 if full else 5_000
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        wide = write_export(root / "b.csv", wide_rows, 800, 0.4)
        compare_parsing(wide, f"B, {wide_rows} x 800, 40 % blank", on_the_wall=full)
        compare_holding_some(wide, "B")
        if full:
            time_first_chart(wide, "B")
        long = write_export(root / "c.csv", 100_000, 30, 0.0)
        compare_parsing(long, "C, 100 000 x 30", on_the_wall=False)
        time_first_chart(long, "C")
        if full:
            million = write_export(root / "a.csv", 1_000_000, 30, 0.0)
            compare_parsing(million, "A, 1 000 000 x 30", on_the_wall=True)
            time_first_chart(million, "A")
        compare_parsing(write_export(root / "d.csv", 2_000, 100, 0.1), "D, 2 000 x 100", on_the_wall=False)
    compare_payload()
    count_alarms()
    if chosen.fuzz:
        fuzz(chosen.fuzz)
    if MISSED:
        print("missed:", ", ".join(MISSED))
    return int(bool(MISSED))


if __name__ == "__main__":
    sys.exit(main())
