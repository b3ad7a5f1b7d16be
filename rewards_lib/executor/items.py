"""Running our own code over items in a killable worker: whoever hangs or dies costs one item, not the rest.

Invariant: there is exactly one ``ItemRun`` for each item, in order.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rewards_lib.contract import Json
from rewards_lib.errors import ExecutionError, LimitError
from rewards_lib.executor.batch import Batch, Entry, Lease
from rewards_lib.executor.limits import FLOOD_BYTES, Limits
from rewards_lib.executor.redaction import NO_SECRETS
from rewards_lib.executor.results import ItemRun
from rewards_lib.executor.run_channel import RunEnd
from rewards_lib.executor.stopping import StopSwitch
from rewards_lib.executor.zygotes import ZygoteProcess

_IMPORT_SECONDS = 60.0
_MOST_CPU_SECONDS = 86_400.0
"""What an item takes is bounded by its own time on the wall."""


class ItemsJob:
    """One call of ``Executor.run_items``."""

    kind = "items"
    redaction = NO_SECRETS

    def __init__(self, entry: str, *, limits: Limits, preload: Sequence[str], stop: StopSwitch) -> None:
        self.request: Mapping[str, Any] = {"entry": entry}
        self.preload = (*preload, entry.partition(":")[0])
        self.limits = replace(limits, wall_seconds=_IMPORT_SECONDS, cpu_seconds=limits.cpu_seconds or _MOST_CPU_SECONDS)
        self.stop = stop
        self.done: list[ItemRun] = []

    def run(self, items: Sequence[Json], seconds: Sequence[float], lease: Lease) -> list[ItemRun]:
        """Call the entry on every item."""
        Batch(self, _entries(items, seconds)).run(lease)
        return self.done

    def gateway(self) -> None:
        """Our own code has no network in the worker."""

    def ready(self, row: Mapping[str, Any]) -> None:
        """Nothing is said before the first item."""

    def answered(self, entry: Entry, row: Mapping[str, Any], logs: str) -> None:  # noqa: ARG002 -- the protocol
        """Take one value, or why there is none."""
        self.done.append(item_run(row, self.limits))

    def missing(self, entry: Entry, end: RunEnd, logs: str) -> None:  # noqa: ARG002 -- the protocol
        """Say why an item has no value."""
        error = self._why(entry.seconds, end)
        self.done.append(ItemRun(None, error, entry.seconds * 1e3 if end.killed_for == "wall" else None))

    def broken(self, entry: Entry, row: Mapping[str, Any] | None, end: RunEnd, logs: str) -> None:  # noqa: ARG002
        """Say why no item has a value."""
        if isinstance(row, Mapping):
            self.done.append(ItemRun(None, _raised(row)))
        elif end.killed_for == "wall":
            late = LimitError("The worker did not get ready in time.", limit="wall")
            self.done.append(ItemRun(None, late, _IMPORT_SECONDS * 1e3))
        else:
            self.done.append(ItemRun(None, worker_died()))

    def child_over(self, row: Mapping[str, Any], zygote: ZygoteProcess) -> None:
        """Nothing is said at the end."""

    def _why(self, seconds: float, end: RunEnd) -> ExecutionError:
        if end.killed_for == "wall":
            return over_time(seconds)
        if end.killed_for == "stopped":
            return stopped()
        if end.killed_for == "result":
            return LimitError(
                "The result of one completion is larger than {size} bytes.", limit="result",
                size=self.limits.result_bytes, remedy="Return less for each completion.",
            )  # fmt: skip
        if end.killed_for == "output":
            return LimitError(
                "More than {size} MB were printed for one completion.", limit="output", size=FLOOD_BYTES >> 20,
                remedy="Print less.",
            )  # fmt: skip
        return worker_died()


def _entries(items: Sequence[Json], seconds: Sequence[float]) -> Iterator[Entry]:
    for item, limit in zip(items, seconds, strict=True):
        yield Entry(json.dumps(item).encode(), limit)


def item_run(row: Mapping[str, Any], limits: Limits) -> ItemRun:
    """Read a child's answer to one item."""
    duration_ms = row.get("ms")  # our own code measured it
    if row.get("memory"):
        error: ExecutionError = LimitError(
            "The completion needed more than {memory_mb} MB.", limit="memory", memory_mb=limits.memory_mb,
            remedy="Allow more memory, or look at what makes this completion so large.",
        )  # fmt: skip
        return ItemRun(None, error, duration_ms)
    raised = row.get("raised")
    if isinstance(raised, Mapping):
        return ItemRun(None, _raised(raised), duration_ms)
    return ItemRun(row.get("value"), None, duration_ms)


def over_time(seconds: float) -> LimitError:
    """The error of an item that was killed at its own limit."""
    return LimitError(
        "The time limit of {seconds:g} s for one completion was reached.", limit="wall", seconds=seconds,
        remedy="Allow more time, or look at this completion: the others are scored.",
    )  # fmt: skip


def worker_died() -> ExecutionError:
    """The error of an item whose child ended without an answer."""
    return ExecutionError(
        "The worker process died on this completion.",
        remedy="Score this completion alone to see why; the others are scored.",
    )


def stopped() -> ExecutionError:
    """The error of an item that nobody wants any more."""
    return ExecutionError("The run was stopped.")


def _raised(raised: Mapping[str, Any]) -> ExecutionError:
    return ExecutionError("{kind}: {text}", kind=raised.get("kind"), text=raised.get("text"))
