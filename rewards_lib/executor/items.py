"""Running our own code over items in a killable worker: whoever hangs or dies costs one item, not the rest.

Invariant: there is exactly one ``ItemRun`` for each item, in order; the run resumes behind an item that was killed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any

from rewards_lib.contract import Json, sentence
from rewards_lib.errors import ExecutionError, LimitError
from rewards_lib.executor.limits import Limits
from rewards_lib.executor.results import ItemRun
from rewards_lib.executor.run_channel import RunChannel, RunEnd
from rewards_lib.executor.zygotes import WorkerUnavailableError, ZygoteProcess

_IMPORT_SECONDS = 60.0
_MOST_WORKER_LOSSES = 3
_MANY_ITEMS = 16
_PAUSE_SECONDS = 0.002


@dataclass
class ItemsJob:
    """One call of ``Executor.run_items`` and how far it came."""

    entry: str
    """``package.module:function``."""
    items: Sequence[Json]
    seconds: Sequence[float]
    """The time limit of each item."""
    limits: Limits
    preload: Sequence[str]
    done: list[ItemRun] = field(default_factory=list)

    def run(self, lease: Callable[[], AbstractContextManager[ZygoteProcess]]) -> list[ItemRun]:
        """Call the entry on every item, starting a new child behind each item that was killed or crashed."""
        losses = 0
        while len(self.done) < len(self.items):
            before = len(self.done)
            try:
                with lease() as zygote:
                    zygote.keep_warm([*self.preload, self.entry.partition(":")[0]])
                    self._run_child(zygote)
            except WorkerUnavailableError:
                losses += 1
                if losses >= _MOST_WORKER_LOSSES and len(self.done) == before:
                    self.done.append(ItemRun(None, _worker_died(), 0.0))
        return self.done

    def _run_child(self, zygote: ZygoteProcess) -> None:
        """Run the items that are left in one child; every call but one that loses its zygote makes progress."""
        first = len(self.done)
        payload = {"entry": self.entry, "items": list(self.items[first:]), "first": first}
        budget = 2 * (sum(self.seconds[first:]) + _IMPORT_SECONDS)
        bounds = replace(self.limits, wall_seconds=_IMPORT_SECONDS, cpu_seconds=self.limits.cpu_seconds or budget)
        is_ready = False
        with RunChannel(zygote, "items", payload, bounds) as channel:
            for row in channel.lines():
                is_ready = is_ready or bool(row.get("ready"))
                self._take(row)
                left = len(self.items) - len(self.done)
                channel.pause_seconds = _PAUSE_SECONDS if is_ready and left > _MANY_ITEMS else 0.0
                if is_ready and left:
                    channel.move_deadline(self.seconds[len(self.done)])
        if channel.end.worker_gone:
            raise WorkerUnavailableError(sentence("the worker is gone"))
        ended_well = channel.end.status == 0 and channel.end.killed_for is None and len(self.done) > first
        if len(self.done) < len(self.items) and not ended_well:
            self.done.append(self._missing(channel.end, is_ready=is_ready))

    def _take(self, row: Mapping[str, Any]) -> None:
        """Accept a line of the child: its index is its word, and only the next one counts."""
        broken = row.get("broken")
        if isinstance(broken, Mapping):
            left = len(self.items) - len(self.done)
            self.done += [ItemRun(None, _raised(broken), 0.0) for _ in range(left)]
        elif row.get("index") == len(self.done) < len(self.items):
            self.done.append(self._item(row))

    def _item(self, row: Mapping[str, Any]) -> ItemRun:
        duration_ms = float(row.get("ms") or 0.0)
        if row.get("memory"):
            error = LimitError(
                "The completion needed more than {memory_mb} MB.", limit="memory", memory_mb=self.limits.memory_mb,
                remedy="Allow more memory, or look at what makes this completion so large.",
            )  # fmt: skip
            return ItemRun(None, error, duration_ms)
        raised = row.get("raised")
        if isinstance(raised, Mapping):
            return ItemRun(None, _raised(raised), duration_ms)
        return ItemRun(row.get("value"), None, duration_ms)

    def _missing(self, end: RunEnd, *, is_ready: bool) -> ItemRun:
        """Say why an item has no value."""
        seconds = self.seconds[len(self.done)]
        if end.killed_for == "wall" and not is_ready:
            error: ExecutionError = LimitError("The worker did not get ready in time.", limit="wall")
            return ItemRun(None, error, _IMPORT_SECONDS * 1e3)
        if end.killed_for == "wall":
            error = LimitError(
                "The time limit of {seconds:g} s for one completion was reached.", limit="wall", seconds=seconds,
                remedy="Allow more time, or look at this completion: the others are scored.",
            )  # fmt: skip
            return ItemRun(None, error, seconds * 1e3)
        if end.killed_for == "result":
            error = LimitError(
                "The result of one completion is larger than {size} bytes.", limit="result",
                size=self.limits.result_bytes, remedy="Return less for each completion.",
            )  # fmt: skip
            return ItemRun(None, error, 0.0)
        if end.killed_for == "output":
            error = LimitError(
                "More than 16 MB were printed for one completion.", limit="output", remedy="Print less.",
            )  # fmt: skip
            return ItemRun(None, error, 0.0)
        return ItemRun(None, _worker_died(), 0.0)


def _raised(raised: Mapping[str, Any]) -> ExecutionError:
    return ExecutionError("{kind}: {text}", kind=raised.get("kind"), text=raised.get("text"))


def _worker_died() -> ExecutionError:
    return ExecutionError(
        "The worker process died on this completion.",
        remedy="Score this completion alone to see why; the others are scored.",
    )
