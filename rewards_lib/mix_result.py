"""From the results of the rules to the result of the mix: the weighted sum, what failed, the metrics of all.

Invariant: a completion for which a rule failed has no reward; a rule that abstained is left out of its sum.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from functools import lru_cache

from rewards_lib.contract import Isolation, MixResult, RuleResult, Score, ScoreState, Sentence, sentence
from rewards_lib.errors import ExecutionError
from rewards_lib.mix import weighted_sum


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
    return _sum(tuple(counted)) if counted else None


@lru_cache(maxsize=65_536)
def _sum(weighted: tuple[tuple[float, float], ...]) -> float | None:
    """Remembered because exact sums are slow and thousands of rollouts share a few of them."""
    try:
        return weighted_sum([Decimal(str(weight)) for weight, _ in weighted], [value for _, value in weighted])
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


def weakest(found: Iterable[Isolation | None]) -> Isolation | None:
    """The least confined of several runs speaks for them all; None when there is none."""
    return max((one for one in found if one is not None), key=lambda one: one.tier, default=None)
