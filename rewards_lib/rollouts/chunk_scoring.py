"""One chunk of rollouts under a mix: the lines to write and their tally, the same wherever it runs.

Invariant: a line depends on its chunk's rollouts and on the mix alone; no time, no process and no order gets into it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rewards_lib.contract import Isolation, JsonObject, MixResult, ScoreState
from rewards_lib.executor import Executor, Limits
from rewards_lib.mix import Mix
from rewards_lib.mix_result import weakest
from rewards_lib.rollouts.grouping import calls_of
from rewards_lib.rollouts.rollout import Rollout, payload_of
from rewards_lib.rollouts.tally import Tally
from rewards_lib.scoring import ResolvedFunction, fixed_functions, score_payloads


@dataclass(frozen=True, slots=True)
class ChunkResult:
    """The lines of a chunk and what they count."""

    lines: bytes
    """UTF-8, each with its line feed."""
    tally: Tally
    isolation: Isolation | None
    """The weakest of the chunk's calls; None when nothing was run."""


@dataclass(frozen=True, slots=True)
class ChunkScorer:
    """A mix with its functions at hand, ready to score chunk after chunk."""

    mix: Mix
    functions: Mapping[str, ResolvedFunction]
    """By the rule's ``function``."""
    limits: Limits | None
    """Of a call of a function; None leaves each function its own."""
    executor: Executor
    version: str
    """Of the mix with these functions."""

    def score(self, rollouts: Sequence[Rollout]) -> ChunkResult:
        """Score the rollouts of whole groups; one line each, in order."""
        calls = list(calls_of(rollouts))
        results = score_payloads(
            self.mix,
            [payload_of([rollouts[place] for place in call]) for call in calls],
            executor=self.executor,
            resolve=fixed_functions(self.functions),
            limits=self.limits,
        )
        own_code = {rule.name for rule in self.mix.rules if rule.function is not None}
        scored = {
            place: scored_row(rollouts[place], result, index, own_code)
            for call, result in zip(calls, results, strict=True) for index, place in enumerate(call)
        }  # fmt: skip
        rows, tally = [], Tally()
        for place, rollout in enumerate(rollouts):
            row = scored.get(place) or self._without_completion(rollout)
            rows.append(row)
            tally.count(row["reward"], line=rollout.line, error=row.get("error", ""))
        return ChunkResult(b"".join(map(write_line, rows)), tally, weakest(result.isolation for result in results))

    def _without_completion(self, rollout: Rollout) -> JsonObject:
        """The line of a rollout that holds nothing to score."""
        row = _head(rollout) | {"reward": None, "rules": {rule.name: None for rule in self.mix.rules}}
        row |= {"status": "failure", "error": "The rollout has no completion.", "mix_version": self.version}
        return row | _tail(rollout)


def scored_row(rollout: Rollout, result: MixResult, index: int, functions: Collection[str]) -> JsonObject:
    """Build the line of a rollout from the result of its call, in which it is the completion number ``index``.

    ``functions`` names the rules whose metrics belong to the call as a whole.
    """
    scores = {rule.name: rule.scores[index] for rule in result.rules}
    failed = {name: score.why for name, score in scores.items() if score.state is ScoreState.FAILED}
    reward = result.rewards[index]
    rules = {name: score.value for name, score in scores.items()}
    row = _head(rollout) | {"reward": reward, "rules": rules, "status": "success"}
    beyond_floats = reward is None and not failed and any(score.value is not None for score in scores.values())
    if failed:
        reasons = "; ".join(f"{name}: {why}" if len(scores) > 1 else str(why) for name, why in failed.items())
        row |= {"status": "failure", "error": reasons}
    elif beyond_floats:
        row |= {"status": "failure", "error": "The weighted sum is too large for a number."}
    row["mix_version"] = result.mix_version
    metrics = _metrics(result, index, functions)
    if metrics:
        row["metrics"] = metrics
    return row | _tail(rollout)


def recorded_row(rollout: Rollout) -> JsonObject:
    """Build the line of a rollout with the reward that its file holds: as scored by whoever wrote it."""
    given = rollout.recorded
    row = _head(rollout) | {"reward": given.reward if given else None, "rules": dict(given.rules) if given else {}}
    error = given.error if given else ""
    row |= {"status": "failure", "error": error} if error else {"status": "success"}
    if given and given.metrics:
        row["metrics"] = {"recorded": dict(given.metrics)}
    return row | ({"meta": rollout.meta} if rollout.meta else {})


def _head(rollout: Rollout) -> JsonObject:
    return {
        "line": rollout.line, "id": rollout.id, "group": rollout.group, "sample": rollout.sample,
        "completion": rollout.completion,
    }  # fmt: skip


def _tail(rollout: Rollout) -> JsonObject:
    """What the file said of the rollout before it was scored here."""
    row: JsonObject = {}
    given = rollout.recorded
    if given is not None and (given.reward is not None or given.rules):
        row["recorded"] = {"reward": given.reward, "rules": dict(given.rules)}
    return row | ({"meta": rollout.meta} if rollout.meta else {})


def _metrics(result: MixResult, index: int, functions: Collection[str]) -> dict[str, dict[str, float]]:
    """The rules' metrics of one completion, by rule; what a function says once a call stands on the call's first."""
    found: dict[str, dict[str, float]] = {}
    for rule in result.rules:
        own = dict(rule.scores[index].metrics)
        if rule.name in functions and index == 0:
            own |= rule.metrics
        if own:
            found[rule.name] = own
    return found


_STRICT = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


def write_line(row: JsonObject) -> bytes:
    """Write a row as one line of strict JSON in UTF-8; numbers that JSON does not know become null."""
    try:
        text = _STRICT.encode(row)
    except ValueError:
        text = json.dumps(_without_infinities(row), ensure_ascii=False)
    try:
        return text.encode("utf-8") + b"\n"
    except UnicodeEncodeError:
        return json.dumps(_without_infinities(row)).encode("ascii") + b"\n"


def _without_infinities(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _without_infinities(item) for key, item in value.items()}
    return [_without_infinities(item) for item in value] if isinstance(value, (list, tuple)) else value
