"""The attack suite over a file: choose samples, find out what the mix wants, attack, control, check, report.

Invariant: a leak is a rule that paid more than its limit for a completion that was scored; what could not be scored is
counted apart, and what does not apply is listed with the reason.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from rewards_lib.contract import Json, JsonObject, sentence
from rewards_lib.errors import InputError
from rewards_lib.executor import Executor, Limits
from rewards_lib.mix import Mix, Rule
from rewards_lib.rollouts.attacks.bench import Bench, Earned
from rewards_lib.rollouts.attacks.checks import run_checks
from rewards_lib.rollouts.attacks.controls import choose_spelling, kind_of_function, run_controls
from rewards_lib.rollouts.attacks.scene import Scene, last_text, make_scene
from rewards_lib.rollouts.attacks.trial import ATTACKS, AsMuchAs, Attack, Trial, number_of
from rewards_lib.rollouts.grouping import calls_of
from rewards_lib.rollouts.rollout import BadRow, Rollout
from rewards_lib.scoring import FunctionResolver

_TOLERANCE = 1e-9
_MOST_EXAMPLES = 5
_MOST_OF_A_GROUP = 8
_SHOWN_CHARACTERS = 2000


@dataclass(frozen=True, slots=True)
class AttackOptions:
    """How a mix is attacked."""

    samples: int = 16
    """Groups that are attacked, spread over the file."""
    repeats: int = 2
    """How often the determinism check scores again."""
    limits: Limits | None = None
    """Of a call of a function; None leaves each function its own."""


@dataclass(frozen=True, slots=True)
class _Judged:
    """One trial and what it earned, rule by rule."""

    scene: Scene
    trial: Trial
    earned: Earned
    expected: float
    """The most an honest mix pays for it."""
    paid_by: dict[str, list[float]]
    """The rules that paid too much: [paid, limit]."""


def attack_mix(
    mix: Mix,
    rollouts: Iterable[Rollout | BadRow],
    *,
    resolve: FunctionResolver,
    executor: Executor,
    options: AttackOptions | None = None,
) -> JsonObject:
    """Attack a mix with completions built from real rollouts; the result is what ``attack`` prints.

    Raises InputError when there is no rollout with a completion.
    """
    options = options or AttackOptions()
    groups = choose_groups(rollouts, options.samples)
    bench = Bench(mix, resolve, executor, options.limits)
    scenes = [make_scene(rollout, mix) for group in groups for rollout in _ends(group)]
    spelling = choose_spelling(bench, scenes)
    scenes = [replace(scene, spelling=spelling) for scene in scenes]
    firsts = list({scene.rollout.group: scene for scene in reversed(scenes)}.values())[::-1]
    kinds = {rule.name: kind_of_function(bench, rule, firsts) for rule in mix.rules if rule.function is not None}
    rows, skipped = [], []
    for attack in ATTACKS.values():
        judged, why = _run(attack, bench, scenes[:1] if attack.once else scenes, kinds)
        if judged:
            rows.append(_report(attack, judged, bench))
        else:
            skipped.append({"name": attack.name, "why": why})
    collusion = _collusion(bench, firsts)
    rows += [collusion] if collusion else []
    leaking = [row["name"] for row in rows if row["leaks"]]
    error = f"{len(leaking)} attacks earn more than they should: {', '.join(leaking)}." if leaking else ""
    return {
        "status": "failure" if leaking else "success", "error": error, "groups": len(groups), "spelling": spelling,
        "functions": kinds, "attacks": rows, "skipped": skipped, "controls": run_controls(bench, firsts, kinds),
        "checks": run_checks(bench, groups, repeats=options.repeats), "isolation": executor.isolation().to_json(),
    }  # fmt: skip


def choose_groups(rollouts: Iterable[Rollout | BadRow], count: int) -> list[list[Rollout]]:
    """Choose groups spread over a stream, the same each time, in the order in which they begin.

    A group keeps at most eight rollouts, all of one sample. Raises InputError when nothing can be chosen.
    """
    chosen: dict[str, list[Rollout]] = {}
    ranks: dict[str, bytes] = {}
    for rollout in rollouts:
        if isinstance(rollout, BadRow) or rollout.completion is None:
            continue
        name = rollout.group
        if name not in chosen:
            rank = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
            if len(chosen) >= count:
                last = max(ranks, key=lambda other: ranks[other])
                if rank >= ranks[last]:
                    continue
                del chosen[last], ranks[last]
            chosen[name], ranks[name] = [], rank
        if len(chosen[name]) < _MOST_OF_A_GROUP:
            chosen[name].append(rollout)
    if not chosen:
        raise InputError("The file holds no rollout with a completion to build attacks from.")
    groups = [[group[place] for place in next(calls_of(group))] for group in chosen.values()]
    return sorted(groups, key=lambda group: group[0].line)


def _ends(group: Sequence[Rollout]) -> list[Rollout]:
    """The rollouts of a group with the highest and the lowest recorded reward, or its first and last."""
    rewards = [(rollout.recorded.reward if rollout.recorded else None, place) for place, rollout in enumerate(group)]
    known = sorted((reward, place) for reward, place in rewards if reward is not None)
    ordered = [group[place] for _, place in known] if len(known) > 1 else list(group)
    return [ordered[0], ordered[-1]] if len(ordered) > 1 else ordered


# --- one attack ----------------------------------------------------------------------------------------------------


def _run(attack: Attack, bench: Bench, scenes: Sequence[Scene], kinds: dict[str, str]) -> tuple[list[_Judged], str]:
    """Build an attack from each scene and judge what it earned; nothing, and why, when it does not apply."""
    built: dict[tuple[str, str], tuple[Scene, Trial]] = {}
    for scene in scenes:
        for trial in attack.build(scene):
            built.setdefault((scene.rollout.group, repr(trial.completion)), (scene, trial))
    if not built:
        return [], str(sentence("it cannot be built from these samples"))
    concerned = [
        (scene, trial) for scene, trial in built.values()
        if any(trial.limit_for(rule, kinds.get(rule.name, "")) is not None for rule in bench.mix.rules)
    ]  # fmt: skip
    if not concerned:
        return [], str(sentence("it concerns no rule of this mix"))
    bench.learn(
        (scene.sample, completion)
        for scene, trial in concerned for completion in (trial.completion, *_references(scene, trial, bench.mix, kinds))
    )  # fmt: skip
    return [_judge(scene, trial, bench, kinds) for scene, trial in concerned], ""


def _references(scene: Scene, trial: Trial, mix: Mix, kinds: dict[str, str]) -> list[Json]:
    limits = [(trial.limit_for(rule, kinds.get(rule.name, "")), rule) for rule in mix.rules]
    settled = [number_of(limit, rule, scene) for limit, rule in limits if limit is not None]
    return [limit.completion for limit in settled if isinstance(limit, AsMuchAs)]


def _judge(scene: Scene, trial: Trial, bench: Bench, kinds: dict[str, str]) -> _Judged:
    earned = bench.earned(scene.sample, trial.completion)
    expected, paid_by = 0.0, {}
    for rule in bench.mix.rules:
        paid, weight = earned.rules[rule.name], float(rule.weight)
        bound = _bound(scene, trial, rule, bench, kinds)
        if paid is None:
            continue
        if bound is not None and paid > bound + _TOLERANCE:
            paid_by[rule.name] = [paid, bound]
            expected += weight * bound
        else:
            expected += weight * paid
    return _Judged(scene, trial, earned, expected, paid_by if earned.reward is not None else {})


def _bound(scene: Scene, trial: Trial, rule: Rule, bench: Bench, kinds: dict[str, str]) -> float | None:
    """What the rule may pay; None when it is not concerned, or when it gives its reference no reward."""
    limit = trial.limit_for(rule, kinds.get(rule.name, ""))
    if limit is None:
        return None
    settled = number_of(limit, rule, scene)
    return bench.earned(scene.sample, settled.completion).rules[rule.name] if isinstance(settled, AsMuchAs) else settled


def _report(attack: Attack, judged: Sequence[_Judged], bench: Bench) -> JsonObject:
    """The attack's line: its worst completion speaks for it."""
    scored = [one for one in judged if one.earned.reward is not None]
    leaks = sorted((one for one in scored if one.paid_by), key=lambda one: one.expected - (one.earned.reward or 0.0))
    worst = leaks[0] if leaks else max(scored, key=lambda one: one.earned.reward or 0.0, default=None)
    row: JsonObject = {
        "name": attack.name, "completions": len(judged), "unscored": len(judged) - len(scored),
        "earned": worst.earned.reward if worst else None, "expected_max": worst.expected if worst else None,
        "leaks": len(leaks),
    }  # fmt: skip
    if len(scored) < len(judged):
        row["unscored_why"] = next(one.earned.why for one in judged if one.earned.reward is None)
    if leaks:
        row |= {"advice": str(attack.advice), "examples": [_example(one, bench) for one in leaks[:_MOST_EXAMPLES]]}
    return row


def _example(one: _Judged, bench: Bench) -> JsonObject:
    scene = one.scene
    text = last_text(one.trial.completion)
    return {
        "line": scene.rollout.line, "id": scene.rollout.id, "group": scene.rollout.group, "truth": scene.truth,
        "completion": text[:_SHOWN_CHARACTERS] if text else one.trial.completion, "earned": one.earned.reward,
        "expected_max": one.expected, "paid_by": one.paid_by, "rules": one.earned.rules,
        "control": _control(scene, scene.spell(scene.truth), bench) if scene.truth else None,
        "wrong": _control(scene, scene.wrong_completion, bench),
    }  # fmt: skip


def _control(scene: Scene, completion: str, bench: Bench) -> JsonObject | None:
    """What an honest completion of the same sample earns, to stand beside the attack."""
    earned = bench.find(scene.sample, completion)
    return None if earned is None else {"completion": completion, "earned": earned.reward, "rules": earned.rules}


# --- collusion -----------------------------------------------------------------------------------------------------


def _collusion(bench: Bench, scenes: Sequence[Scene]) -> JsonObject | None:
    """All wrong and short, one right and long: under a reward over the group the wrong ones must not gain."""
    rules = [rule for rule in bench.mix.rules if rule.preset == "length_group"]
    known = [scene for scene in scenes if scene.truth]
    if not rules or not known:
        return None
    groups: list[tuple[Scene, list[Json]]] = [
        (
            scene,
            [scene.wrong_completion, "well " * 10 + scene.wrong_completion, "well " * 90 + scene.spell(scene.truth)],
        )
        for scene in known
    ]
    found = bench.score_groups([(scene.sample, completions) for scene, completions in groups])
    wrong = [earned for group in found for earned in group[:2]]
    paid = [value for earned in wrong if (value := _most_paid(earned, rules)) is not None]
    row: JsonObject = {
        "name": "group_collusion", "completions": len(wrong), "unscored": len(wrong) - len(paid),
        "earned": max(paid, default=None), "expected_max": 0.0, "leaks": sum(value > _TOLERANCE for value in paid),
    }  # fmt: skip
    if len(paid) < len(wrong):
        row["unscored_why"] = next((earned.why for earned in wrong if _most_paid(earned, rules) is None), "")
    return row


def _most_paid(earned: Earned, rules: Sequence[Rule]) -> float | None:
    """The most that one of the rules gave; None where none gave a number."""
    return max((value for rule in rules if (value := earned.rules[rule.name]) is not None), default=None)
