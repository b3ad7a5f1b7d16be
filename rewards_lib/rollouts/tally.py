"""What a run of scoring counts: scored, abstained, failed, and the failures by cause.

Invariant: adding the tallies of the chunks in order gives the same figures whatever the number of workers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from rewards_lib.contract import JsonObject

_MOST_CAUSES = 100
_DIGITS = re.compile(r"\d+")


@dataclass(slots=True)
class Cause:
    """Rollouts that failed for the same reason."""

    count: int
    line: int
    """The line of the first of them."""
    why: str
    """Its sentence."""

    def to_json(self) -> JsonObject:
        """The cause as the command line prints it."""
        return {"count": self.count, "line": self.line, "why": self.why}


@dataclass(slots=True)
class Tally:
    """Counts over rollouts."""

    rollouts: int = 0
    scored: int = 0
    abstained: int = 0
    """Every rule abstained: no reward, and no failure."""
    failed: int = 0
    total: float = 0.0
    """The sum of the rewards."""
    causes: dict[str, Cause] = field(default_factory=dict)
    """By the reason with its numbers left out, so that "item 3" and "item 4" are one cause."""

    def count(self, reward: float | None, *, line: int, error: str) -> None:
        """Count one rollout."""
        self.rollouts += 1
        if reward is not None:
            self.scored += 1
            self.total += reward
        elif not error:
            self.abstained += 1
        else:
            self.failed += 1
            self._add_cause(Cause(1, line, error))

    def add(self, other: Tally) -> None:
        """Add the counts of the chunk that comes next."""
        self.rollouts += other.rollouts
        self.scored += other.scored
        self.abstained += other.abstained
        self.failed += other.failed
        self.total += other.total
        for cause in other.causes.values():
            self._add_cause(cause)

    def _add_cause(self, cause: Cause) -> None:
        key = _DIGITS.sub("#", cause.why)
        if key in self.causes:
            self.causes[key].count += cause.count
        elif len(self.causes) < _MOST_CAUSES:
            self.causes[key] = Cause(cause.count, cause.line, cause.why)

    @property
    def single_cause(self) -> Cause | None:
        """The one reason for which every rollout so far failed; None when something worked or reasons differ."""
        if self.failed and self.failed == self.rollouts and len(self.causes) == 1:
            return next(iter(self.causes.values()))
        return None

    def to_json(self) -> JsonObject:
        """Write the tally; ``from_json`` reads it back."""
        return {
            "rollouts": self.rollouts, "scored": self.scored, "abstained": self.abstained, "failed": self.failed,
            "total": self.total, "causes": [cause.to_json() for cause in self.causes.values()],
        }  # fmt: skip

    @classmethod
    def from_json(cls, row: JsonObject) -> Tally:
        """Read what ``to_json`` wrote."""
        tally = cls(row["rollouts"], row["scored"], row["abstained"], row["failed"], row["total"])
        for cause in row["causes"]:
            tally._add_cause(Cause(cause["count"], cause["line"], cause["why"]))
        return tally
