"""What a job is: what was asked for, how far it came, and what came of it.

Invariant: a request holds everything that the work depends on, the code of its functions included, so that a resumed
job goes on with what it began with.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, TypeAlias

from rewards_lib.contract import JsonObject, Sentence, sentence
from rewards_lib.errors import RewardConsoleError
from rewards_lib.function_sources import secret_or_none
from rewards_lib.mix import Mix, mix_from_json, mix_to_json
from rewards_lib.rollouts import ColumnMap
from rewards_lib.rollouts.worker_process import pack_functions, unpack_functions
from rewards_lib.scoring import ResolvedFunction

JobKind: TypeAlias = Literal["score", "read", "attack"]
"""Score a file under a mix, read the rewards that it holds, or attack a mix with its rollouts."""
JobState: TypeAlias = Literal["running", "done", "failed", "cancelled", "stopped"]
"""``stopped``: its process ended before the work did; ``cancelled``: somebody asked for it. Both can be resumed."""
MANY_BYTES = 2_000_000
"""From this size of a file on, processes of their own pay for their start."""


@dataclass(frozen=True, slots=True)
class JobRequest:
    """What is to be done."""

    kind: JobKind
    source: Path
    """The file of rollouts."""
    title: str
    """How the file is called on screen."""
    mix: Mix | None = None
    """None where the rewards of the file itself are read."""
    mix_label: str = ""
    """For example ``math · draft 7f3a``."""
    functions: Mapping[str, ResolvedFunction] = field(default_factory=dict)
    """By the rule's ``function``."""
    format_name: str | None = None
    columns: ColumnMap | None = None
    workers: int = 1
    keep_going: bool = False
    samples: int = 16
    """Groups that an attack takes."""
    of: str = ""
    """The job whose result is attacked."""

    def to_json(self) -> JsonObject:
        """Write the request; ``from_json`` reads it."""
        return {
            "kind": self.kind, "source": str(self.source), "title": self.title,
            "mix": mix_to_json(self.mix) if self.mix else None, "mix_label": self.mix_label,
            "functions": pack_functions(_without_secrets(self.functions)), "format_name": self.format_name,
            "columns": asdict(self.columns) if self.columns else None, "workers": self.workers,
            "keep_going": self.keep_going, "samples": self.samples, "of": self.of,
        }  # fmt: skip

    @classmethod
    def from_json(cls, row: JsonObject) -> JobRequest:
        """Read what ``to_json`` wrote."""
        return cls(
            row["kind"], Path(row["source"]), row["title"], mix_from_json(row["mix"]) if row["mix"] else None,
            row["mix_label"], _with_secrets(unpack_functions(row["functions"])), row["format_name"],
            ColumnMap(**row["columns"]) if row["columns"] else None, row["workers"], row["keep_going"],
            row["samples"], row["of"],
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Job:
    """A job as it stands at this moment."""

    id: str
    request: JobRequest
    state: JobState
    folder: Path
    """Where its files are."""
    done: int = 0
    """Rollouts scored, those of earlier runs included."""
    total: int = 0
    """Rollouts in all; 0 while they are still being counted."""
    unscored: int = 0
    started_done: int = 0
    """Rollouts that were scored already when this run began."""
    started_at: datetime | None = None
    finished_at: datetime | None = None
    error: Sentence | None = None
    """Why it failed, and what to do."""
    is_one_cause: bool = False
    """It paused because the first rollouts all failed for one cause; it can go on all the same."""
    result: JsonObject = field(default_factory=dict)
    """What the command line prints for the same work, once it is done."""

    @property
    def scored_path(self) -> Path:
        """The scored file, also while it grows."""
        return self.folder / "scored.jsonl"

    def rate(self, now: datetime) -> float | None:
        """Rollouts a second of this run; None before the first of them."""
        if self.started_at is None or self.done <= self.started_done:
            return None
        seconds = ((self.finished_at or now) - self.started_at).total_seconds()
        return (self.done - self.started_done) / seconds if seconds > 0 else None

    def seconds_left(self, now: datetime) -> float | None:
        """The time that is left at this rate; None while nothing can be said."""
        rate = self.rate(now)
        return (self.total - self.done) / rate if rate else None

    def to_json(self) -> JsonObject:
        """The record as the store keeps it."""
        return {
            "request": self.request.to_json(), "state": self.state, "done": self.done, "total": self.total,
            "unscored": self.unscored, "started_done": self.started_done, "started_at": _text(self.started_at),
            "finished_at": _text(self.finished_at), "error": self.error.to_json() if self.error else None,
            "is_one_cause": self.is_one_cause, "result": self.result,
        }  # fmt: skip

    @classmethod
    def from_json(cls, id_: str, folder: Path, row: JsonObject) -> Job:
        """Read what ``to_json`` wrote. A record of another version that does not fit is a failed job that says so.

        It can be looked at and removed; a single one must not hide all others.
        """
        try:
            return cls._read(id_, folder, row)
        except (RewardConsoleError, AttributeError, LookupError, TypeError, ValueError):
            given = row.get("request")
            known = given if isinstance(given, dict) else {}
            request = JobRequest("read", Path(str(known.get("source", ""))), str(known.get("title", id_)))
            told = sentence("The record of this job was written by another version of the console and cannot be read.")
            return cls(id_, request, "failed", folder, error=told)

    @classmethod
    def _read(cls, id_: str, folder: Path, row: JsonObject) -> Job:
        plain = {key: row[key] for key in ("state", "done", "total", "unscored", "started_done", "result")}
        return cls(
            id=id_, folder=folder, request=JobRequest.from_json(row["request"]), is_one_cause=row["is_one_cause"],
            error=Sentence.from_json(row["error"]) if row["error"] else None,
            started_at=_time(row["started_at"]), finished_at=_time(row["finished_at"]), **plain,
        )  # fmt: skip

    def after(self, event: Mapping[str, Any]) -> Job:
        """The job after a message of its process."""
        known = {key: event[key] for key in ("done", "total", "unscored") if key in event}
        moved = replace(self, **known)
        if "started_done" in event:  # the clock of the rate starts with the first chunk: reading is no scoring
            moved = replace(moved, started_done=event["started_done"], started_at=datetime.now(UTC))
        return moved


def _without_secrets(functions: Mapping[str, ResolvedFunction]) -> dict[str, ResolvedFunction]:
    """The functions with the names of their secrets alone: a request is written to the disk."""
    return {
        name: replace(
            found, source=replace(found.source, secrets=tuple((own, None) for own, _ in found.source.secrets))
        )
        for name, found in functions.items()
    }


def _with_secrets(functions: Mapping[str, ResolvedFunction]) -> dict[str, ResolvedFunction]:
    """The functions with the values that their secrets have now."""
    return {
        name: replace(
            found,
            source=replace(found.source, secrets=tuple((own, secret_or_none(own)) for own, _ in found.source.secrets)),
        )
        for name, found in functions.items()
    }


def _text(when: datetime | None) -> str | None:
    return when.isoformat() if when else None


def _time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
