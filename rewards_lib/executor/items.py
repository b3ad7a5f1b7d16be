"""Running our own code over items in a killable worker: whoever hangs or dies costs one item, not the rest.

Invariant: there is exactly one ``ItemRun`` for each item, in order; the run resumes behind an item that was killed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

from rewards_lib.contract import Json
from rewards_lib.errors import ExecutionError, LimitError
from rewards_lib.executor.limits import Limits
from rewards_lib.executor.results import ItemRun
from rewards_lib.executor.runs import RunChannel, RunEnd
from rewards_lib.executor.zygotes import ZygoteProcess

_IMPORT_SECONDS = 60.0
Lease = Callable[[], AbstractContextManager[ZygoteProcess]]


def run_items(
    lease: Lease, entry: str, items: Sequence[Json], seconds: Sequence[float], limits: Limits, preload: Sequence[str]
) -> list[ItemRun]:
    """Call ``entry`` on every item, starting a new worker behind each item that was killed or crashed."""
    done: list[ItemRun] = []
    while len(done) < len(items):
        with lease() as zygote:
            zygote.keep_warm([*preload, entry.partition(":")[0]])
            _run_from(zygote, entry, items, seconds, limits, done)
    return done


def _run_from(
    zygote: ZygoteProcess, entry: str, items: Sequence[Json], seconds: Sequence[float], limits: Limits,
    done: list[ItemRun],
) -> None:  # fmt: skip
    """Run the items that are left in one child, appending to ``done``; always appends at least one."""
    first = len(done)
    payload = {"entry": entry, "items": list(items[first:]), "first": first}
    budget = sum(seconds[first:]) + _IMPORT_SECONDS
    bounds = replace(limits, wall_seconds=_IMPORT_SECONDS, cpu_seconds=limits.cpu_seconds or 2 * budget)
    is_ready = False
    with RunChannel(zygote, "items", payload, bounds) as channel:
        for row in channel.lines():
            if row.get("ready"):
                is_ready = True
            elif row.get("index") == len(done):
                done.append(_item(row, limits))
            else:
                continue
            if len(done) < len(items):
                channel.move_deadline(seconds[len(done)])
    if len(done) < len(items) and (len(done) == first or channel.end.status != 0):
        if channel.end.worker_gone and len(done) > first:
            return
        done.append(_missing(channel.end, seconds[len(done)], limits, is_ready=is_ready))


def _item(row: dict[str, Any], limits: Limits) -> ItemRun:
    duration_ms = float(row.get("ms") or 0.0)
    if row.get("memory"):
        return ItemRun(None, _out_of_memory(limits), duration_ms)
    raised = row.get("raised")
    if isinstance(raised, dict):
        error = ExecutionError("{kind}: {text}", kind=raised.get("kind"), text=raised.get("text"))
        return ItemRun(None, error, duration_ms)
    return ItemRun(row.get("value"), None, duration_ms)


def _missing(end: RunEnd, seconds: float, limits: Limits, *, is_ready: bool) -> ItemRun:
    """Say why an item has no value."""
    if end.killed_for == "wall" and not is_ready:
        return ItemRun(None, LimitError("The worker did not start in time.", limit="wall"), _IMPORT_SECONDS * 1e3)
    if end.killed_for == "wall":
        error: ExecutionError = LimitError(
            "The time limit of {seconds:g} s was reached.", limit="wall", seconds=seconds
        )
        return ItemRun(None, error, seconds * 1e3)
    if end.killed_for == "result":
        message = "The result of one item is larger than {size} bytes."
        return ItemRun(None, LimitError(message, limit="result", size=limits.result_bytes), 0.0)
    if end.killed_for == "output":
        return ItemRun(None, LimitError("An item printed more than 16 MB.", limit="output"), 0.0)
    return ItemRun(None, ExecutionError("The worker process died on this item."), 0.0)


def _out_of_memory(limits: Limits) -> LimitError:
    return LimitError("The item needed more than {memory_mb} MB.", limit="memory", memory_mb=limits.memory_mb)
