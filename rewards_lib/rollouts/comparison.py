"""The same rollouts under two rewards: what changed, whose rank flipped, and which rule did it.

Invariant: rollouts are matched by their id (their line where they have none); one that only one file holds is counted,
never compared. Rank figures look inside groups, because advantages do.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rewards_lib.contract import JsonObject
from rewards_lib.errors import InputError
from rewards_lib.rollouts.group_statistics import EQUAL_WITHIN, pearson
from rewards_lib.rollouts.rank_changes import rank_changes
from rewards_lib.rollouts.rollout import BadRow, Recorded, Rollout

MOST_EXAMPLES = 20
_MOST_GROUPS = 20
_SINGLE_PRECISION = 2.0**-23
"""How far a number may be off, in parts of itself, once it was kept in 32 bits, as trainers keep rewards."""
_NO_RANKS: JsonObject = {"pearson": None, "rank_flips": 0, "groups_with_flips": 0, "kendall_tau": None}
"""Of files that share no rollout with two rewards."""


@dataclass(frozen=True, slots=True)
class _Scored:
    """What comparing needs of a rollout."""

    line: int
    group: str
    reward: float | None
    rules: Mapping[str, float | None]
    error: str
    """Why there is no reward, where the file says so."""


@dataclass(frozen=True, slots=True)
class _Pair:
    id: str
    a: _Scored
    b: _Scored

    @property
    def change(self) -> float | None:
        """B minus A; None unless both have a reward."""
        return None if self.a.reward is None or self.b.reward is None else self.b.reward - self.a.reward

    @property
    def differs(self) -> bool:
        """Whether the rewards are not the same, one of them missing included."""
        return not _are_equal(self.a.reward, self.b.reward)


def compare(
    a: Iterable[Rollout | BadRow], b: Iterable[Rollout | BadRow], *, most_examples: int = MOST_EXAMPLES
) -> JsonObject:
    """Compare two files with rewards; the result is what ``compare`` prints.

    A reward that one side keeps in 32 bits equals the other's. Raises InputError when the files share no rollout.
    """
    pairs, only_a, only_b = _matched(a, b)
    if not pairs:
        raise InputError(
            "The files share no rollout.", remedy="Score the same rollouts under both mixes; they are matched by id."
        )
    differing = [pair for pair in pairs if pair.differs]
    changed = [pair for pair in differing if pair.change is not None]
    groups: dict[str, list[_Pair]] = {}
    for pair in pairs:
        if pair.change is not None:
            groups.setdefault(pair.a.group, []).append(pair)
    both = [pair for found in groups.values() for pair in found]
    return {
        "status": "success",
        "rollouts": len(pairs), "groups": len(groups), "only_in_a": only_a, "only_in_b": only_b,
        "unchanged": len(both) - len(changed), "changed": len(changed),
        "raised": sum(pair.change > 0 for pair in changed if pair.change is not None),
        "lowered": sum(pair.change < 0 for pair in changed if pair.change is not None),
        "newly_unscored": sum(pair.b.reward is None for pair in differing),
        "newly_scored": sum(pair.a.reward is None for pair in differing),
        "unscored_in_both": sum(pair.a.reward is None and pair.b.reward is None for pair in pairs),
        "mean": {"a": _mean([pair.a.reward for pair in both]), "b": _mean([pair.b.reward for pair in both])},
        **(_ranks(groups) if groups else _NO_RANKS),
        **_group_changes(groups),
        "rules": _rule_changes(pairs),
        "examples": [_example(pair) for pair in _largest(differing)[:most_examples]],
    }  # fmt: skip


def _matched(a: Iterable[Rollout | BadRow], b: Iterable[Rollout | BadRow]) -> tuple[list[_Pair], int, int]:
    first = dict(_by_id(a))
    pairs, only_b = [], 0
    for key, scored in _by_id(b):
        other = first.pop(key, None)
        if other is None:
            only_b += 1
        else:
            pairs.append(_Pair(key[0], other, scored))
    return sorted(pairs, key=lambda pair: pair.a.line), len(first), only_b


def _by_id(rollouts: Iterable[Rollout | BadRow]) -> Iterator[tuple[tuple[str, int], _Scored]]:
    """An id may stand for a sample and occur once for each of its completions: then the order tells them apart."""
    seen: Counter[str] = Counter()
    for rollout in rollouts:
        if isinstance(rollout, Rollout):
            seen[rollout.id] += 1
            yield (rollout.id, seen[rollout.id]), _scored(rollout)


def _scored(rollout: Rollout) -> _Scored:
    found = rollout.recorded or Recorded()
    return _Scored(rollout.line, rollout.group, found.reward, dict(found.rules), found.error)


def _are_equal(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=_SINGLE_PRECISION, abs_tol=EQUAL_WITHIN)


def _mean(values: list[float | None]) -> float | None:
    numbers = [value for value in values if value is not None]
    return math.fsum(numbers) / len(numbers) if numbers else None


def _order(one: float, other: float) -> int:
    return 0 if abs(one - other) < EQUAL_WITHIN else 1 if one > other else -1


def _ranks(groups: Mapping[str, list[_Pair]]) -> JsonObject:
    """What became of the order inside groups, and how the two columns go together over all rollouts."""
    import numpy as np

    both = [pair for found in groups.values() for pair in found]
    a, b = (np.array([side.reward or 0.0 for side in sides]) for sides in zip(*((p.a, p.b) for p in both), strict=True))
    group_of = np.repeat(np.arange(len(groups)), [len(found) for found in groups.values()])
    changes = rank_changes(a, b, group_of)
    return {
        "pearson": pearson(a, b), "rank_flips": changes.flips, "groups_with_flips": changes.groups,
        "kendall_tau": changes.kendall_tau,
    }  # fmt: skip


def _group_changes(groups: Mapping[str, list[_Pair]]) -> JsonObject:
    """Groups that lost or gained a signal, and rollouts whose advantage changed its sign."""
    lost: list[str] = []
    gained: list[str] = []
    signs = 0
    for name, found in groups.items():
        a, b = [pair.a.reward or 0.0 for pair in found], [pair.b.reward or 0.0 for pair in found]
        flat_a, flat_b = max(a) - min(a) < EQUAL_WITHIN, max(b) - min(b) < EQUAL_WITHIN
        if flat_a != flat_b:
            (lost if flat_b else gained).append(name)
        mean_a, mean_b = math.fsum(a) / len(a), math.fsum(b) / len(b)
        signs += sum(_order(one, mean_a) * _order(two, mean_b) < 0 for one, two in zip(a, b, strict=True))
    return {
        "advantage_sign_flips": signs,
        "signal_lost": len(lost), "signal_gained": len(gained),
        "groups_that_lost_signal": lost[:_MOST_GROUPS], "groups_that_gained_signal": gained[:_MOST_GROUPS],
    }  # fmt: skip


def _rule_changes(pairs: list[_Pair]) -> JsonObject:
    """How many rollouts each rule judges differently; a rule that one side lacks is named as such."""
    names = dict.fromkeys(name for pair in pairs for name in (*pair.a.rules, *pair.b.rules))
    found: JsonObject = {}
    for name in names:
        in_a, in_b = any(name in pair.a.rules for pair in pairs), any(name in pair.b.rules for pair in pairs)
        if not (in_a and in_b):
            found[name] = {"only_in": "a" if in_a else "b"}
            continue
        moves = [_move(pair, name) for pair in pairs]
        found[name] = {
            "changed": sum(move is not None and move != 0 for move in moves),
            "newly_unscored": sum(_is_new(pair.a.rules, pair.b.rules, name) for pair in pairs),
            "newly_scored": sum(_is_new(pair.b.rules, pair.a.rules, name) for pair in pairs),
        }
    return found


def _move(pair: _Pair, name: str) -> float | None:
    one, other = pair.a.rules.get(name), pair.b.rules.get(name)
    if one is None or other is None:
        return None
    return 0.0 if _are_equal(one, other) else other - one


def _is_new(before: Mapping[str, Any], after: Mapping[str, Any], name: str) -> bool:
    return before.get(name) is not None and after.get(name) is None


def _largest(differing: list[_Pair]) -> list[_Pair]:
    """The largest change first; behind all changes those with a reward on one side alone."""
    return sorted(differing, key=lambda pair: math.inf if pair.change is None else -abs(pair.change))


def _example(pair: _Pair) -> JsonObject:
    names = dict.fromkeys((*pair.a.rules, *pair.b.rules))
    moved = [name for name in names if not _are_equal(pair.a.rules.get(name), pair.b.rules.get(name))]
    missing = next((side for side in (pair.b, pair.a) if side.reward is None), None)
    return {
        "id": pair.id, "line": pair.a.line, "group": pair.a.group, "a": pair.a.reward, "b": pair.b.reward,
        "moved_by": {name: [pair.a.rules.get(name), pair.b.rules.get(name)] for name in moved},
        **({"why_unscored": missing.error} if missing and missing.error else {}),
    }  # fmt: skip
