"""Series as one wide CSV: a row for each step, a column for each series, as it was read.

Invariant: values leave as they came; a step without a value is an empty cell.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from rewards_lib.training_metrics.export import Run
from rewards_lib.training_metrics.series import StepRange


def wide_csv(
    runs: Mapping[str, Run], names: Collection[str], *, step_range: StepRange | None = None, x: str = "step"
) -> bytes:
    """The named series of all runs within the range, as UTF-8; with several runs ``RUN - NAME`` heads a column."""
    import pandas as pd

    alone = list(runs) == [""]
    columns = {}
    for label, run in runs.items():
        for name in [name for name in run.names if name in names]:
            line = run.series(name).within(step_range)
            columns[name if alone else f"{label} - {name}"] = pd.Series(line.values, index=line.steps)
    frame = pd.DataFrame(columns)
    steps = frame.index.to_numpy(dtype="float64")
    if len(steps) and (steps % 1 == 0).all() and (abs(steps) < 2**53).all():
        frame.index = pd.Index(steps.astype("int64"))
    frame.index.name = x
    text: str = frame.to_csv()
    return text.encode("utf-8")
