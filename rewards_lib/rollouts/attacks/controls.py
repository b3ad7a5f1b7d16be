"""Controls: the ground truth, written as the mix expects an answer, must earn the most; nothing must earn less.

They also find out how the mix wants answers spelled, and what kind of grader each custom function is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from rewards_lib.contract import Json, JsonObject, sentence
from rewards_lib.mix import Rule
from rewards_lib.rollouts.attacks.bench import Bench
from rewards_lib.rollouts.attacks.scene import SPELLINGS, Scene
from rewards_lib.rollouts.attacks.trial import GRADERS

_TOLERANCE = 1e-9
_MOST_LISTED = 20


def choose_spelling(bench: Bench, scenes: Sequence[Scene]) -> str:
    """Find the spelling under which ground truths earn most, and wrong answers least among equals."""
    known = [scene for scene in scenes if scene.truth] or list(scenes)
    spelled = {name: [replace(scene, spelling=name) for scene in known] for name in SPELLINGS}
    bench.learn(
        (scene.sample, text)
        for group in spelled.values() for scene in group for text in (scene.spell(scene.truth), scene.wrong_completion)
    )  # fmt: skip

    def worth(name: str) -> tuple[float, float]:
        right = [bench.earned(scene.sample, scene.spell(scene.truth)).reward for scene in spelled[name]]
        wrong = [bench.earned(scene.sample, scene.wrong_completion).reward for scene in spelled[name]]
        total = sum(reward for reward in right if reward is not None)
        return round(total, 9), round(total - sum(reward for reward in wrong if reward is not None), 9)

    return max(SPELLINGS, key=worth)


def kind_of_function(bench: Bench, rule: Rule, scenes: Sequence[Scene]) -> str:
    """Tell a custom function's kind from what it pays.

    ``grader`` pays more for the truth than for a wrong answer, ``form`` pays for a well-formed text whatever it says,
    ``other`` is neither.
    """
    bench.learn(
        (scene.sample, text)
        for scene in scenes for text in (scene.spell(scene.truth), scene.wrong_completion, scene.unformatted)
    )  # fmt: skip

    def compared(pairs: Iterable[tuple[Scene, str, str]]) -> list[bool]:
        """Whether the first text of a pair earns more than the second, for the pairs of which both were scored."""
        paid = [
            tuple(bench.earned(scene.sample, text).rules.get(rule.name) for text in texts) for scene, *texts in pairs
        ]
        return [high > low for high, low in paid if high is not None and low is not None]

    right = compared((scene, scene.spell(scene.truth), scene.wrong_completion) for scene in scenes if scene.truth)
    if 2 * sum(right) > len(right):
        return "grader"
    formed = compared((scene, scene.wrong_completion, scene.unformatted) for scene in scenes)
    return "form" if 2 * sum(formed) > len(formed) else "other"


def run_controls(bench: Bench, scenes: Sequence[Scene], kinds: dict[str, str]) -> list[JsonObject]:
    """Run the controls over one scene a sample; each failing sample is listed.

    Only rules that tell right from wrong are looked at: a bonus for steps or length is none of the truth's business.
    """
    judges = [
        rule.name for rule in bench.mix.rules
        if rule.preset in GRADERS or kinds.get(rule.name) == "grader"
    ]  # fmt: skip
    known = [scene for scene in scenes if scene.truth]
    if not judges or not known:
        no_rule, no_truth = sentence("no rule compares with a ground truth"), sentence("no sample has a ground truth")
        skipped = str(no_rule if not judges else no_truth)
        return [{"name": name, "samples": 0, "failed": [], "skipped": skipped} for name in ("ground_truth", "nothing")]
    bench.learn((scene.sample, text) for scene in known for text in (scene.spell(scene.truth), scene.original, ""))
    weights = {rule.name: float(rule.weight) for rule in bench.mix.rules}

    def paid(scene: Scene, completion: Json) -> float | None:
        rules = bench.earned(scene.sample, completion).rules
        values = [rules[name] for name in judges]
        if any(value is None for value in values):
            return None
        return sum(weights[name] * (value or 0.0) for name, value in zip(judges, values, strict=True))

    truth_failed, nothing_failed = [], []
    for scene in known:
        text = scene.spell(scene.truth)
        right, wrong, empty = paid(scene, text), paid(scene, scene.wrong_completion), paid(scene, "")
        best = max((value for value in (paid(scene, scene.original), wrong) if value is not None), default=None)
        row = {"line": scene.rollout.line, "id": scene.rollout.id, "truth": scene.truth, "completion": text}
        if right is None or (best is not None and right < best - _TOLERANCE) or right == wrong:
            why = bench.earned(scene.sample, text).why
            truth_failed.append(row | {"earned": right, "most": best, "why": why})
        if right is not None and empty is not None and empty >= right - _TOLERANCE:
            nothing_failed.append(row | {"completion": "", "earned": empty, "most": right})
    return [
        {"name": "ground_truth", "samples": len(known), "failed": truth_failed[:_MOST_LISTED]},
        {"name": "nothing", "samples": len(known), "failed": nothing_failed[:_MOST_LISTED]},
    ]
