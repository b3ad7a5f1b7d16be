"""Which column counts the steps, which columns are clocks rather than metrics, and where a run began again.

Invariant: rows are ordered by step as numbers; going back is a restart only where a step was logged twice.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rewards_lib.contract import Sentence, sentence
from rewards_lib.errors import InputError
from rewards_lib.training_metrics.cells import Numbers
from rewards_lib.training_metrics.csv_header import name_list
from rewards_lib.training_metrics.names import canonical_name

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rewards_lib.training_metrics.series import Floats

STEP_NAMES = (
    "train/global_step",
    "global_step",
    "training/global_step",
    "step",
    "Step",
    "_step",
    "total timesteps",
    "epoch",
    "步数",
)
"""Names of step columns, the likelier first (W&B, verl, TensorBoard, Stable-Baselines3, Ark in Chinese)."""
ROW_NUMBER = "row number"
"""As a choice of x: the rows themselves are counted, from 1."""
RELATIVE_TIME = "relative time"
"""As a choice of x: seconds since the first row, by the file's clock."""

_STEP_WORD = re.compile(
    r"(?:.*[/.])?(?:_?step|(?:num_|n_|current_)?steps?|global[_ ]?steps?(?:/max_steps)?|(?:num_)?epochs?"
    r"|iter|iterations?|evaluations|total[_ ](?:timesteps|frames|steps|env_steps)|num_env_steps|步数|轮次)"
    r"(?: \(\d+\))?",
    re.IGNORECASE,
)
_CLOCK_WORD = re.compile(
    r"(?:.*[/.])?(?:_?timestamp|_?runtime|wall[_ ]?time|relative time(?: \(.*\))?|time|datetime|date|total_time"
    r"|time_elapsed|created_?at|时间)",
    re.IGNORECASE,
)
_COUNTED = re.compile(r"\D*(\d+)(?:\s*/\s*\d+)?(?:[^\dkM]\D*)?|(\d+(?:\.\d+)?)(k|M)", re.ASCII)
"""A step as some loggers write it: ``step 12``, ``12/500``, ``1.5k``."""
_MANY = {"k": 1e3, "M": 1e6}
_DURATIONS = re.compile(r"(?:timing|time|perf|timing_s)/", re.IGNORECASE)
_COUNTED_IN_TIME = ("total_timesteps", "time_elapsed", "iterations")
"""What Stable-Baselines3 counts under ``time/``."""
_STEP_SHARE = 0.9
_OF_SPLIT = re.compile(r"^(?:train|test|eval|val|validation|rollout)[/._]")
_RUN_WORD = re.compile(r"(?:.*[/._])?(?:run|seed|trial|experiment)(?:_?(?:id|name|uuid|number|index))?", re.IGNORECASE)
MOST_RESTARTS = 20


class StepColumnError(InputError):
    """No column counts the steps; carries the numeric columns a person may choose from."""

    code = "step_column"

    def __init__(self, columns: Sequence[str], choices: Sequence[str], where: str) -> None:
        self.choices = tuple(choices)
        super().__init__(
            "No column counts the steps; the columns are {columns}.",
            columns=name_list(columns),
            where=where,
            remedy="Name a column that rises with training (step, global_step, epoch).",
        )


@dataclass(frozen=True, slots=True)
class Restart:
    """A place where the run went back and logged steps again."""

    step: float
    """The first step that came again."""
    repeated: int
    """How many steps came again."""

    def note(self) -> Sentence:
        """What happened and what is shown."""
        step = int(self.step) if self.step % 1 == 0 else self.step
        if self.repeated == 1:
            return sentence("restart at step {step} (1 step repeated): the later values are shown.", step=step)
        return sentence(
            "restart at step {step} ({repeated} steps repeated): the later values are shown.",
            step=step,
            repeated=self.repeated,
        )


def with_texts_read(numbers: Numbers) -> Numbers:
    """The numbers with columns of text that count steps (``12/500``) or tell the time read as numbers.

    A time is told in seconds since 1970. Only columns whose names speak of steps or time are looked at.
    """
    import numpy as np

    read = {}
    for name, cells in numbers.texts.items():
        if _CLOCK_WORD.fullmatch(name):
            read[name] = _times(cells)
        elif name in STEP_NAMES or _STEP_WORD.fullmatch(name):
            found = [_COUNTED.fullmatch(cell) for cell in cells]
            read[name] = np.array([_count_of(one) if one else np.nan for one in found])
    read = {name: values for name, values in read.items() if 2 * np.isfinite(values).sum() > len(values)}
    if not read:
        return numbers
    added = np.array(list(read.values()))
    return replace(
        numbers,
        names=(*numbers.names, *read),
        values=np.concatenate([numbers.values.reshape(len(numbers.names), added.shape[1]), added]),
        texts={name: cells for name, cells in numbers.texts.items() if name not in read},
    )


def _count_of(found: re.Match[str]) -> float:
    return float(found[1]) if found[1] else float(found[2]) * _MANY[found[3]]


def _times(cells: Sequence[str]) -> Floats:
    """Dates with times as seconds since 1970, in UTC where they name no zone; NaN for what is none."""
    import numpy as np
    import pandas as pd

    told = pd.to_datetime(pd.Series(cells), errors="coerce", utc=True, format="mixed")
    seconds = told.astype("int64").to_numpy() / {"s": 1, "ms": 1e3, "us": 1e6, "ns": 1e9}[told.dt.unit]
    return np.where(told.isna().to_numpy(), np.nan, seconds)


def choose_x(numbers: Numbers, columns: Sequence[str], where: str) -> str:
    """The column that counts the steps: a known name first, else a column of whole numbers that mostly rises.

    Among unknown names one that speaks of steps comes first; without any, a clock that rises. A column whose name is
    that of a metric is never taken, however it rises. Where epochs alone are counted and each has several rows (TRL
    prints rounded ones), the rows are. Raises StepColumnError when there is none.
    """
    known = _known_counter(numbers)
    if known not in (None, "epoch"):
        return known
    rising = [name for name, values in zip(numbers.names, numbers.values, strict=True) if _counts_up(values)]
    named = next((name for name in rising if _STEP_WORD.fullmatch(name)), None)
    if known is not None:  # an epoch has many rows where batches are logged too
        return named or (ROW_NUMBER if _has_many_rows(known, numbers) else known)
    plain = next((n for n in rising if not _CLOCK_WORD.fullmatch(n) and canonical_name(n) is None), None)
    found = named or plain or clock_of(numbers)
    if found is None:
        raise StepColumnError(columns, numbers.names, where)
    return found


def _known_counter(numbers: Numbers) -> str | None:
    """The likeliest known name, but for one that has less than half of the steps that another has.

    W&B's ``_step`` counts whatever was logged and is no measure for the others.
    """
    import numpy as np

    filled = {name: int(np.isfinite(numbers.column(name)).sum()) for name in STEP_NAMES if name in numbers.names}
    most = max((count for name, count in filled.items() if name != "_step"), default=0)
    return next((name for name, count in filled.items() if 2 * count >= most), None)


def _has_many_rows(epoch: str, numbers: Numbers) -> bool:
    """Whether most epochs of a file in order have several values of some metric, of which one alone would be shown."""
    import numpy as np

    values = numbers.column(epoch)
    rows = np.flatnonzero(np.isfinite(values))
    epochs = values[rows]
    if len(rows) < 2 or (epochs[1:] < epochs[:-1]).any():
        return False
    metrics = [place for place, name in enumerate(numbers.names) if not speaks_of_steps(name)]
    return 2 * len(conflicts(epochs, numbers.values[metrics][:, rows])) >= len(np.unique(epochs))


def clock_of(numbers: Numbers) -> str | None:
    """The column that tells the time of every row, for files whose rows have one; it rises, or nearly always."""
    for name, values in zip(numbers.names, numbers.values, strict=True):
        filled = _without_gaps(values) if _CLOCK_WORD.fullmatch(name) else values[:0]
        if len(filled) > 1 and filled[0] != filled[-1] and (filled[1:] >= filled[:-1]).mean() >= _STEP_SHARE:
            return name
    return None


def _counts_up(column: Floats) -> bool:
    """Whole numbers, two different ones at least, that nearly always rise from row to row."""
    import numpy as np

    filled = _without_gaps(column)
    if len(filled) < 2 or filled[0] == filled[-1] or not (np.floor(filled) == filled).all():
        return False
    return bool((filled[1:] > filled[:-1]).mean() >= _STEP_SHARE)


def speaks_of_steps(name: str) -> bool:
    """Whether a column's name alone says that it counts steps or time."""
    return name in STEP_NAMES or bool(_STEP_WORD.fullmatch(name) or _CLOCK_WORD.fullmatch(name))


def is_clock(name: str, values: Floats, order: NDArray[np.int64]) -> bool:
    """Whether a column counts steps or time rather than measuring something, judged by name and by its rise with x.

    ``order`` lists the rows in the order of x. ``time/step`` lasts some seconds a step and goes up and down: a metric,
    not a clock.
    """
    if name in ("_step", "_runtime", "_timestamp"):
        return True
    speaks = speaks_of_steps(name) or name.startswith(("counters/", "column "))
    if not speaks or (_DURATIONS.match(name) and not name.endswith(_COUNTED_IN_TIME)):
        return False
    filled = _without_gaps(values[order])
    return len(filled) < 2 or bool((filled[1:] >= filled[:-1]).mean() >= _STEP_SHARE)


def _without_gaps(column: Floats) -> Floats:
    import numpy as np

    return column[~np.isnan(column)]


def steps_of(numbers: Numbers, x: str) -> tuple[Floats, int]:
    """The step of every row, NaN where there is none, and how many rows stand at the step before them.

    A row may have a counter of its own in place of x: that of another split (``eval/global_step``), or one that agrees
    with x wherever both are (verl's first test has a ``_step`` alone). In a history of W&B, which counts every row, one
    with neither was logged during the step before it.
    """
    import numpy as np

    if x == ROW_NUMBER:
        return np.arange(1.0, numbers.values.shape[1] + 1), 0
    if x == RELATIVE_TIME:
        times = numbers.column(clock_of(numbers) or "")
        return times - np.nanmin(times), 0
    steps = numbers.column(x)
    for name in _counters_beside(numbers, x) if np.isnan(steps).any() else ():
        steps = np.where(np.isnan(steps), numbers.column(name), steps)
    if "_step" not in numbers.names or not speaks_of_steps(x) or not np.isnan(steps).any():
        return steps, 0
    return _carried(steps, numbers.column("_step"))


def _counters_beside(numbers: Numbers, x: str) -> list[str]:
    """The columns that may stand in for x where it is blank."""
    import numpy as np

    if not speaks_of_steps(x):
        return []
    steps, counted = numbers.column(x), _OF_SPLIT.sub("", x)
    found = [name for name in numbers.names if name != x and _OF_SPLIT.sub("", name) == counted]
    for name in numbers.names:
        if name not in found and name != x and (name in STEP_NAMES or _STEP_WORD.fullmatch(name)):
            both = np.isfinite(steps) & np.isfinite(numbers.column(name))
            if both.sum() > 1 and (steps[both] == numbers.column(name)[both]).all():
                found.append(name)
    return found


def _carried(steps: Floats, order: Floats) -> tuple[Floats, int]:
    """Steps where rows that have none, but a place in the order of rows, get that of the row before them."""
    import numpy as np

    rows = np.flatnonzero(np.isfinite(order))
    if (order[rows][1:] < order[rows][:-1]).any():
        return steps, 0
    known = np.maximum.accumulate(np.where(np.isnan(steps[rows]), -1, np.arange(len(rows))))
    without = np.isnan(steps[rows]) & (known >= 0)
    filled = steps.copy()
    filled[rows[without]] = steps[rows[known[without]]]
    return filled, int(without.sum())


def runs_by_number(numbers: Numbers) -> dict[str, list[str]]:
    """Columns of whole numbers whose names say that they tell runs apart (``seed``), as text; they may or may not."""
    import numpy as np

    found = {}
    for name in filter(names_runs, numbers.names):
        values = numbers.column(name)
        if np.isfinite(values).all() and (values % 1 == 0).all():
            found[name] = [f"{name} {value:.0f}" for value in values.tolist()]
    return found


def names_runs(name: str) -> bool:
    """Whether a column's name says that it tells runs apart."""
    return bool(_RUN_WORD.fullmatch(name))


def conflicts(x: Floats, metrics: Floats) -> Floats:
    """The steps at which one metric was logged more than once; a train row beside a test row is none.

    ``x`` rises; ``metrics`` has one row a metric and one column for each entry of ``x``.
    """
    import numpy as np

    same = x[1:] == x[:-1]
    if not same.any() or not len(metrics):
        return x[:0]
    rows = np.flatnonzero(np.append(same, False) | np.append(False, same))
    begins = np.flatnonzero(np.append(True, x[rows][1:] != x[rows][:-1]))
    logged = np.add.reduceat((~np.isnan(metrics[:, rows])).astype("int64"), begins, axis=1)
    twice: Floats = x[rows][begins][(logged > 1).any(axis=0)]
    return twice


def find_restarts(file_order: Floats, twice: Floats) -> tuple[Restart, ...]:
    """The restarts of a run, from its steps in file order and the steps logged more than once.

    A file whose steps go back more often than a run restarts is a shuffled one and has none.
    """
    import numpy as np

    back = np.flatnonzero(file_order[1:] < file_order[:-1]) + 1
    if not len(twice) or not 0 < len(back) <= MOST_RESTARTS:
        return ()
    found = []
    for begin, end in zip(back, [*back[1:], len(file_order)], strict=True):
        again = np.intersect1d(np.intersect1d(file_order[begin:end], twice), file_order[:begin])
        if len(again):
            found.append(Restart(float(again[0]), len(again)))
    return tuple(found)
