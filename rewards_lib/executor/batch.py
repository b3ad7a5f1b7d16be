"""Many entries through as few children as it takes: whoever hangs, crashes or dies costs one entry, not the rest.

Invariant: every entry is answered once, in order. An entry is held to blame for the end of a child only when the child
began with it, or was killed at its limit: what came before it in the same child might be the cause otherwise, so it is
tried once more in a child of its own.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

from rewards_lib.contract import sentence
from rewards_lib.executor.gateway import Gateway
from rewards_lib.executor.limits import Limits
from rewards_lib.executor.redaction import Redaction
from rewards_lib.executor.run_channel import RunChannel, RunEnd
from rewards_lib.executor.stopping import StopSwitch
from rewards_lib.executor.zygotes import WorkerUnavailableError, ZygoteProcess

_MOST_LOSSES = 3
_MANY_ENTRIES = 16
_PAUSE_SECONDS = 0.002

Lease = Callable[[], AbstractContextManager[ZygoteProcess]]


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a batch."""

    frame: bytes
    """What the child reads."""
    seconds: float
    """Its time limit."""
    size: int = 1
    """Completions in it."""


class BatchJob(Protocol):
    """What is done with the entries: what the child is asked for, and what becomes of its answers."""

    kind: str
    """The task of the child."""
    request: Mapping[str, Any]
    """What the child needs to know before the first entry."""
    preload: tuple[str, ...]
    """Modules that the zygote imports first."""
    limits: Limits
    """Of a child; the wall limit is for getting ready."""
    stop: StopSwitch
    """Ends the batch: what is left is missing then."""
    redaction: Redaction
    """What is kept out of everything the child says."""

    def gateway(self) -> Gateway | None:
        """The network of one child; None when it has none."""
        ...

    def ready(self, row: Mapping[str, Any]) -> None:
        """Take what the child says before its first entry."""
        ...

    def answered(self, entry: Entry, row: Mapping[str, Any], logs: str) -> None:
        """Take the answer of the next entry."""
        ...

    def missing(self, entry: Entry, end: RunEnd, logs: str) -> None:
        """The next entry has none: the child that held it ended so."""
        ...

    def broken(self, entry: Entry, row: Mapping[str, Any] | None, end: RunEnd, logs: str) -> None:
        """The next entry has none, for no child gets ready: what it said about it, if anything, and how it ended."""
        ...

    def child_over(self, row: Mapping[str, Any], zygote: ZygoteProcess) -> None:
        """Take what a child says at its end; its gateway is closed by now."""
        ...


class Batch:
    """One job over its entries."""

    def __init__(self, job: BatchJob, entries: Iterable[Entry]) -> None:
        self._job = job
        self._source = iter(entries)
        self._waiting: deque[Entry] = deque()
        """Made, handed over perhaps, and not answered."""
        self._count = 0
        """Entries that are done with."""
        self._was_ready = False

    def run(self, lease: Lease) -> None:
        """Work through all entries, starting a new child behind each one that ended the last."""
        losses = 0
        while self._has_more():
            if self._job.stop.is_pressed:
                self._job.missing(self._next_done(), RunEnd(killed_for="stopped"), "")
                continue
            before = self._count
            try:
                with lease() as zygote:
                    zygote.keep_warm(self._job.preload)
                    self._run_child(zygote)
            except WorkerUnavailableError:
                losses = losses + 1 if self._count == before else 1
                if losses >= _MOST_LOSSES:
                    self._job.missing(self._next_done(), RunEnd(worker_gone=True), "")
                    losses = 0

    def _run_child(self, zygote: ZygoteProcess) -> None:
        """Work in one child until it ends; every call but one that loses its zygote gets an entry done."""
        first, child = self._count, _Child()
        with self._start(zygote) as channel, self._job.stop.ending(channel.stop):
            for row in channel.lines():
                self._take(row, channel, child, is_first=self._count == first)
        end = channel.end
        if end.worker_gone:
            raise WorkerUnavailableError(sentence("the worker is gone"))
        self._job.child_over(child.last_words, zygote)
        logs = channel.printed.take(self._job.limits.output_bytes)
        if end.killed_for == "stopped":
            return
        if not child.is_ready:
            self._take_unready(child, end, logs)
        elif child.took_late or not self._has_more():
            return
        elif end.killed_for is not None or self._count == first:
            self._job.missing(self._next_done(), end, logs)

    def _start(self, zygote: ZygoteProcess) -> RunChannel:
        job, request = self._job, {**self._job.request, "first": self._count}
        return RunChannel(
            zygote, job.kind, request, job.limits, gateway=job.gateway(), entries=self._frames(),
            redaction=job.redaction,
        )  # fmt: skip

    def _take(self, row: Mapping[str, Any], channel: RunChannel, child: _Child, *, is_first: bool) -> None:
        """Accept a line of the child: its index is its word, and only the next one counts."""
        if row.get("ready") and not child.is_ready:
            child.is_ready = self._was_ready = True
            channel.printed_until(_places(row))
            self._job.ready(row)
        elif "broken" in row or "over" in row:
            child.last_words = row
        elif child.is_ready and row.get("index") == self._count and self._waiting:
            if row.get("memory") and not is_first:
                return  # what came before it may have taken the memory
            child.took_late = channel.end.killed_for is not None
            logs = channel.printed_until(_places(row)) if "printed" in row else ""
            entry = self._next_done()
            self._job.answered(entry, row, logs)
            if not self._waiting:  # the next one is still being made, and is not late before it is there
                channel.move_deadline(entry.seconds)
        if child.is_ready:
            channel.pause_seconds = _PAUSE_SECONDS if len(self._waiting) > _MANY_ENTRIES else 0.0
            if self._waiting:
                channel.move_deadline(self._waiting[0].seconds)

    def _take_unready(self, child: _Child, end: RunEnd, logs: str) -> None:
        """No child will get ready when this one did not, unless an earlier one did."""
        if self._was_ready:
            raise WorkerUnavailableError(sentence("the worker did not get ready again"))
        while self._has_more():
            self._job.broken(self._next_done(), child.last_words.get("broken"), end, logs)

    def _next_done(self) -> Entry:
        self._count += 1
        return self._waiting.popleft()

    def _has_more(self) -> bool:
        """Whether an entry is left, making the next one when none is at hand."""
        if not self._waiting:
            entry = next(self._source, None)
            if entry is not None:
                self._waiting.append(entry)
        return bool(self._waiting)

    def _frames(self) -> Iterator[bytes]:
        yield from [entry.frame for entry in self._waiting]
        for entry in self._source:
            self._waiting.append(entry)
            yield entry.frame


@dataclass
class _Child:
    """How far one child came."""

    is_ready: bool = False
    took_late: bool = False
    """Its last answer arrived while it was being killed for being late: nobody else is to blame."""
    last_words: Mapping[str, Any] = field(default_factory=dict)


def _places(row: Mapping[str, Any]) -> list[int]:
    """How far each stream was when a line was written, by the child's own count."""
    places = row.get("printed")
    return [place for place in places if isinstance(place, int)][:2] if isinstance(places, list) else []
