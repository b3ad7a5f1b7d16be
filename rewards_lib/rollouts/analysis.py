"""A scored file in figures: groups, rules, metrics, correlations, advantages and the verdict on readiness.

Invariant: what is printed holds for scored rollouts; how many are unscored stands beside it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rewards_lib.contract import JsonObject, Sentence, sentence
from rewards_lib.rollouts.advantages import advantages, gdpo
from rewards_lib.rollouts.group_statistics import (
    BEST_OF_N,
    GroupTable,
    group_table,
    interval,
    mean_of,
    passes,
    pearson,
    right_from,
)
from rewards_lib.rollouts.readiness import judge_readiness
from rewards_lib.rollouts.reward_table import RewardTable

if TYPE_CHECKING:
    from rewards_lib.rollouts.reward_table import Numbers

_FEW_ROWS = 10


def analyze(
    table: RewardTable, *, right: float | None = None, weights: Mapping[str, float] | None = None
) -> JsonObject:
    """Analyse the rewards of a file; the result is what ``analyze`` prints: the summary and every advantage.

    Takes what ``summarize`` takes.
    """
    found = summarize(table, right=right, weights=weights)
    return found | {"advantages": advantages_of(table, found["weights"])}


def summarize(
    table: RewardTable, *, right: float | None = None, weights: Mapping[str, float] | None = None
) -> JsonObject:
    """Sum up the rewards of a file, without anything that has an entry for each rollout.

    ``right`` is the reward from which a rollout counts as right, else half of the largest observed. ``weights``
    are the rules'; without them they are found from the rewards where that is certain.
    """
    import numpy as np

    threshold = right_from(table) if right is None else right
    groups = group_table(table, right=threshold)
    is_unscored = np.isnan(table.rewards)
    weights = find_weights(table) if weights is None else dict(weights)
    values = {name: of(groups) for name, of in BEST_OF_N.items()}
    return {
        "status": "success",
        "rollouts": len(table.rewards), "groups": len(table.groups),
        "scored": int((~is_unscored).sum()), "unscored": int(is_unscored.sum()), "bad_rows": table.bad_rows,
        **{name: mean_of(found) for name, found in values.items()},
        "pass_at": {str(k): mean_of(found) for k, found in passes(groups).items()},
        **_variance(groups),
        "right_from": threshold if math.isfinite(threshold) else None,
        "intervals": {name: _pair(interval(found)) for name, found in values.items()}
        | {f"pass_at_{k}": _pair(interval(found)) for k, found in passes(groups).items()},
        "reward": describe(table.rewards),
        "rules": {name: describe(column) for name, column in table.rules.items()},
        "metrics": {name: _metric(column) for name, column in table.metrics.items()},
        "correlations": correlations(table),
        "weights": weights,
        "slices": slices(table, threshold),
        "readiness": judge_readiness(groups, unscored_share=float(is_unscored.mean())).to_json(),
        "notes": [str(note) for note in _notes(table, groups, weights)],
    }  # fmt: skip


def describe(column: Numbers) -> JsonObject:
    """Mean, unbiased standard deviation, extremes and count of the numbers that there are; None where none are."""
    import numpy as np

    found = column[~np.isnan(column)]
    if not found.size:
        return {"mean": None, "std": None, "min": None, "max": None, "n": 0}
    std = float(found.std(ddof=1)) if found.size > 1 else None
    return {
        "mean": float(found.mean()), "std": std, "min": float(found.min()), "max": float(found.max()),
        "n": int(found.size),
    }  # fmt: skip


def correlations(table: RewardTable) -> JsonObject:
    """Pearson correlation of each pair of rules, and of reward and rules with the completions' length."""
    columns = {"reward": table.rewards, **table.rules}
    names = list(table.rules)
    pairs = {
        f"{one} | {other}": pearson(table.rules[one], table.rules[other])
        for place, one in enumerate(names) for other in names[place + 1 :]
    }  # fmt: skip
    return {"rules": pairs, "length": {name: pearson(column, table.lengths) for name, column in columns.items()}}


def find_weights(table: RewardTable) -> dict[str, float] | None:
    """Find the weights of the mix from rewards and rules; None when the rewards do not settle them.

    Weights go in steps of 0.01, so a rounded solution that explains every reward is the mix's own.
    """
    import numpy as np

    if not table.rules:
        return None
    columns = np.stack([np.nan_to_num(column) for column in table.rules.values()], axis=1)
    is_scored = ~np.isnan(table.rewards)
    columns, rewards = columns[is_scored], table.rewards[is_scored]
    if np.linalg.matrix_rank(columns) < columns.shape[1]:
        return None
    found, *_ = np.linalg.lstsq(columns, rewards, rcond=None)
    weights = np.round(found, 2)
    if not np.allclose(columns @ weights, rewards, rtol=0, atol=1e-9):
        return None
    return dict(zip(table.rules, map(float, weights), strict=True))


def slices(table: RewardTable, right: float) -> JsonObject:
    """The same figures for each value of the field that the table was read by; few rows are marked as such."""
    import numpy as np

    found: JsonObject = {}
    values = np.array(table.field)
    for value in dict.fromkeys(table.field):
        chosen = values == value
        part = RewardTable(
            table.rewards[chosen], table.group_of[chosen], table.groups, {}, {}, table.lengths[chosen],
            table.lines[chosen],
        )  # fmt: skip
        groups = group_table(part, right=right)
        unscored = int(np.isnan(part.rewards).sum())
        found[value] = {
            "rollouts": len(part.rewards), "unscored": unscored, "is_few": len(part.rewards) < _FEW_ROWS,
            **{name: mean_of(of(groups)) for name, of in BEST_OF_N.items()},
            "zero_variance_share": _variance(groups)["zero_variance_share"],
        }  # fmt: skip
    return found


def _variance(groups: GroupTable) -> JsonObject:
    flat = groups.has_no_variance
    if not flat.size:
        return {"zero_variance_share": None, "zero_variance": {"all_right": 0, "all_wrong": 0}}
    right = int((flat & (groups.right > 0)).sum())
    return {
        "zero_variance_share": float(flat.mean()),
        "zero_variance": {"all_right": right, "all_wrong": int(flat.sum()) - right},
    }


def advantages_of(table: RewardTable, weights: Mapping[str, float] | None) -> JsonObject:
    """Advantages of every rollout by algorithm, in order; None where there is no reward, no GDPO without weights."""
    found: dict[str, Numbers] = dict(advantages(table.rewards, table.group_of))
    if weights is not None and len(table.rules) > 1 and set(weights) == set(table.rules):
        found["gdpo"] = gdpo(table.rules, weights, table.rewards, table.group_of)
    return {name: _with_nulls(values) for name, values in found.items()}


def _with_nulls(values: Numbers) -> list[float | None]:
    return [None if math.isnan(value) else value for value in values.tolist()]


def _metric(column: Numbers) -> JsonObject:
    row = describe(column)
    return {key: row[key] for key in ("mean", "min", "max", "n")}


def _pair(found: tuple[float, float] | None) -> list[float] | None:
    return None if found is None else list(found)


def _notes(table: RewardTable, groups: GroupTable, weights: Any) -> list[Sentence]:
    notes = []
    alone = int((groups.sizes == 1).sum())
    if alone:
        notes.append(
            sentence(
                "{count} groups have a single scored rollout: nothing to compare with, and GRPO takes the bare reward.",
                count=alone,
            )
        )
    if len(table.rules) > 1 and weights is None:
        notes.append(sentence("The rewards do not settle the rules' weights; GDPO needs them."))
    return notes
