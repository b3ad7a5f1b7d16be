"""A mix over the completions of one payload: every rule, the weighted sum, what abstained and what failed.

Invariant: a completion for which a rule failed has no reward; a rule that abstained is left out of its sum.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from rewards_lib.contract import (
    Finding,
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
from rewards_lib.errors import BusyError, ExecutionError, LimitError
from rewards_lib.executor import Executor, FunctionRun, FunctionSource, ItemRun, Limits
from rewards_lib.mix import Mix, Rule, mix_version
from rewards_lib.mix_result import combine, weakest
from rewards_lib.presets import find_preset, review_params, worker
from rewards_lib.presets.host import score_on_host

SINGLE_ENTRY = "rewards_lib.presets.worker:score_item"
GROUP_ENTRY = "rewards_lib.presets.worker:score_group_item"
RULES_ENTRY = "rewards_lib.presets.worker:score_rules_item"


@dataclass(frozen=True, slots=True)
class ResolvedFunction:
    """The code behind a rule's ``function``, and how results name it."""

    source: FunctionSource
    version: str
    """For example ``reward.py · 7f3a9c``, ``boxed_number · draft 7f3a9c`` or ``boxed_number · v3``."""

    limits: Limits | None = None
    """What its author set; None means the usual."""

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
    bench = _Bench.of(mix, resolve)
    presets = _score_presets(bench.worker_rules, payload, executor, limits or Limits())
    [asked] = _ask_services(bench.host_rules, [payload], executor)
    own = {
        name: executor.run_function(found.source, payload, limits=limits or found.limits)
        for name, found in bench.functions.items()
    }
    result = bench.result(payload, presets | asked, own)
    return replace(result, duration_ms=(time.perf_counter() - started) * 1000)


def score_payloads(
    mix: Mix,
    payloads: Sequence[Payload],
    *,
    executor: Executor,
    resolve: FunctionResolver,
    limits: Limits | None = None,
) -> list[MixResult]:
    """Score many payloads: all presets over all of them in one worker, each function over all of them in another.

    Returns one result for each payload, in order, equal to what ``score_payload`` gives but for the reasons of scored
    completions and the times of payloads and presets, which are left out. Raises as ``score_payload`` does.
    """
    bench = _Bench.of(mix, resolve)
    batch = _score_presets_of_many(bench.worker_rules, payloads, executor, limits or Limits())
    asked = _ask_services(bench.host_rules, payloads, executor)
    runs = {
        name: executor.run_functions(found.source, payloads, limits=limits or found.limits)
        for name, found in bench.functions.items()
    }
    return [
        bench.result(payload, presets | answers, {name: own[place] for name, own in runs.items()})
        for place, (payload, presets, answers) in enumerate(zip(payloads, batch, asked, strict=True))
    ]


@dataclass(frozen=True, slots=True)
class _Bench:
    """A mix with everything at hand that scoring payloads under it needs."""

    mix: Mix
    functions: Mapping[str, ResolvedFunction]
    """By rule."""
    version: str
    findings: tuple[Finding, ...]
    """What the presets' parameters make likely accidents."""

    @classmethod
    def of(cls, mix: Mix, resolve: FunctionResolver) -> _Bench:
        functions = {rule.name: resolve(rule) for rule in mix.rules if rule.function is not None}
        version = mix_version(mix, {name: found.sha256 for name, found in functions.items()})
        return cls(mix, functions, version, _review(mix))

    @property
    def worker_rules(self) -> list[Rule]:
        return [rule for rule in self.mix.rules if rule.preset and find_preset(rule.preset).runs_on == "worker"]

    @property
    def host_rules(self) -> list[Rule]:
        return [rule for rule in self.mix.rules if rule.preset and find_preset(rule.preset).runs_on == "host"]

    def result(self, payload: Payload, presets: Mapping[str, RuleResult], runs: Mapping[str, FunctionRun]) -> MixResult:
        """Put the results of the presets and the runs of the functions over a payload together, both by rule."""
        rules = tuple(
            presets[rule.name] if rule.function is None
            else _function_result(rule, self.functions[rule.name], runs[rule.name])
            for rule in self.mix.rules
        )  # fmt: skip
        result = combine(rules, version=self.version)
        return replace(
            result,
            findings=payload.findings + self.findings + result.findings,
            isolation=weakest(rule.isolation for rule in rules),
        )


def _review(mix: Mix) -> tuple[Finding, ...]:
    return tuple(
        finding for place, rule in enumerate(mix.rules) if rule.preset
        for finding in review_params(
            rule.preset, find_preset(rule.preset).defaults() | rule.params, where=f"rules[{place}].params"
        )
    )  # fmt: skip


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
    runs = _run_items(executor, singles, SINGLE_ENTRY, items, seconds, limits)
    size, isolation = len(completions), executor.isolation() if rules else None
    results = {}
    for index, rule in enumerate(singles):
        own = runs[index * size : (index + 1) * size]
        results[rule.name] = _preset_result(rule, [_item_score(run) for run in own], own, isolation)
    for rule in rules:
        if _is_group(rule):
            item = _item(rule, sample, completions=completions)
            own = _run_items(executor, [rule], GROUP_ENTRY, [item], [_seconds(rule) * size], limits)
            results[rule.name] = _preset_result(rule, _group_scores(own[0], size), own, isolation)
    return results


def _score_presets_of_many(
    rules: Sequence[Rule], payloads: Sequence[Payload], executor: Executor, limits: Limits
) -> list[dict[str, RuleResult]]:
    """Score the presets of a mix, one item a payload. A payload that fails whole is scored again piece by piece.

    Who hangs or dies on one completion must cost that completion alone, and only the pieces have limits of their own.
    """
    if not rules or not payloads:
        return [{} for _ in payloads]
    named = [{"preset": rule.preset, "params": rule.params} for rule in rules]
    items: list[JsonObject] = [
        {
            "rules": named, "sample": payload.sample.to_json(),
            "completions": [completion.raw for completion in payload.completions],
        }
        for payload in payloads
    ]  # fmt: skip
    longest = max(_seconds(rule) for rule in rules)
    runs = _run_items(executor, rules, RULES_ENTRY, items, [longest] * len(items), limits)
    isolation = executor.isolation()
    return [
        _score_presets(rules, payload, executor, limits) if run.error or run.value is None
        else {
            rule.name: _preset_result(rule, [worker.decode_score(row) for row in rows], [], isolation)
            for rule, rows in zip(rules, run.value, strict=True)
        }
        for payload, run in zip(payloads, runs, strict=True)
    ]  # fmt: skip


def _ask_services(
    rules: Sequence[Rule], payloads: Sequence[Payload], executor: Executor
) -> list[dict[str, RuleResult]]:
    """Score the presets that ask a service: in this process, over all payloads at once, as many as a rule allows."""
    results: list[dict[str, RuleResult]] = [{} for _ in payloads]
    pairs = [(payload.sample, completion) for payload in payloads for completion in payload.completions]
    for rule in rules:
        timed = iter(score_on_host(rule.preset or "", rule.params, pairs, ending=executor.ending))
        confinement = find_preset(rule.preset or "").confinement
        isolation = confinement() if confinement else None
        for payload, own in zip(payloads, results, strict=True):
            scores = list(islice(timed, len(payload.completions)))
            result = _preset_result(rule, [one.score for one in scores], [], isolation)
            own[rule.name] = replace(result, duration_ms=sum(one.duration_ms for one in scores))
    return results


def _is_group(rule: Rule) -> bool:
    return find_preset(rule.preset or "").is_group


def _seconds(rule: Rule) -> float:
    return find_preset(rule.preset or "").seconds(rule.params)


def _item(rule: Rule, sample: JsonObject, **what: Json) -> JsonObject:
    return {"preset": rule.preset, "params": rule.params, "sample": sample, **what}


def _run_items(
    executor: Executor, rules: Sequence[Rule], entry: str, items: Sequence[JsonObject], seconds: Sequence[float],
    limits: Limits,
) -> list[ItemRun]:  # fmt: skip
    if not items:
        return []
    preload = worker.preload_for((rule.preset or "", rule.params) for rule in rules)
    return executor.run_items(entry, items, item_seconds=seconds, limits=limits, preload=preload)


def _preset_result(
    rule: Rule, scores: Sequence[Score], runs: Sequence[ItemRun], isolation: Isolation | None
) -> RuleResult:
    error = _preset_error(scores)
    return RuleResult(
        name=rule.name, weight=float(rule.weight), scores=tuple(scores), status="failure" if error else "success",
        version=_preset_version(rule), error=error, metrics=_mean_metrics(scores),
        duration_ms=_total(run.duration_ms for run in runs), isolation=isolation,
    )  # fmt: skip


def _total(durations: Iterable[float | None]) -> float | None:
    """The sum of the times that were measured; None where none was."""
    known = [duration for duration in durations if duration is not None]
    return sum(known) if known else None


def _preset_version(rule: Rule) -> str:
    return f"preset {rule.preset} v{find_preset(rule.preset or '').version}"


def _item_score(run: ItemRun) -> Score:
    if run.error or run.value is None:
        return _item_failure(run.error)
    return worker.decode_score(run.value)


def _group_scores(run: ItemRun, size: int) -> list[Score]:
    if run.error or run.value is None:
        return [_item_failure(run.error)] * size
    return [worker.decode_score(row) for row in run.value]


def _item_failure(error: ExecutionError | None) -> Score:
    if isinstance(error, (BusyError, LimitError)):
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


def _function_result(rule: Rule, function: ResolvedFunction, run: FunctionRun) -> RuleResult:
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
