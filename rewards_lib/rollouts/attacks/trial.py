"""One attack: a name, how its completions are built from a scene, and what each rule may pay for them.

Invariant: a limit is a number, or what the rule itself pays for a reference completion; nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from rewards_lib.contract import Json, Sentence
from rewards_lib.mix import Rule
from rewards_lib.presets import check_params
from rewards_lib.rollouts.attacks.scene import Scene


@dataclass(frozen=True, slots=True)
class AsMuchAs:
    """The rule may pay what it pays for this completion of the same sample."""

    completion: Json


@dataclass(frozen=True, slots=True)
class Wrong:
    """The rule may pay what it pays for a plainly wrong answer."""


Limit: TypeAlias = "float | AsMuchAs | Wrong"

GRADERS = (
    "math_accuracy", "exact_match", "contains", "regex_match", "numeric_close", "multiple_choice", "qa_match",
)  # fmt: skip
"""Presets that compare an answer with the ground truth and say right or wrong."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One completion and what it may earn."""

    completion: Json
    presets: Mapping[str, Limit] = field(default_factory=dict)
    """Limit by preset; a preset that is not named here is not concerned."""
    grader: Limit | None = None
    """For a custom function that tells right from wrong; None: not concerned."""
    form: Limit | None = None
    """For a custom function that pays for form alone."""
    other: Limit | None = None
    """For any other custom function."""

    def limit_for(self, rule: Rule, kind: str) -> Limit | None:
        """What the rule may pay; None when the attack does not concern it. ``kind`` is a custom function's."""
        if rule.preset is not None:
            return self.presets.get(rule.preset)
        return {"grader": self.grader, "form": self.form}.get(kind, self.other)


Build: TypeAlias = Callable[[Scene], list[Trial]]


@dataclass(frozen=True, slots=True)
class Attack:
    """A way to earn without deserving."""

    name: str
    build: Build
    """Its completions for a scene; none where it cannot be built there."""
    advice: Sentence
    """What to do when it leaks."""
    once: bool = False
    """Built from one rollout only: slow by design."""


ATTACKS: dict[str, Attack] = {}


def attack(name: str, advice: Sentence, *, once: bool = False) -> Callable[[Build], Build]:
    """Register the decorated builder as the attack ``name``."""

    def register(build: Build) -> Build:
        ATTACKS[name] = Attack(name, build, advice, once)
        return build

    return register


def number_of(limit: Limit, rule: Rule, scene: Scene) -> float | AsMuchAs:
    """Settle a limit: a number, or the completion whose pay is the bound."""
    if not isinstance(limit, Wrong):
        return limit
    if rule.preset is not None:
        params = check_params(rule.preset, rule.params)
        if "mismatch" in params:
            return float(params["mismatch"])
    return AsMuchAs(scene.wrong_completion)


def graders(*names: str) -> dict[str, Limit]:
    """Limit the named presets, or all that grade an answer, to what a wrong answer earns."""
    return {name: Wrong() for name in names or GRADERS}


def params_of(scene: Scene, preset: str) -> dict[str, object]:
    """The complete parameters of the first rule with this preset; empty when the mix has none."""
    for rule in scene.mix.rules:
        if rule.preset == preset:
            return check_params(preset, rule.params)
    return {}
