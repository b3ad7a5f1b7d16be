"""The Training metrics page on long and wide runs: from the path to the charts, and what each change of a widget costs.

Runs the page itself without a browser. The run is an example, stretched to so many steps with its own noise, or given.
Times are of the wall and, in brackets, of the processor; reading is told apart, since it has goals of its own.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
from rewards_lib.training_metrics import read_export  # noqa: E402

OPEN_SECONDS, CHANGE_SECONDS = 3.0, 1.0
"""Goals: from the end of the reading to the charts; from a change to the charts."""


def stretch(path: Path, steps: int) -> Path:
    """Write the hacked example as a run of so many steps: its curves, with noise as large as its own."""
    run = read_export(ROOT / "examples" / "training_metrics" / "hacked.csv").runs[0]
    rng, at = np.random.default_rng(1), np.linspace(run.steps[0], run.steps[-1], steps)
    columns = {"train/global_step": pa.array(np.arange(steps))}
    for name in run.names:
        series = run.series(name)
        noise = np.std(np.diff(series.values)) / np.sqrt(2)
        values = np.interp(at, series.steps, series.values) + rng.normal(0, noise, steps)
        values = np.clip(values, series.values.min(), series.values.max())
        if name.startswith("test/"):
            values[np.arange(steps) % max(1, steps // 1000) > 0] = np.nan
        columns[name] = pa.array(values.round(6), from_pandas=True)
    pyarrow.csv.write_csv(pa.table(columns), path)
    return path


def timed(deed: Callable[[], object]) -> tuple[float, float]:
    """Seconds of the wall and of the processor."""
    wall, cpu = time.perf_counter(), time.process_time()
    deed()
    return time.perf_counter() - wall, time.process_time() - cpu


def measure(path: Path) -> bool:
    """Print what the page takes on this file; whether the goals were met."""
    # the first reading also loads pandas
    reading = min(timed(lambda: read_export(path))[0] for _ in range(2))
    page = AppTest.from_file(str(ROOT / "app.py"), default_timeout=600).switch_page("pages/training_metrics.py").run()
    wall, cpu = timed(lambda: page.text_input(key="metric_path_0").set_value(str(path)).run())
    print(f"{path}: read in {reading:.2f} s, page after {wall:.2f} ({cpu:.2f}) s")
    met = wall - reading <= OPEN_SECONDS
    (steps,) = [slider for slider in page.slider if str(slider.key).startswith("metric_steps_")]
    low, high = steps.value
    picker = page.multiselect[0]
    last = picker.options[-1].partition(" ")[0]
    changes: dict[str, Callable[[], AppTest]] = {
        "nothing": page.run,
        "smoothing": lambda: page.slider(key="metric_smoothing").set_value(0.6).run(),
        "values logarithmic": lambda: page.button_group(key="metric_axes").set_value(["log"]).run(),
        "steps logarithmic": lambda: page.button_group(key="metric_axes").set_value(["log_x"]).run(),
        "without outliers": lambda: page.button_group(key="metric_axes").set_value(["clip"]).run(),
        "back": lambda: page.button_group(key="metric_axes").set_value([]).run(),
        "zoom": lambda: page.slider(key=steps.key).set_range(low + (high - low) // 4, low + (high - low) // 2).run(),
        "a series picked": lambda: picker.select(last).run(),
        "a filter typed": lambda: page.text_input(key="metric_filter").set_value("metric_.*7|seconds").run(),
    }
    for what, change in changes.items():
        wall, cpu = timed(change)
        print(f"  {what:20} {wall:.2f} ({cpu:.2f}) s")
        met = met and wall <= CHANGE_SECONDS and not page.exception
    return met


def main() -> int:
    """Measure; 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path, help="exports to open in place of the stretched example")
    parser.add_argument("--steps", type=int, default=100_000, help="of the stretched example")
    chosen = parser.parse_args()
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["REWARD_CONSOLE_HOME"] = folder
        files = [one.resolve() for one in chosen.files] or [stretch(Path(folder) / "run.csv", chosen.steps)]
        os.environ["REWARD_CONSOLE_LOG_FOLDERS"] = os.pathsep.join(str(one.parent) for one in files)
        met = [measure(file) for file in files]
    told = "met" if all(met) else "MISSED"
    print(f"goals: charts {OPEN_SECONDS:g} s after reading, a change {CHANGE_SECONDS:g} s: {told}")
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
