"""From a file of a run to its first charts: ours against TensorBoard, on the same scalars.

    python benchmarks/tensorboard_loading.py [--steps 20000] [--metrics 800] [--tensorboard FOLDER]

TensorBoard gets an environment of its own (``FOLDER``, made with pip where it is not there, so this needs a package
index; default: a temporary one), writes the event files itself with its own writer, and is asked with its own fast
loader: from the start of its process until its server gives the last point of the last metric. Ours: from the start of
a process until the JSON of eight judged charts, out of a CSV of the same values and out of TensorBoard's event files.
Both are also compared by what they asked of the processor, TensorBoard's loader included, which other programs on the
machine change less. Without TensorBoard the benchmark says so and ends.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import venv
from pathlib import Path

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parents[1]
ROUNDS = 3
MOST_SECONDS = 600
GOAL = 1 / 3
WRITER = """
import sys
import csv
from tensorboard.compat.proto import event_pb2, summary_pb2
from tensorboard.summary.writer.event_file_writer import EventFileWriter
with open(sys.argv[1], newline="") as file:
    rows = csv.reader(file)
    names = next(rows)
    writer = EventFileWriter(sys.argv[2])
    for row in rows:
        values = [summary_pb2.Summary.Value(tag=n, simple_value=float(v)) for n, v in zip(names[1:], row[1:])]
        event = event_pb2.Event(wall_time=1.7e9 + float(row[0]), step=int(row[0]))
        event.summary.CopyFrom(summary_pb2.Summary(value=values))
        writer.add_event(event)
    writer.close()
"""
OURS = """
import sys
from pathlib import Path
from rewards_lib.training_metrics import diagnose, drawn_points, read_export, smooth_series
run = read_export(Path(sys.argv[1])).runs[0]
diagnose(run)
import plotly.graph_objects as go
for name in run.names[:8]:
    x, y = drawn_points(smooth_series(run.series(name), 0.8))
    go.Figure(go.Scatter(x=x, y=y)).to_json()
"""


def write_csv(path: Path, steps: int, metrics: int) -> list[str]:
    """A CSV of random walks; the names of its metrics."""
    rng = np.random.default_rng(1)
    names = [f"train/metric_{i:02}" for i in range(metrics)]
    frame = pd.DataFrame(np.cumsum(rng.normal(size=(steps, metrics)), axis=0), columns=names)
    frame.insert(0, "step", np.arange(1, steps + 1))
    frame.to_csv(path, index=False, float_format="%.6g")
    return names


def tensorboard_python(folder: Path) -> Path | None:
    """The Python of an environment that holds TensorBoard, made where it is missing; None when it cannot be had."""
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
    has = subprocess.run([python, "-c", "import tensorboard"], capture_output=True, check=False)
    if has.returncode:
        done = subprocess.run([python, "-m", "pip", "install", "-q", "tensorboard"], capture_output=True, check=False)
        if done.returncode:
            return None
    return python


def seconds_of_ours(path: Path) -> tuple[float, float]:
    """From the start of a process to the JSON of its charts: wall and processor seconds."""
    begin, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", OURS, str(path)], cwd=ROOT, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.perf_counter() - begin, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def processor_seconds(process: int) -> float:
    """What a running process and those that it started have asked of the processor."""
    spent = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            told = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it ended meanwhile
            continue
        if process in (int(stat.parent.name), int(told[1])):
            spent += int(told[11]) + int(told[12])
    return spent / os.sysconf("SC_CLK_TCK")


def seconds_of_tensorboard(python: Path, logs: Path, last_tag: str, last_step: int) -> tuple[float, float]:
    """From the start of TensorBoard until its server gives the last step of a metric: wall and processor seconds."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    begin = time.perf_counter()
    command = [python, "-m", "tensorboard.main", "--logdir", logs, "--port", str(port), "--host", "127.0.0.1"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        address = f"http://127.0.0.1:{port}/data/plugin/scalars/scalars?run=.&tag={last_tag}"
        while time.perf_counter() - begin < MOST_SECONDS:
            try:
                with urllib.request.urlopen(address, timeout=30) as answer:
                    points = json.load(answer)
            except (urllib.error.URLError, OSError, ValueError):
                points = []
            if points and points[-1][1] >= last_step:
                return time.perf_counter() - begin, processor_seconds(process.pid)
            time.sleep(0.02)
        return float("inf"), float("inf")
    finally:
        process.terminate()
        process.wait(30)


def main() -> int:
    """Write the same scalars twice, load them by turns, and print the ratios; 1 when the goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--metrics", type=int, default=800)
    parser.add_argument("--tensorboard", type=Path, help="folder of an environment for TensorBoard")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        python = tensorboard_python(given.tensorboard or root / "tensorboard")
        if python is None:
            print("TensorBoard cannot be installed here: nothing was compared")
            return 0
        table, logs = root / "run.csv", root / "logs"
        names = write_csv(table, given.steps, given.metrics)
        subprocess.run([python, "-c", WRITER, table, logs], check=True)
        (events,) = logs.iterdir()
        best = {what: (float("inf"), float("inf")) for what in ("TensorBoard", "a CSV", "an event file")}
        for _ in range(ROUNDS):
            for what, (wall, cpu) in (
                ("a CSV", seconds_of_ours(table)),
                ("an event file", seconds_of_ours(events)),
                ("TensorBoard", seconds_of_tensorboard(python, logs, names[-1], given.steps)),
            ):
                best[what] = min(best[what][0], wall), min(best[what][1], cpu)
        peer = best.pop("TensorBoard")
        print(
            f"{given.steps} steps x {given.metrics} metrics, from the start of the process (least of {ROUNDS}): "
            f"TensorBoard loaded its event file of {events.stat().st_size / 1e6:.0f} MB in {peer[0]:.2f} s, "
            f"{peer[1]:.2f} of the processor"
        )
        for what, (wall, cpu) in best.items():
            print(
                f"our first charts out of {what}: {wall / peer[0]:.2f} x ({wall:.2f} s), "
                f"{cpu / peer[1]:.2f} x of the processor ({cpu:.2f} s), goal <= {GOAL:.2f}"
            )
        return int(any(wall > GOAL * peer[0] for wall, _ in best.values()))


if __name__ == "__main__":
    sys.exit(main())
