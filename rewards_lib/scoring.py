"""A mix over the completions of one payload: every rule, the weighted sum, what abstained and what failed.

Invariant: a completion for which a rule failed has no reward; a rule that abstained is left out of its sum.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from rewards_lib.contract import (
    Isolation,
    Json,
    JsonObject,
    MixResult,
    Payload,
    RuleResult,
    Score,
    ScoreState,
    Sentence,
    sentence,
)
from rewards_lib.errors import ExecutionError, LimitError
from rewards_lib.executor import Executor, FunctionSource, ItemRun, Limits
from rewards_lib.mix import Mix, Rule, mix_version, weighted_sum
from rewards_lib.presets import find_preset, worker

SINGLE_ENTRY = "rewards_lib.presets.worker:score_item"
GROUP_ENTRY = "rewards_lib.presets.worker:score_group_item"


@dataclass(frozen=True, slots=True)
class ResolvedFunction:
    """The code behind a rule's ``function``, and how results name it."""

    source: FunctionSource
    version: str
    """For example ``reward.py · 7f3a9c`` or ``boxed_number@3``."""

    @property
    def sha256(self) -> str:
        """The hash of everything that decides a reward: code, requirements, allowed hosts."""
        parts = (self.source.source, self.source.requirements, *sorted(self.source.allow_hosts))
        return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


FunctionResolver = Callable[[Rule], ResolvedFunction]
"""Finds the code of a rule's function; raises InputError or NotFoundError when there is none."""


def score_payload(
    mix: Mix,
    payload: Payload,
    *,
    executor: Executor,
    resolve: FunctionResolver,
    limits: Limits | None = None,
) -> MixResult:
    """Score the completions of one payload under a mix.

    Returns one reward for each completion, in order; None where a rule failed or all rules abstained. A function's
    faults are values of the result. Raises InputError or NotFoundError when a rule's function cannot be found.
    """
    started = time.perf_counter()
    limits = limits or Limits()
    functions = {rule.name: resolve(rule) for rule in mix.rules if rule.function is not None}
    results = _score_presets([rule for rule in mix.rules if rule.preset is not None], payload, executor, limits)
    for name, function in functions.items():
        rule = next(rule for rule in mix.rules if rule.name == name)
        results[name] = _score_function(rule, function, payload, executor, limits)
    rules = tuple(results[rule.name] for rule in mix.rules)
    result = combine(rules, version=mix_version(mix, {name: found.sha256 for name, found in functions.items()}))
    return replace(
        result,
        findings=payload.findings + result.findings,
        isolation=_weakest(rules),
        duration_ms=(time.perf_counter() - started) * 1000,
    )


def combine(rules: Sequence[RuleResult], *, version: str) -> MixResult:
    """Add up the rules' scores completion by completion, weights applied in decimal arithmetic."""
    rewards = tuple(
        _total([(rule.weight, rule.scores[index]) for rule in rules]) for index in range(len(rules[0].scores))
    )
    failures = [rule for rule in rules if rule.status == "failure"]
    error = _first_error(failures, of_many=len(rules) > 1) or _too_large(rules, rewards)
    return MixResult(
        rules=tuple(rules),
        rewards=rewards,
        status="failure" if error else "success",
        mix_version=version,
        error=error,
        metrics=_joined_metrics(rules),
        findings=tuple(finding for rule in rules for finding in rule.findings),
    )


def _too_large(rules: Sequence[RuleResult], rewards: Sequence[float | None]) -> Sentence | None:
    """Why a completion has no reward although its rules have: the sum is beyond the range of floats."""
    for index, reward in enumerate(rewards):
        if reward is None and any(rule.scores[index].value is not None for rule in rules):
            return sentence("The weighted sum of completion {index} is too large for a number.", index=index + 1)
    return None


def _total(weighted: Sequence[tuple[float, Score]]) -> float | None:
    if any(score.state is ScoreState.FAILED for _, score in weighted):
        return None
    counted = [(weight, score.value) for weight, score in weighted if score.value is not None]
    if not counted:
        return None
    try:
        return weighted_sum([Decimal(str(weight)) for weight, _ in counted], [value for _, value in counted])
    except ExecutionError:  # beyond the range of floats: no number rather than infinity
        return None


def _first_error(failures: Sequence[RuleResult], *, of_many: bool) -> Sentence | None:
    if not failures:
        return None
    error = failures[0].error or sentence("The rule failed without a reason.")
    if not of_many:
        return error
    if len(failures) == 1:
        return sentence("{rule}: {error}", rule=failures[0].name, error=error)
    return sentence(
        "{rule}: {error} ({more} more rules failed.)", rule=failures[0].name, error=error, more=len(failures) - 1
    )


def _joined_metrics(rules: Sequence[RuleResult]) -> dict[str, float]:
    """The union of the rules' metrics; a name that several rules use gets its rule's name in front."""
    owners: dict[str, int] = {}
    for rule in rules:
        for name in rule.metrics:
            owners[name] = owners.get(name, 0) + 1
    return {
        name if owners[name] == 1 else f"{rule.name}/{name}": value
        for rule in rules for name, value in rule.metrics.items()
    }  # fmt: skip


def _weakest(rules: Sequence[RuleResult]) -> Isolation | None:
    """The least confined of the rules' runs speaks for the whole."""
    return max((rule.isolation for rule in rules if rule.isolation), key=lambda one: one.tier, default=None)


# --- presets -------------------------------------------------------------------------------------------------------


def _score_presets(
    rules: Sequence[Rule], payload: Payload, executor: Executor, limits: Limits
) -> dict[str, RuleResult]:
    """Score all presets of a mix in one confined worker: forking one for each rule would cost more than the rules."""
    singles = [rule for rule in rules if not _is_group(rule)]
    sample = payload.sample.to_json()
    completions = [completion.raw for completion in payload.completions]
    items = [_item(rule, sample, completion=one) for rule in singles for one in completions]
    seconds = [_seconds(rule) for rule in singles for _ in completions]
    runs = _run_items(executor, SINGLE_ENTRY, items, seconds, limits)
    size, isolation = len(completions), executor.isolation() if rules else None
    results = {}
    for index, rule in enumerate(singles):
        own = runs[index * size : (index + 1) * size]
        results[rule.name] = _preset_result(rule, [_item_score(run) for run in own], own, isolation)
    for rule in rules:
        if _is_group(rule):
            item = _item(rule, sample, completions=completions)
            own = _run_items(executor, GROUP_ENTRY, [item], [_seconds(rule) * size], limits)
            results[rule.name] = _preset_result(rule, _group_scores(own[0], size), own, isolation)
    return results


def _is_group(rule: Rule) -> bool:
    return find_preset(rule.preset or "").is_group


def _seconds(rule: Rule) -> float:
    return find_preset(rule.preset or "").seconds(rule.params)


def _item(rule: Rule, sample: JsonObject, **what: Json) -> JsonObject:
    return {"preset": rule.preset, "params": rule.params, "sample": sample, **what}


def _run_items(
    executor: Executor, entry: str, items: Sequence[JsonObject], seconds: Sequence[float], limits: Limits
) -> list[ItemRun]:
    if not items:
        return []
    return executor.run_items(entry, items, item_seconds=seconds, limits=limits, preload=worker.PRELOAD)


def _preset_result(
    rule: Rule, scores: Sequence[Score], runs: Sequence[ItemRun], isolation: Isolation | None
) -> RuleResult:
    error = _preset_error(scores)
    return RuleResult(
        name=rule.name, weight=float(rule.weight), scores=tuple(scores), status="failure" if error else "success",
        version=f"preset {rule.preset}", error=error, metrics=_mean_metrics(scores),
        duration_ms=sum(run.duration_ms for run in runs), isolation=isolation,
    )  # fmt: skip


def _item_score(run: ItemRun) -> Score:
    if run.error or run.value is None:
        return _item_failure(run.error)
    return worker.decode_score(run.value)


def _group_scores(run: ItemRun, size: int) -> list[Score]:
    if run.error or run.value is None:
        return [_item_failure(run.error)] * size
    return [worker.decode_score(row) for row in run.value]


def _item_failure(error: ExecutionError | None) -> Score:
    if isinstance(error, LimitError):
        return Score.failed(error.message)
    return Score.failed(sentence("The worker ended: {error}", error=error.message if error else "?"))


def _preset_error(scores: Sequence[Score]) -> Sentence | None:
    failed = [(index, score) for index, score in enumerate(scores, 1) if score.state is ScoreState.FAILED]
    if not failed:
        return None
    index, score = failed[0]
    if len(scores) == 1:
        return score.why
    return sentence(
        "{failed} of {total} completions unscored; completion {index}: {why}",
        failed=len(failed),
        total=len(scores),
        index=index,
        why=score.why,
    )


def _mean_metrics(scores: Sequence[Score]) -> dict[str, float]:
    """The mean of each metric over the completions that have it."""
    values: dict[str, list[float]] = {}
    for score in scores:
        for name, value in score.metrics.items():
            values.setdefault(name, []).append(value)
    return {name: sum(found) / len(found) for name, found in values.items()}


# --- functions -----------------------------------------------------------------------------------------------------


def _score_function(
    rule: Rule, function: ResolvedFunction, payload: Payload, executor: Executor, limits: Limits
) -> RuleResult:
    run = executor.run_function(function.source, payload, limits=limits)
    return RuleResult(
        name=rule.name,
        weight=float(rule.weight),
        scores=run.scores,
        status=run.status,
        version=function.version,
        error=run.error,
        metrics=run.metrics,
        duration_ms=run.duration_ms,
        logs=run.logs,
        traceback=run.traceback,
        error_line=run.error_line,
        findings=run.findings,
        network_calls=run.network_calls,
        memory_mb=run.memory_mb,
        isolation=run.isolation,
    )


def without_functions(rule: Rule) -> ResolvedFunction:
    """The resolver for mixes of presets alone. Raises LookupError when it is asked at all."""
    raise LookupError(f"rule {rule.name} needs a function, and none can be found here")


def fixed_functions(functions: Mapping[str, ResolvedFunction]) -> FunctionResolver:
    """A resolver over functions that are already at hand, by the rule's ``function``."""
    return lambda rule: functions[rule.function or ""]
