"""What a rule may look at: one run under canonical names, its reward functions, its restarts, the range of its rewards.

Invariant: a line is the whole series as read; windows never reach over a restart.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

from rewards_lib.training_metrics.diagnostics.trends import Trend, trend, window_means
from rewards_lib.training_metrics.export import Run
from rewards_lib.training_metrics.names import canonical_names
from rewards_lib.training_metrics.series import Series

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rewards_lib.training_metrics.series import Floats

TRAIN, TEST = "train/reward/final_rewards", "test/reward/final_rewards"
LENGTH = "train/generation/response_length.mean"
_FUNCTION = re.compile(r"train/reward/functions/(?P<f>.+)/rewards\((?P<part>mean|bon|won)\)")
_SERVICE = re.compile(
    r"cost|latency|step_time|(?:^|/)timing_s/(?:reward|step)$|(?:^|/)time/step$|timeout"
    r"|(?:reward|judge|sandbox|verif|grader)[^/]*(?:seconds|time|_ms|_s)\b",
    re.IGNORECASE,
)
_NEITHER_END = re.compile(r"(?:\((?:max|min)\)|[/._@](?:max|min))$")


@dataclass(frozen=True, slots=True)
class Line:
    """A series, where the run began again in it, and its name."""

    name: str
    steps: Floats
    values: Floats
    starts: tuple[int, ...] = ()
    """Indices of the first points after a restart."""

    def __len__(self) -> int:
        return len(self.values)

    def windows(self, window: int) -> tuple[NDArray[np.int64], Floats]:
        """Index of the last point and mean of every window."""
        return window_means(self.values, window, self.starts)

    def first(self, window: int) -> float:
        """The mean of the first window, or of what is there where no part of the run has one."""
        begin = next((begin for begin, end in self._parts() if end - begin >= window), 0)
        return float(self.values[begin : begin + window].mean())

    def last(self, window: int) -> float:
        """The mean of the last window, or of what is there where no part of the run has one."""
        end = next((end for begin, end in reversed(self._parts()) if end - begin >= window), len(self))
        return float(self.values[max(0, end - window) : end].mean())

    def _parts(self) -> list[tuple[int, int]]:
        """Where the parts between restarts begin and end."""
        return list(pairwise((0, *self.starts, len(self))))

    def trend(self, begin: int = 0) -> Trend:
        """The trend from a point on."""
        return trend(self.steps[begin:], self.values[begin:])

    def span(self, begin: int = 0, end: int = -1) -> tuple[float, float]:
        """The steps of two points."""
        return float(self.steps[begin]), float(self.steps[end])


class MissingSeriesError(LookupError):
    """The run has no series of the canonical name that is the only argument."""


class Evidence:
    """One run, ready to be asked."""

    def __init__(self, run: Run, weights: Mapping[str, float] | None = None) -> None:
        self.run = run
        self.weights = weights or {}
        self._speaking = canonical_names(run.names)
        self._lines: dict[str, Line | None] = {}

    def name_of(self, canonical: str) -> str | None:
        """The own name of the series that speaks for a canonical name, whether or not it has a finite value.

        An own rule may call a series by its own name, which is all that a custom metric has.
        """
        return self._speaking.get(canonical) or (canonical if canonical in self.run.names else None)

    def wholly_lost(self, canonical: str) -> tuple[str, Floats] | None:
        """The name and the steps of what was NaN from beginning to end and is therefore no series."""
        lost = [name for name in self.run.nan_steps if name not in self.run.names]
        name = canonical_names(lost).get(canonical)
        return (name, self.run.nan_steps[name]) if name else None

    def find(self, canonical: str) -> Line | None:
        """The series of a canonical name; None when the run has none with a finite value."""
        name = self.name_of(canonical)
        return None if name is None else self.line(name)

    def line(self, name: str) -> Line | None:
        """A series by its own name."""
        if name not in self._lines:
            self._lines[name] = self._read(self.run.series(name), name)
        return self._lines[name]

    def _read(self, series: Series, name: str) -> Line | None:
        if not len(series):
            return None
        places = [int(series.steps.searchsorted(restart.step)) for restart in self.run.restarts]
        starts = sorted({place for place in places if 0 < place < len(series)})
        return Line(name, series.steps, series.values, tuple(starts))

    def peaks(self, line: Line) -> Floats:
        """The largest values behind a line where the export kept them (a W&B panel averages), else its values."""
        import numpy as np

        high = self.run.highs(line.name)
        return high.values if np.array_equal(high.steps, line.steps) else line.values

    def need(self, canonical: str) -> Line:
        """A series that a condition looks at. Raises MissingSeriesError where an own rule did not make sure of it."""
        line = self.find(canonical)
        if line is None:
            raise MissingSeriesError(canonical)
        return line

    @cached_property
    def functions(self) -> dict[str, dict[str, Line]]:
        """Reward functions: name to ``mean``, ``bon`` and ``won`` as far as they are there."""
        found: dict[str, dict[str, Line]] = {}
        for canonical in self._speaking:
            if (match := _FUNCTION.fullmatch(canonical)) and (line := self.find(canonical)):
                found.setdefault(match["f"], {})[match["part"]] = line
        return {name: parts for name, parts in found.items() if "mean" in parts}

    def functions_with(self, *parts: str) -> dict[str, dict[str, Line]]:
        """Those functions that have all of these parts, at the same steps."""
        import numpy as np

        return {
            name: lines
            for name, lines in self.functions.items()
            if all(part in lines and np.array_equal(lines[part].steps, lines["mean"].steps) for part in parts)
        }

    @cached_property
    def service_lines(self) -> list[Line]:
        """Times and costs of what computes the rewards; of a custom metric's three the mean."""
        names = [name for name in self.run.names if _SERVICE.search(name) and not _NEITHER_END.search(name)]
        return [line for name in names if (line := self.line(name))]

    def has(self, need: str) -> bool:
        """Whether a need of a rule is met; ``a | b`` by either."""
        return any(self._has(one.strip()) for one in need.split("|"))

    def _has(self, need: str) -> bool:
        if need.startswith("functions("):
            return any(need[10:-1] in lines for lines in self.functions.values())
        if need == "service times":
            return bool(self.service_lines)
        return self.find(need) is not None

    def points(self, needs: Sequence[str]) -> int:
        """How many points the shortest of the train series has that are needed; of the run where none is.

        Of ``a | b`` the longer counts: either will do.
        """
        either = [[one.strip() for one in need.split("|")] for need in needs]
        found = [[line for one in names if one.startswith("train/") and (line := self.find(one))] for names in either]
        counts = [max(map(len, lines)) for lines in found if lines]
        if counts:
            return min(counts)
        if any(need.startswith("functions(") for need in needs):
            return min((len(lines["mean"]) for lines in self.functions.values()), default=0)
        return self.steps

    @cached_property
    def steps(self) -> int:
        """How many points the longest train series has, or the longest of all."""
        lines = [self.line(name) for name in self._speaking.values()] or [self.line(name) for name in self.run.names]
        return max((len(line) for line in lines if line), default=0)

    def range_of(self, name: str) -> float:
        """From the lowest to the highest value a function is known to give: its worst and best of n included."""
        lines = self.functions[name].values()
        return float(max(line.values.max() for line in lines) - min(line.values.min() for line in lines))

    def ceiling_of(self, name: str) -> float | None:
        """The most a function can give: what its best of n reaches again and again. None when it reaches nothing."""
        best = self.functions[name].get("bon") or self.functions[name]["mean"]
        top = float(best.values.max())
        return top if int((best.values >= top - 1e-9).sum()) >= 5 else None

    def final_range(self) -> float:
        """The range of the final reward: of its functions times their weights where known, else as observed."""
        if self.weights and set(self.weights) <= set(self.functions):
            return sum(abs(weight) * self.range_of(name) for name, weight in self.weights.items())
        lines = [line for line in (self.find(TRAIN), self.find(TEST)) if line]
        return float(max(line.values.max() for line in lines) - min(line.values.min() for line in lines))
