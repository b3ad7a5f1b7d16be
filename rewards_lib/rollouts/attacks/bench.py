"""Scores single completions of samples under a mix, remembering what was scored, for attacks, controls and checks.

Invariant: completions of one sample are scored together only where that cannot change a reward: never under a preset
that compares them, and one by one again where a function's call failed as a whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from rewards_lib.contract import Completion, Json, MixResult, Payload, Sample
from rewards_lib.executor import Executor, Limits
from rewards_lib.mix import Mix
from rewards_lib.presets import find_preset
from rewards_lib.scoring import FunctionResolver, score_payload, score_payloads


@dataclass(frozen=True, slots=True)
class Earned:
    """What a completion earned."""

    reward: float | None
    rules: dict[str, float | None]
    why: str = ""
    """Why there is no reward."""


@dataclass(slots=True)
class Bench:
    """A mix ready to score."""

    mix: Mix
    resolve: FunctionResolver
    executor: Executor
    limits: Limits | None
    known: dict[tuple[str, str], Earned] = field(default_factory=dict)
    """By sample and completion."""

    @property
    def compares_completions(self) -> bool:
        """Whether a preset of the mix rewards completions against each other."""
        return any(rule.preset is not None and find_preset(rule.preset).is_group for rule in self.mix.rules)

    def score_groups(self, groups: Sequence[tuple[Sample, Sequence[Json]]]) -> list[list[Earned]]:
        """Score each group in one call; what each completion earned, in order. Nothing is remembered."""
        payloads = [Payload(sample, tuple(map(Completion, completions))) for sample, completions in groups]
        results = score_payloads(self.mix, payloads, executor=self.executor, resolve=self.resolve, limits=self.limits)
        return [[_earned(result, place) for place in range(len(result.rewards))] for result in results]

    def score_apart(self, groups: Sequence[tuple[Sample, Sequence[Json]]]) -> list[list[Earned]]:
        """Score each group as a trainer's request: in a process of its own, with whatever chance it finds there.

        A batch gives each group the same random numbers each time, which would hide a reward that rolls dice.
        """
        if all(rule.function is None for rule in self.mix.rules):
            return self.score_groups(groups)
        results = [
            score_payload(
                self.mix, Payload(sample, tuple(map(Completion, completions))), executor=self.executor,
                resolve=self.resolve, limits=self.limits,
            )
            for sample, completions in groups
        ]  # fmt: skip
        return [[_earned(result, place) for place in range(len(result.rewards))] for result in results]

    def learn(self, wanted: Iterable[tuple[Sample, Json]]) -> None:
        """Score the completions that are not known yet."""
        new: dict[str, tuple[Sample, dict[str, Json]]] = {}
        for sample, completion in wanted:
            key = _key(sample, completion)
            if key not in self.known:
                new.setdefault(key[0], (sample, {}))[1][key[1]] = completion
        groups = [(sample, list(completions.values())) for sample, completions in new.values()]
        if self.compares_completions:
            groups = [(sample, [completion]) for sample, completions in groups for completion in completions]
        self._remember(groups, self.score_groups(groups))
        failed = [
            (sample, [completion])
            for sample, completions in groups if len(completions) > 1
            for completion in completions if all(self.earned(sample, one).reward is None for one in completions)
        ]  # fmt: skip
        self._remember(failed, self.score_groups(failed))

    def _remember(self, groups: Sequence[tuple[Sample, Sequence[Json]]], found: Sequence[Sequence[Earned]]) -> None:
        for (sample, completions), earned in zip(groups, found, strict=True):
            for completion, one in zip(completions, earned, strict=True):
                self.known[_key(sample, completion)] = one

    def earned(self, sample: Sample, completion: Json) -> Earned:
        """What a completion earned; it has been learned before."""
        return self.known[_key(sample, completion)]

    def find(self, sample: Sample, completion: Json) -> Earned | None:
        """What a completion earned; None when it was never scored."""
        return self.known.get(_key(sample, completion))


def _key(sample: Sample, completion: Json) -> tuple[str, str]:
    return json.dumps(sample.to_json(), sort_keys=True), json.dumps(completion, sort_keys=True)


def _earned(result: MixResult, place: int) -> Earned:
    rules = {rule.name: rule.scores[place] for rule in result.rules}
    why = next((str(score.why) for score in rules.values() if score.value is None and score.why is not None), "")
    return Earned(result.rewards[place], {name: score.value for name, score in rules.items()}, why)
