"""Whether the final reward is the weighted sum of the functions' means; without weights, which weights it would take.

Invariant: a sum is checked only at steps where the final reward and every weighted function have a value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rewards_lib.contract import JsonObject
from rewards_lib.training_metrics.diagnostics.evidence import TRAIN, Evidence, Line
from rewards_lib.training_metrics.diagnostics.findings import MetricFinding
from rewards_lib.training_metrics.diagnostics.outcomes import number_text, step_text
from rewards_lib.training_metrics.export import Run

if TYPE_CHECKING:
    from rewards_lib.training_metrics.series import Floats

TOLERANCE = 2e-3
"""Of the reward's size: exports round to a few digits."""
_TITLE = {"en": "weighted sum", "zh": "加权和"}
_TEXTS = {
    "en": "The final reward is not the weighted sum of the mix: off by {value} at step {begin}, by {mean} on average "
    "over {n} steps.",
    "zh": "最终奖励不等于该混合的加权和：第 {begin} 步相差 {value}，{n} 步平均相差 {mean}。",
}
_MEANING = {
    "en": "Another mix or other weights were trained, or rewards are changed after they are summed.",
    "zh": "训练时使用了别的混合或权重，或求和之后奖励又被修改。",
}
_ADVICE = {
    "en": "Compare the weights below; look for a KL or length term that is taken off.",
    "zh": "比较下方的权重；检查是否扣除了 KL 或长度项。",
}


@dataclass(frozen=True, slots=True)
class WeightCheck:
    """The final reward against the weighted sum."""

    weights: Mapping[str, float]
    missing: tuple[str, ...]
    """Functions of the mix that the run does not report; with one missing nothing was checked."""
    n: int = 0
    """Steps compared."""
    largest: float = 0.0
    """The largest absolute difference."""
    mean: float = 0.0
    """The mean difference, final less sum."""
    step: float = 0.0
    """Where the largest difference is."""
    holds: bool | None = None
    """None when nothing could be compared."""
    solved: Mapping[str, float] | None = None
    """The weights that fit best, where they can be told."""
    series: str = ""
    """The final reward, under its own name."""

    def to_json(self) -> JsonObject:
        """The check as the command line prints it."""
        return {
            "given": dict(self.weights),
            "missing": list(self.missing),
            "steps": self.n,
            "largest_difference": self.largest,
            "mean_difference": self.mean,
            "at_step": self.step,
            "holds": self.holds,
            "solved": dict(self.solved) if self.solved else None,
        }

    def finding(self) -> MetricFinding | None:
        """The sentence for a sum that does not hold; None when it does or was not compared."""
        if self.holds is not False:
            return None
        told = {
            "value": number_text(self.largest),
            "begin": step_text(self.step),
            "mean": number_text(self.mean),
            "n": str(self.n),
        }
        return MetricFinding(
            "weighted_sum", _TITLE, "warning", _TEXTS, told, (self.series,), (self.step, self.step), self.largest,
            TOLERANCE, self.n, _MEANING, _ADVICE,
        )  # fmt: skip


def check_weights(run: Run, weights: Mapping[str, float]) -> WeightCheck:
    """Compare the final reward with ``sum(weight * mean of the function)`` at every step that has all of them."""
    evidence = Evidence(run)
    missing = tuple(name for name in weights if name not in evidence.functions)
    final = evidence.find(TRAIN)
    if missing or final is None:
        return WeightCheck(weights, missing)
    steps, columns = _aligned(final, [evidence.functions[name]["mean"] for name in weights])
    if not len(steps):
        return WeightCheck(weights, missing)
    total = sum(weight * column for weight, column in zip(weights.values(), columns[1:], strict=True))
    off: Floats = columns[0] - total
    place = int(abs(off).argmax())
    largest = float(abs(off[place]))
    size = max(1.0, float(abs(columns[0]).max()))
    return WeightCheck(
        weights, missing, len(steps), largest, float(off.mean()), float(steps[place]),
        largest <= TOLERANCE * size, solved_weights(evidence), final.name,
    )  # fmt: skip


def solve_weights(run: Run) -> Mapping[str, float] | None:
    """The weights of the functions by least squares; None when steps are too few or functions move together."""
    return solved_weights(Evidence(run))


def solved_weights(evidence: Evidence) -> Mapping[str, float] | None:
    """The same for a run whose series have been read."""
    import numpy as np

    final = evidence.find(TRAIN)
    names = list(evidence.functions)
    if final is None or not names:
        return None
    steps, columns = _aligned(final, [evidence.functions[name]["mean"] for name in names])
    if len(steps) <= len(names):
        return None
    solved, _, rank, _ = np.linalg.lstsq(np.array(columns[1:]).T, columns[0], rcond=None)
    if rank < len(names):
        return None
    return {name: float(weight) for name, weight in zip(names, solved, strict=True)}


def _aligned(first: Line, others: list[Line]) -> tuple[Floats, list[Floats]]:
    """The steps that all lines have, and each line's values there."""
    import numpy as np

    steps = first.steps
    for other in others:
        # nearly always the same steps
        if not np.array_equal(steps, other.steps):
            steps = np.intersect1d(steps, other.steps, assume_unique=True)
    return steps, [
        line.values if len(line) == len(steps) else line.values[line.steps.searchsorted(steps)]
        for line in (first, *others)
    ]
