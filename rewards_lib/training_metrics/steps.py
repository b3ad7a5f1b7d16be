"""Which column counts the steps, which columns are clocks rather than metrics, and where a run began again.

Invariant: rows are ordered by step as numbers; going back is a restart only where a step was logged twice.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rewards_lib.contract import Sentence, sentence
from rewards_lib.errors import InputError
from rewards_lib.training_metrics.cells import Numbers
from rewards_lib.training_metrics.csv_table import name_list

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

_STEP_WORD = re.compile(
    r"(?:.*[/.])?(?:_?step|(?:num_|n_)?steps?|global[_ ]?steps?|(?:num_)?epochs?|iter|iterations?|evaluations"
    r"|total[_ ](?:timesteps|frames|steps|env_steps)|num_env_steps|步数|轮次)(?: \(\d+\))?",
    re.IGNORECASE,
)
_CLOCK_WORD = re.compile(
    r"(?:.*[/.])?(?:_?timestamp|_?runtime|wall[_ ]?time|relative time(?: \(.*\))?|time|datetime|date|total_time"
    r"|time_elapsed|时间)",
    re.IGNORECASE,
)
_DURATIONS = re.compile(r"(?:timing|time|perf|timing_s)/", re.IGNORECASE)
_STEP_SHARE = 0.9
_MOST_RESTARTS = 20


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


def choose_x(numbers: Numbers, columns: Sequence[str], where: str) -> str:
    """The column that counts the steps: a known name first, else a column of whole numbers that mostly rises.

    Among unknown names one that speaks of steps comes first. Raises StepColumnError when there is none.
    """
    known = next((name for name in STEP_NAMES if name in numbers.names), None)
    if known is not None:
        return known
    rising = [name for name, values in zip(numbers.names, numbers.values, strict=True) if _counts_up(values)]
    named = next((name for name in rising if _STEP_WORD.fullmatch(name)), None)
    if named is None and not rising:
        raise StepColumnError(columns, numbers.names, where)
    return named or rising[0]


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
    if not speaks or (_DURATIONS.match(name) and not name.endswith("total_timesteps")):
        return False
    filled = _without_gaps(values[order])
    return len(filled) < 2 or bool((filled[1:] >= filled[:-1]).mean() >= _STEP_SHARE)


def _without_gaps(column: Floats) -> Floats:
    import numpy as np

    return column[~np.isnan(column)]


def steps_of(numbers: Numbers, x: str) -> Floats:
    """The step of every row; NaN where there is none.

    A row may have only the counter of its own split: blanks of ``train/...`` are filled from ``test/...``.
    """
    import numpy as np

    if x == ROW_NUMBER:
        return np.arange(1.0, numbers.values.shape[1] + 1)
    steps = numbers.column(x)
    prefix, slash, rest = x.partition("/")
    twin = {"train": "test", "test": "train"}.get(prefix, "") + slash + rest
    return np.where(np.isnan(steps), numbers.column(twin), steps) if slash and twin in numbers.names else steps


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
    if not len(twice) or not 0 < len(back) <= _MOST_RESTARTS:
        return ()
    found = []
    for begin, end in zip(back, [*back[1:], len(file_order)], strict=True):
        again = np.intersect1d(np.intersect1d(file_order[begin:end], twice), file_order[:begin])
        if len(again):
            found.append(Restart(float(again[0]), len(again)))
    return tuple(found)
