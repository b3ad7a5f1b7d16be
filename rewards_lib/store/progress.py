"""How far the exercises of the Practice page came. What was written for one is its draft, of the kind ``exercise``.

Invariant: what was once solved stays solved, and a worse try takes nothing away.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from rewards_lib.contract import JsonObject
from rewards_lib.store.store import Store, utc_now


@dataclass(frozen=True, slots=True)
class ExerciseProgress:
    """One exercise."""

    tries: int = 0
    """How often its checks were run."""
    best: int = 0
    """The most checks that passed in one try."""
    solved_at: datetime | None = None
    """When all of them passed for the first time, UTC."""
    solution_seen: bool = False
    """Whether the solution was looked at before that."""
    recalled: float = 0.0
    """The largest share of hidden tokens that was written rightly in one round from memory, 0 to 1."""


class Progress:
    """The progress of all exercises in a store. Methods raise StoreError when the database fails."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def load(self) -> dict[str, ExerciseProgress]:
        """Read the progress of every exercise that was tried, by its name."""
        return {item.id: _decode(item.content) for item in self._store.list_items("exercise")}

    def of(self, name: str) -> ExerciseProgress:
        """Read the progress of one exercise; the beginning when it was never tried."""
        item = self._store.find_item("exercise", name)
        return ExerciseProgress() if item is None else _decode(item.content)

    def note_try(self, name: str, *, passed: int, checks: int) -> ExerciseProgress:
        """Count a try in which so many of the checks passed."""

        def tried(before: ExerciseProgress) -> ExerciseProgress:
            solved_at = before.solved_at or (utc_now() if passed == checks else None)
            return replace(before, tries=before.tries + 1, best=max(before.best, passed), solved_at=solved_at)

        return self._change(name, tried)

    def note_solution_seen(self, name: str) -> ExerciseProgress:
        """Note that the solution was shown; after the exercise was solved that changes nothing."""
        return self._change(name, lambda before: before if before.solved_at else replace(before, solution_seen=True))

    def note_recall(self, name: str, share: float) -> ExerciseProgress:
        """Note a round from memory in which that share of the hidden tokens was right."""
        return self._change(name, lambda before: replace(before, recalled=max(before.recalled, share)))

    def _change(self, name: str, change: Callable[[ExerciseProgress], ExerciseProgress]) -> ExerciseProgress:
        """Go on from what stands there in one step: two tabs of one visitor take nothing from each other."""

        def changed(content: JsonObject | None) -> JsonObject:
            return _encode(change(ExerciseProgress() if content is None else _decode(content)))

        return _decode(self._store.change_item("exercise", name, changed).content)


def _encode(progress: ExerciseProgress) -> JsonObject:
    return {
        "tries": progress.tries, "best": progress.best, "solution_seen": progress.solution_seen,
        "recalled": progress.recalled, "solved_at": progress.solved_at.isoformat() if progress.solved_at else None,
    }  # fmt: skip


def _decode(content: JsonObject) -> ExerciseProgress:
    solved_at = content.get("solved_at")
    return ExerciseProgress(
        tries=int(content.get("tries", 0)), best=int(content.get("best", 0)),
        solved_at=datetime.fromisoformat(solved_at) if solved_at else None,
        solution_seen=bool(content.get("solution_seen", False)), recalled=float(content.get("recalled", 0.0)),
    )  # fmt: skip
