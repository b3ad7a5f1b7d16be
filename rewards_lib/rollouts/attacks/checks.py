"""Checks of a mix on real groups: the same again, in another order, alone; how fast; and whether labels agree."""

from __future__ import annotations

import time
from collections.abc import Sequence

from rewards_lib.contract import Json, JsonObject, Sample, sentence
from rewards_lib.rollouts.attacks.bench import Bench, Earned
from rewards_lib.rollouts.rollout import Rollout, payload_of

_MOST_LISTED = 20
_TOLERANCE = 1e-9
_COMPARES = sentence("a preset compares the completions of a group")


def run_checks(bench: Bench, groups: Sequence[Sequence[Rollout]], *, repeats: int) -> list[JsonObject]:
    """Run every check over groups of rollouts; each says ``holds`` and lists where it does not.

    ``repeats`` is how often the determinism check scores again.
    """
    calls: list[tuple[Sample, list[Json]]] = [
        (payload_of(group).sample, [rollout.completion for rollout in group]) for group in groups
    ]
    started = time.perf_counter()
    first = bench.score_groups(calls)
    seconds = time.perf_counter() - started
    count = sum(len(group) for group in groups)
    again = [bench.score_apart(calls) for _ in range(repeats)]
    backwards = [found[::-1] for found in bench.score_groups([(sample, rows[::-1]) for sample, rows in calls])]
    checks = [
        _same("deterministic", groups, first, *again) | _spread([first, *again]),
        _same("independent_of_order", groups, first, backwards),
    ]
    if bench.compares_completions:
        checks.append({"name": "independent_of_others", "skipped": str(_COMPARES)})
    else:
        single = bench.score_groups([(sample, [row]) for sample, rows in calls for row in rows])
        flat = iter(single)
        alone = [[next(flat)[0] for _ in group] for group in groups]
        checks.append(_same("independent_of_others", groups, first, alone))
    unscored = [
        _row(rollout) | {"why": earned.why}
        for group, found in zip(groups, first, strict=True)
        for rollout, earned in zip(group, found, strict=True) if earned.reward is None
    ]  # fmt: skip
    checks.append(_check("scored", unscored, rollouts=count))
    checks.append({"name": "speed", "ms_per_completion": round(seconds * 1000 / max(count, 1), 3), "rollouts": count})
    labels = _labels(groups, first)
    return [*checks, labels] if labels is not None else checks


def _same(
    name: str, groups: Sequence[Sequence[Rollout]], first: list[list[Earned]], *runs: list[list[Earned]]
) -> JsonObject:
    """Whether every run gave every rollout the reward of the first."""
    different = []
    for run in runs:
        for group, found, other in zip(groups, first, run, strict=True):
            for rollout, a, b in zip(group, found, other, strict=True):
                if not _equal(a.reward, b.reward):
                    different.append(_row(rollout) | {"rewards": [a.reward, b.reward]})
    return _check(name, different, runs=len(runs) + 1)


def _spread(runs: Sequence[list[list[Earned]]]) -> JsonObject:
    """How far a rollout's rewards lie apart over the runs, on average, and the share that changes sides between them.

    A judge is rarely the same twice; a small spread that changes no side is no harm. A side is half of the largest.
    """
    rewards = [[one.reward for group in run for one in group] for run in runs]
    known = [[value for value in own if value is not None] for own in zip(*rewards, strict=True)]
    known = [own for own in known if own]
    if not known:
        return {"spread": None, "changed_sides": None}
    half = max(max(own) for own in known) / 2
    changed = sum(min(own) < half <= max(own) for own in known) / len(known) if half > 0 else 0.0
    return {"spread": sum(max(own) - min(own) for own in known) / len(known), "changed_sides": changed}


def _labels(groups: Sequence[Sequence[Rollout]], first: list[list[Earned]]) -> JsonObject | None:
    """Compare with the rewards that the file holds: right is half of the largest on either side."""
    pairs = [
        (rollout, rollout.recorded.reward, earned.reward)
        for group, found in zip(groups, first, strict=True)
        for rollout, earned in zip(group, found, strict=True)
        if rollout.recorded is not None and rollout.recorded.reward is not None and earned.reward is not None
    ]  # fmt: skip
    if not pairs:
        return None
    theirs, ours = max(label for _, label, _ in pairs) / 2, max(reward for *_, reward in pairs) / 2
    if theirs <= 0 or ours <= 0:
        return None
    rows = [
        (_row(r) | {"label": label, "reward": reward}, label >= theirs, reward >= ours) for r, label, reward in pairs
    ]
    false_positives = [row for row, is_right, is_paid in rows if is_paid and not is_right]
    false_negatives = [row for row, is_right, is_paid in rows if is_right and not is_paid]
    return {
        "name": "labels", "rollouts": len(pairs),
        "agreement": 1 - (len(false_positives) + len(false_negatives)) / len(pairs),
        "false_positives": false_positives[:_MOST_LISTED], "false_negatives": false_negatives[:_MOST_LISTED],
    }  # fmt: skip


def _check(name: str, failed: list[JsonObject], **more: int) -> JsonObject:
    return {"name": name, "holds": not failed, "failed": len(failed), "examples": failed[:_MOST_LISTED], **more}


def _row(rollout: Rollout) -> JsonObject:
    return {"line": rollout.line, "id": rollout.id, "group": rollout.group}


def _equal(a: float | None, b: float | None) -> bool:
    return a == b or (a is not None and b is not None and abs(a - b) <= _TOLERANCE)
