"""Reading exports against plain pandas, and what a chart sends to the browser, both sides in one run.

    python benchmarks/training_metrics.py [--full]

Prints one line a measure: the ratio, both figures (least of the rounds, taken in turn), and the goal. ``--full`` uses
20 000 x 800 cells for the wide file instead of 5 000 x 800. Nothing is fetched; files are made in a temporary folder.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from rewards_lib.training_metrics import Series, drawn_points, read_export

ROUNDS = 5


def write_export(path: Path, rows: int, columns: int, blank_share: float) -> Path:
    """A wide export of random values with ``blank_share`` of its cells empty."""
    rng = np.random.default_rng(1)
    values = rng.normal(size=(rows, columns))
    values[rng.random(values.shape) < blank_share] = np.nan
    frame = pd.DataFrame(values, columns=[f"train/metric_{i}" for i in range(columns)])
    frame.insert(0, "train/global_step", np.arange(1, rows + 1))
    frame.to_csv(path, index=False, float_format="%.6g")
    return path


def fastest(*deeds: Callable[[], object]) -> list[tuple[float, float]]:
    """The least wall and processor seconds of each deed over interleaved rounds."""
    best = [(float("inf"), float("inf"))] * len(deeds)
    for _ in range(ROUNDS):
        for place, deed in enumerate(deeds):
            wall, cpu = time.perf_counter(), time.process_time()
            deed()
            took = time.perf_counter() - wall, time.process_time() - cpu
            best[place] = min(best[place][0], took[0]), min(best[place][1], took[1])
    return best


def compare_parsing(path: Path, what: str) -> None:
    """Our reading, mending and ordering against pandas' bare parse of the same file."""
    ours, pandas = fastest(lambda: read_export(path), lambda: pd.read_csv(path))
    ratios = f"{ours[1] / pandas[1]:.2f} x pandas.read_csv in CPU seconds, {ours[0] / pandas[0]:.2f} x in wall seconds"
    figures = f"{ours[1]:.3f} against {pandas[1]:.3f}, {ours[0]:.3f} against {pandas[0]:.3f}"
    print(f"parse {what}: {ratios} ({figures}; {path.stat().st_size / 1e6:.1f} MB), goal <= 1.5")


def compare_holding_some(path: Path, what: str) -> None:
    """Reading five columns of a wide file against reading all of it."""
    some = [f"train/metric_{i}" for i in range(5)]
    all_of_it, five = fastest(lambda: read_export(path), lambda: read_export(path, only=some))
    print(f"five columns of {what}: {five[1] / all_of_it[1]:.2f} x the whole in CPU seconds ({five[1]:.3f} s)")


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


def main() -> None:
    """Run all measures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="20 000 rows in the wide file")
    wide_rows = 20_000 if parser.parse_args().full else 5_000
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        wide = write_export(root / "b.csv", wide_rows, 800, 0.4)
        compare_parsing(wide, f"B, {wide_rows} x 800, 40 % blank")
        compare_holding_some(wide, "B")
        compare_parsing(write_export(root / "c.csv", 100_000, 30, 0.0), "C, 100 000 x 30")
        compare_parsing(write_export(root / "d.csv", 2_000, 100, 0.1), "D, 2 000 x 100")
    compare_payload()


if __name__ == "__main__":
    main()
