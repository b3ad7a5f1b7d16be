"""Metrics that belong together: a reward function's three, the clip fractions, the lengths, a custom metric's band.

Invariant: every series is a member of exactly one family; none is dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from rewards_lib.contract import JsonObject
from rewards_lib.training_metrics.names import canonical_name, canonical_names, split_name

_FUNCTION = re.compile(r"reward/functions/(?P<f>.+)/(?:rewards\((?P<part>mean|bon|won)\)|(?P<std>std))")
_LENGTH = re.compile(r"generation/(?P<kind>\w+_length)\.(?P<part>mean|max|min)")
_TRUNCATION = re.compile(r"generation/(?P<part>\w+)\.clipfrac")
_POLICY_CLIP = re.compile(r"actor/(?P<part>pg_clipfrac(?:_high|_low|2)?)")
_BAND = re.compile(r"(?P<key>.+?)(?:\((?P<a>max|min|mean)\)|[/._@](?P<b>max|min|mean))")


@dataclass(frozen=True, slots=True)
class Family:
    """A few series drawn on one chart."""

    name: str
    """Unique in a report; the test side of a train family has ``test/`` before its name."""
    kind: str
    """``final reward``, ``reward``, ``policy clipping``, ``truncation``, ``length``, ``custom`` or ``other``."""
    members: Mapping[str, str]
    """What a series is in the family (``mean``, ``bon``, ``won``, ``pg_clipfrac2``, ...) to the series' own name."""
    pair: str | None = None
    """The family of the same name of the other split."""

    def to_json(self) -> JsonObject:
        """The family as the command line prints it."""
        return {"name": self.name, "kind": self.kind, "members": dict(self.members), "pair": self.pair}


def group_families(names: Iterable[str]) -> tuple[Family, ...]:
    """Group series by what they mean; the known kinds first, then custom metrics, then the rest by prefix.

    >>> [family.name for family in group_families(["train/reward", "train/custom/a", "train/custom/b"])]
    ['final reward', 'train/custom']
    """
    names = list(names)
    speaking = set(canonical_names(names).values())
    found: dict[tuple[str, str], dict[str, str]] = {}
    left = []
    for name in names:
        place = _known_place(name) if name in speaking else None
        if place is None:
            left.append(name)
        else:
            family, kind, part = place
            found.setdefault((family, kind), {})[part] = name
    bands, left = _bands(left)
    families = [Family(name, kind, members) for (name, kind), members in found.items()]
    families.sort(
        key=lambda family: (
            _ORDER.index(family.kind),
            family.name.removeprefix("test/"),
            family.name.startswith("test/"),
        )
    )
    return _paired([*families, *bands, *_by_prefix(left, {family.name for family in (*families, *bands)})])


_NO_PREFIX = "no prefix"
_ORDER = ("final reward", "reward", "policy clipping", "truncation", "length")


def _known_place(name: str) -> tuple[str, str, str] | None:
    """Family, kind and part of a series whose meaning is known and has a family of its own."""
    canonical = canonical_name(name)
    if canonical is None:
        return None
    split, tail = split_name(canonical)
    before = "test/" if split == "test" else ""
    if tail == "reward/final_rewards":
        return f"{before}final reward", "final reward", "mean"
    if found := _FUNCTION.fullmatch(tail):
        return f"{before}reward:{found['f']}", "reward", found["part"] or "std"
    if found := _POLICY_CLIP.fullmatch(tail):
        return f"{before}policy clipping", "policy clipping", found["part"]
    if found := _TRUNCATION.fullmatch(tail):
        return f"{before}truncation", "truncation", found["part"]
    if found := _LENGTH.fullmatch(tail):
        return f"{before}length:{found['kind']}", "length", found["part"]
    return None


def _bands(names: list[str]) -> tuple[list[Family], list[str]]:
    """Custom metrics of which at least two of max, min and mean are there, and the names that are left."""
    found: dict[str, dict[str, str]] = {}
    for name in names:
        if match := _BAND.fullmatch(name):
            found.setdefault(match["key"], {}).setdefault(match["a"] or match["b"], name)
    bands = [
        Family(key, "custom", {part: members[part] for part in ("mean", "min", "max") if part in members})
        for key, members in sorted(found.items())
        if len(members) > 1
    ]
    taken = {name for band in bands for name in band.members.values()}
    return bands, [name for name in names if name not in taken]


def _by_prefix(names: list[str], taken: set[str]) -> list[Family]:
    """The rest, one family for each prefix, alphabetically."""
    found: dict[str | None, dict[str, str]] = {}
    for name in sorted(names):
        prefix, slash, last = name.rpartition("/")
        found.setdefault(prefix if slash else None, {})[last] = name
    families = []
    for place, members in sorted(found.items(), key=lambda item: (_prefix_name(item[0]), item[0] is not None)):
        name = _prefix_name(place)
        families.append(Family(f"{name} (rest)" if name in taken else name, "other", members))
        taken = taken | {families[-1].name}
    return families


def _prefix_name(prefix: str | None) -> str:
    if prefix is None:
        return _NO_PREFIX
    return prefix if prefix.strip("/") else f"{prefix}/"


def _paired(families: list[Family]) -> tuple[Family, ...]:
    by_name = {family.name for family in families}
    return tuple(
        replace(family, pair=next((other for other in _twins(family.name) if other in by_name), None))
        for family in families
    )


def _twins(name: str) -> tuple[str, ...]:
    """What the same family of the other split may be called."""
    if name.startswith("train/"):
        return ("test/" + name.removeprefix("train/"), "eval/" + name.removeprefix("train/"))
    if name.startswith(("test/", "eval/")):
        rest = name.partition("/")[2]
        return (rest, f"train/{rest}")
    return (f"test/{name}",)
