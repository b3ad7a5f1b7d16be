"""A finished job opened: its scored file, mix, weights and figures, read once and shared by all tabs and visitors."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from components import cache
from rewards_lib.contract import JsonObject, MixResult
from rewards_lib.jobs import Job
from rewards_lib.mix import Mix
from rewards_lib.rollouts import RewardTable, Rollout
from rewards_lib.rollouts.advantages import advantages, gdpo
from rewards_lib.rollouts.analysis import find_weights, summarize
from rewards_lib.rollouts.group_statistics import GroupTable, group_table, right_from
from rewards_lib.rollouts.grouping import calls_of
from rewards_lib.rollouts.readiness import Readiness, judge_readiness
from rewards_lib.rollouts.rollout import payload_of
from rewards_lib.rollouts.scored_file import ScoredFile, open_scored
from rewards_lib.scoring import fixed_functions, score_payload


@dataclass(frozen=True)
class Opened:
    """A result with everything that the tabs look at."""

    job: Job
    scored: ScoredFile
    right: float
    """The reward from which a rollout is right; infinity when nothing earns anything."""
    groups: GroupTable
    readiness: Readiness
    summary: JsonObject
    """What ``analyze`` prints, without the advantages."""
    advantages: Mapping[str, Any]
    """By algorithm: a column with an entry for each rollout."""

    @property
    def table(self) -> RewardTable:
        """The rewards as columns."""
        return self.scored.table

    @property
    def mix(self) -> Mix | None:
        """The mix that scored; None where the rewards are the file's own."""
        return self.job.request.mix

    @property
    def weights(self) -> dict[str, float] | None:
        """The rules' weights; None where neither a mix nor the rewards tell them."""
        found: dict[str, float] | None = self.summary["weights"]
        return found

    @property
    def rules(self) -> list[str]:
        """The names of the rules, in order."""
        return list(self.table.rules)


def open_result(job: Job, right: float | None = None) -> Opened:
    """Open what a finished job wrote. Raises InputError when its file is gone or unreadable."""
    path = job.scored_path
    stat = path.stat() if path.exists() else None
    return _opened(job.id, right, (stat.st_size, stat.st_mtime) if stat else None, job)


@st.cache_resource(max_entries=6, show_spinner=False)
def _opened(job_id: str, right: float | None, file: tuple[int, float] | None, _job: Job) -> Opened:  # noqa: ARG001
    # The id and the file's state are the key; what was opened is never changed, so all visitors share it.
    scored = open_scored(_job.scored_path)
    table = scored.table
    threshold = right_from(table) if right is None else right
    weights = weights_of(_job.request.mix) or find_weights(table)
    groups = group_table(table, right=threshold)
    unscored = float(np.isnan(table.rewards).mean())
    return Opened(
        _job, scored, threshold, groups, judge_readiness(groups, unscored_share=unscored),
        summarize(table, right=threshold, weights=weights), _advantages(table, weights),
    )  # fmt: skip


def weights_of(mix: Mix | None) -> dict[str, float] | None:
    """The weights of a mix by rule."""
    return {rule.name: float(rule.weight) for rule in mix.rules} if mix else None


def decimals_of(weights: Mapping[str, float]) -> dict[str, Decimal]:
    """Weights for the library's sums: 0.35 stays 0.35."""
    return {name: Decimal(str(round(weight, 2))) for name, weight in weights.items()}


def _advantages(table: RewardTable, weights: Mapping[str, float] | None) -> dict[str, Any]:
    found: dict[str, Any] = dict(advantages(table.rewards, table.group_of))
    if weights is not None and len(table.rules) > 1 and set(weights) == set(table.rules):
        found["gdpo"] = gdpo(table.rules, weights, table.rewards, table.group_of)
    return found


def number_at(column: Any, place: int) -> float | None:
    """The entry of a column of numbers; None where there is none."""
    value = float(column[place])
    return None if math.isnan(value) else value


def explain_rollout(opened: Opened, place: int) -> tuple[MixResult, int] | None:
    """Score the call of one rollout again, for its reasons: the result, and the rollout's number in it.

    None where there is no mix or no completion.
    """
    if opened.mix is None:
        return None
    members = opened.scored.members(int(opened.table.group_of[place]))
    rollouts = opened.scored.read(members)
    for call in calls_of(rollouts):
        if place in (own := [members[one] for one in call]):
            return _explained(opened.job.id, tuple(own), opened, [rollouts[one] for one in call]), own.index(place)
    return None


@st.cache_data(max_entries=200, show_spinner=False)
def _explained(job_id: str, places: tuple[int, ...], _opened: Opened, _rollouts: list[Rollout]) -> MixResult:  # noqa: ARG001
    request = _opened.job.request
    if request.mix is None:
        raise ValueError("only a mix explains")
    return score_payload(
        request.mix, payload_of(_rollouts), executor=cache.executor(), resolve=fixed_functions(request.functions)
    )


def attack_path(job: Job) -> Path:
    """Where an attack's job wrote what it found."""
    return job.folder / "attack.json"
