"""A published reward outside the console: what an exported folder carries to score on its own.

This module and what it imports are copied into every exported package; it therefore imports nothing that confines or
stores. Invariant: the rewards are those of the console to the last bit, and a reward that could not be computed is None
with a reason. Reward code runs here unconfined and without a time limit.
"""

from __future__ import annotations

import builtins
import importlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from types import CodeType
from typing import Any

from rewards_lib.contract import (
    Completion,
    Json,
    JsonObject,
    MixResult,
    RuleResult,
    Sample,
    Score,
    ScoreState,
    Sentence,
    sentence,
)
from rewards_lib.errors import RewardConsoleError, boundary
from rewards_lib.executor.worker import messages, readings, rl_types
from rewards_lib.mix_result import combine
from rewards_lib.presets.registry import find_preset
from rewards_lib.strict_json import write_json

DEFINITION = "reward.json"


@dataclass(frozen=True, slots=True)
class _Rule:
    name: str
    weight: Decimal
    preset: str
    params: JsonObject
    code: CodeType | None
    version: str


class Reward:
    """One published version, ready to score. Safe to call from several threads."""

    def __init__(self, folder: Path) -> None:
        """Read ``reward.json`` and the functions beside it."""
        definition = json.loads((folder / DEFINITION).read_text(encoding="utf-8"))
        self.name: str = definition["name"]
        self.label: str = definition["label"]
        """The published version, ``name@number``."""
        self.mix_version: str = definition["mix_version"]
        self._rules = [_read_rule(row, folder) for row in definition["rules"]]

    def score(self, sample: JsonObject, completions: Sequence[Json], context: JsonObject | None = None) -> MixResult:
        """Score the completions of one sample: one reward each, in order, None where there is none.

        ``sample`` is ``{"messages", "extra", "tools"}``, each of which may be missing; ``extra["answer"]`` is the
        ground truth. A completion is a text, a message, a list of messages, or an object with messages.
        """
        plain = json.loads(write_json({"sample": sample, "completions": list(completions), "context": context or {}}))
        read = Sample.from_json(plain["sample"])
        entries = [Completion(raw) for raw in plain["completions"]]
        results = [
            _score_function(rule, read, entries, plain["context"]) if rule.code else _score_preset(rule, read, entries)
            for rule in self._rules
        ]
        return combine(results, version=self.mix_version)


def _read_rule(row: JsonObject, folder: Path) -> _Rule:
    code = None
    if row.get("function"):
        path = folder / row["function"]
        code = compile(path.read_text(encoding="utf-8"), str(path), "exec")
    return _Rule(
        row["name"], Decimal(row["weight"]), row.get("preset", ""), row.get("params", {}), code, row["version"]
    )


# --- presets -------------------------------------------------------------------------------------------------------


def _score_preset(rule: _Rule, sample: Sample, completions: Sequence[Completion]) -> RuleResult:
    preset = find_preset(rule.preset)
    if preset.is_group:
        scores = _tried(lambda: preset.score_all(rule.params, sample, completions), len(completions))
    else:
        scores = [_tried(_scorer(preset.score_all, rule.params, sample, one), 1)[0] for one in completions]
    failed = next((score for score in scores if score.state is ScoreState.FAILED), None)
    return RuleResult(
        name=rule.name, weight=float(rule.weight), scores=tuple(scores), status="failure" if failed else "success",
        version=rule.version, error=failed.why if failed else None,
    )  # fmt: skip


def _scorer(
    score: Callable[..., list[Score]], params: JsonObject, sample: Sample, one: Completion
) -> Callable[[], list[Score]]:
    return lambda: score(params, sample, [one])


def _tried(score: Callable[[], list[Score]], count: int) -> list[Score]:
    """The scores, or for each completion why there is none."""
    found: list[Score] = []

    def tell(error: RewardConsoleError) -> None:
        found.extend(Score.failed(error.message) for _ in range(count))

    with boundary(tell):
        found.extend(score())
    return found


# --- functions -----------------------------------------------------------------------------------------------------


def _score_function(rule: _Rule, sample: Sample, completions: Sequence[Completion], context: JsonObject) -> RuleResult:
    row: dict[str, Any] = {}
    why: list[Sentence] = []

    def tell(error: RewardConsoleError) -> None:
        cause = error.__cause__ or error.__context__
        told = f"{type(cause).__name__}: {cause}" if cause else str(error.message)
        why.append(sentence("{text}", text=told))

    with boundary(tell):
        row = _call(rule, sample, completions, context)
    if not why and row.get("status") == "failure":
        why.append(sentence("{text}", text=row["error"] or "reward_fn reported a failure."))
    scores = [Score.failed(why[0]) for _ in completions] if why else [_score(entry) for entry in row["rewards"]]
    failed = next((score for score in scores if score.state is ScoreState.FAILED), None)
    return RuleResult(
        name=rule.name, weight=float(rule.weight), scores=tuple(scores), status="failure" if failed else "success",
        version=rule.version, error=failed.why if failed else None, metrics=row.get("metrics", {}),
    )  # fmt: skip


def _call(rule: _Rule, sample: Sample, completions: Sequence[Completion], context: JsonObject) -> dict[str, Any]:
    """Run the top level afresh, as the console does for each call, then ``reward_fn``; what it returned, as JSON."""
    namespace: dict[str, Any] = {"__name__": "reward", "__builtins__": {**vars(builtins), "__import__": _import}}
    arguments = json.loads(write_json([context, sample.to_json(), [one.to_json() for one in completions]]))
    wrapped = [messages.wrap_completion(one) for one in arguments[2]]
    try:
        exec(rule.code or "", namespace)  # noqa: S102 -- the author's own function, in the author's own trainer
        result = namespace["reward_fn"](arguments[0], arguments[1], wrapped)
        return readings.read_result(result, len(completions))
    except readings.UnusableResultError as fault:
        return {"status": "failure", "error": str(fault), "rewards": None, "metrics": {}}


def _import(name: str, *arguments: Any, **options: Any) -> Any:
    """Find what reward code imports by name in this package, whatever else of that name is installed."""
    if name == "rl_types":
        return rl_types
    if name == "reward_tools":
        return importlib.import_module("rewards_lib.reward_tools")
    return builtins.__import__(name, *arguments, **options)


def _score(entry: Any) -> Score:
    """A reward as it was read: a number, None for no opinion, or why it is none."""
    if entry is None:
        return Score.abstained()
    if isinstance(entry, Mapping):
        template, values = entry["why"]
        return Score.failed(Sentence(template, values))
    return Score.scored(float(entry))
