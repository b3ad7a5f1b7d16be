"""What changed between two versions: code, requirements, hosts, limits, rules, parameters, weights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import unified_diff
from typing import Any, Literal

from rewards_lib.contract import Json, JsonObject, Sentence, sentence
from rewards_lib.publishing.freezing import FUNCTIONS
from rewards_lib.strict_json import write_json

TEXTS = ("source", "requirements")
"""Fields that are compared line by line."""
IGNORED = ("version",)
"""How a frozen function was called when the mix was published says nothing about what it computes."""


@dataclass(frozen=True, slots=True)
class Change:
    """One difference: where, from what, to what."""

    kind: Literal["added", "removed", "changed"]
    path: str
    """``source``, ``rules.accuracy.weight``, ``rules.format``, ``functions.custom.source``..."""
    old: Json = None
    new: Json = None

    @property
    def told(self) -> Sentence:
        """The change in one sentence."""
        if self.path.endswith(TEXTS) and isinstance(self.old, str) and isinstance(self.new, str):
            lines = self.diff
            return sentence(
                "{path}: {added} lines added, {removed} removed", path=self.path,
                added=sum(line.startswith("+") for line in lines), removed=sum(line.startswith("-") for line in lines),
            )  # fmt: skip
        if self.kind == "added":
            return sentence("{path} added: {new}", path=self.path, new=_short(self.new))
        if self.kind == "removed":
            return sentence("{path} removed: {old}", path=self.path, old=_short(self.old))
        return sentence("{path}: {old} to {new}", path=self.path, old=_short(self.old), new=_short(self.new))

    @property
    def diff(self) -> list[str]:
        """The changed lines of a text with ``+`` and ``-`` before them; empty for anything but a text."""
        if not (isinstance(self.old, str) and isinstance(self.new, str)):
            return []
        return list(unified_diff(self.old.splitlines(), self.new.splitlines(), lineterm="", n=2))[2:]

    def to_json(self) -> JsonObject:
        """The change as the command line prints it."""
        row: JsonObject = {"kind": self.kind, "path": self.path, "old": self.old, "new": self.new}
        return row | ({"diff": self.diff} if self.diff else {})


def changes_between(old: JsonObject, new: JsonObject) -> tuple[Change, ...]:
    """List what differs between the contents of two versions or drafts of the same kind.

    Rules and functions are told apart by name, so that moving a rule is no change of it; the order of the rules is
    told on its own.
    """
    changes = list(_compare("", _by_name(old), _by_name(new)))
    before, after = _order(old), _order(new)
    if before != after and sorted(before) == sorted(after):
        changes.append(Change("changed", "rules", before, after))
    return tuple(changes)


def _order(content: JsonObject) -> list[str]:
    return [str(rule.get("name")) for rule in content.get("rules", ())]


def _by_name(content: JsonObject) -> JsonObject:
    row = {key: value for key, value in content.items() if key not in ("rules", FUNCTIONS)}
    if "rules" in content:
        row["rules"] = {str(rule.get("name")): rule for rule in content["rules"]}
    if content.get(FUNCTIONS):
        row[FUNCTIONS] = {
            name: {key: value for key, value in function.items() if key not in IGNORED}
            for name, function in content[FUNCTIONS].items()
        }
    return row


def _compare(path: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    for key in [*old, *(key for key in new if key not in old)]:
        where = f"{path}.{key}" if path else str(key)
        if key not in new:
            if old[key] not in ("", [], {}, None):
                yield Change("removed", where, old[key], None)
        elif key not in old:
            if new[key] not in ("", [], {}, None):
                yield Change("added", where, None, new[key])
        elif isinstance(old[key], Mapping) and isinstance(new[key], Mapping):
            yield from _compare(where, old[key], new[key])
        elif old[key] != new[key]:
            yield Change("changed", where, old[key], new[key])


def _short(value: Json) -> str:
    text = value if isinstance(value, str) else write_json(value)
    return text if len(text) <= 80 else text[:80] + "…"
