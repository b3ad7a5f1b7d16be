"""The rewards of a file as columns, with the group of each rollout: what statistics are made of.

Invariant: every column has one entry a rollout, in the order of the file; NaN means that there is no number.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from rewards_lib.contract import Completion
from rewards_lib.errors import InputError
from rewards_lib.mix import weighted_sum
from rewards_lib.rollouts.reading import RolloutFile
from rewards_lib.rollouts.rollout import BadRow, Rollout

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Numbers = npt.NDArray[np.float64]
    Places = npt.NDArray[np.int64]
    Flags = npt.NDArray[np.bool_]

_NOTHING = float("nan")


@dataclass(frozen=True, slots=True)
class RewardTable:
    """Rewards by rollout."""

    rewards: Numbers
    group_of: Places
    """The number of each rollout's group, counted in the order in which the groups begin."""
    groups: tuple[str, ...]
    rules: Mapping[str, Numbers]
    metrics: Mapping[str, Numbers]
    """The values that there are, in order: metrics need not exist for every rollout."""
    lengths: Numbers
    """Code points of each completion; NaN where the file holds none."""
    lines: Places
    field: tuple[str, ...] = ()
    """The value of the field that slices are made by, as text; empty when none was asked for."""
    bad_rows: int = 0


def read_table(file: RolloutFile, *, by: str | None = None) -> RewardTable:
    """Read the rewards that a file holds: our own of ``score``, or a neighbour's.

    ``by`` names a field of ``sample.extra`` (or of the line) for slices. Raises InputError when the file holds no
    rollouts.
    """
    return build_table(file, by=by)


def build_table(rollouts: Iterable[Rollout | BadRow], *, by: str | None = None) -> RewardTable:
    """Put rollouts into columns. Raises InputError when there are none."""
    import numpy as np

    rewards, lengths, lines, group_of = array("d"), array("d"), array("q"), array("q")
    groups: dict[str, int] = {}
    rules: dict[str, array[float]] = {}
    metrics: dict[str, array[float]] = {}
    values: list[str] = []
    bad_rows = 0
    for entry in rollouts:
        if isinstance(entry, BadRow):
            bad_rows += 1
            continue
        recorded = entry.recorded
        for name, value in (recorded.rules if recorded else {}).items():
            _column(rules, name, len(rewards)).append(_NOTHING if value is None else value)
        for name, number in (recorded.metrics if recorded else {}).items():
            metrics.setdefault(name, array("d")).append(number)
        rewards.append(_NOTHING if recorded is None or recorded.reward is None else recorded.reward)
        lengths.append(_NOTHING if entry.completion is None else len(Completion(entry.completion).text))
        lines.append(entry.line)
        group_of.append(groups.setdefault(entry.group, len(groups)))
        if by is not None:
            values.append(_field(entry, by))
    if not rewards:
        raise InputError("There are no rollouts to look at; {count} rows could not be read.", count=bad_rows)
    return RewardTable(
        np.array(rewards), np.array(group_of), tuple(groups),
        {name: np.array(_padded(column, len(rewards))) for name, column in rules.items()},
        {name: np.array(column) for name, column in _short_names(metrics, rules).items()},
        np.array(lengths), np.array(lines), tuple(values), bad_rows,
    )  # fmt: skip


def _column(columns: dict[str, array[float]], name: str, size: int) -> array[float]:
    return _padded(columns.setdefault(name, array("d")), size)


def _padded(column: array[float], size: int) -> array[float]:
    column.extend([_NOTHING] * (size - len(column)))
    return column


def _field(rollout: Rollout, name: str) -> str:
    extra = rollout.sample.get("extra") or {}
    value: Any = extra.get(name, rollout.meta.get(name))
    return "(none)" if value is None else str(value)


def _short_names(metrics: Mapping[str, array[float]], rules: Collection[str]) -> dict[str, array[float]]:
    """``rule/metric`` becomes ``metric`` where one rule alone has it, as in the result of a single payload."""
    shorts = {name: name.partition("/")[2] if name.partition("/")[0] in rules else name for name in metrics}
    owners = Counter(shorts.values())
    return {shorts[name] if owners[shorts[name]] == 1 else name: column for name, column in metrics.items()}


def reweigh(table: RewardTable, weights: Mapping[str, Decimal]) -> RewardTable:
    """What the rewards would be under other weights, without scoring again.

    A rollout for which a rule failed stays unscored; one that was scored adds up the rules that gave it something.
    Raises InputError when the weights do not name exactly the rules of the table.
    """
    import numpy as np

    if set(weights) != set(table.rules):
        raise InputError(
            "The weights must name the rules of the file: {rules}.", rules=", ".join(table.rules) or "it has none"
        )
    columns = np.stack([table.rules[name] for name in weights], axis=1)
    combinations, which = np.unique(columns, axis=0, return_inverse=True)
    sums = np.array([_weighed(list(weights.values()), row.tolist()) for row in combinations])
    totals = np.where(np.isnan(table.rewards), np.nan, sums[which.reshape(-1)])
    return replace(table, rewards=totals)


def _weighed(weights: Sequence[Decimal], row: Sequence[float]) -> float:
    counted = [(weight, value) for weight, value in zip(weights, row, strict=True) if not math.isnan(value)]
    return weighted_sum([weight for weight, _ in counted], [value for _, value in counted]) if counted else _NOTHING
