"""Many entries in one child: groups for an author's function, items for functions of ours.

Each entry is answered by one line with its index, written before the next one is begun, so that the host knows whose
fault it is when the child dies. Invariant: an entry's answer does not depend on which entries came before it in this
child, as far as this process can see to it; where it cannot, the child ends and the host starts another.
"""

from __future__ import annotations

import importlib
import json
import marshal
import signal
import time
from collections.abc import Callable
from typing import Any

from .calling import Program, answer, call, find_function
from .process_state import ProcessState
from .refusals import Row
from .streams import emit, feed, flush, printed

_BIGGEST_TEXT = 2_000


def run_groups(request: Row) -> None:
    """Call one ``reward_fn`` on group after group, each in a module that was loaded for it alone.

    The top level runs once beforehand: what it raises is every group's error, and what it imports costs no group time.
    """
    state = ProcessState()
    program = Program(request)
    refused = {"refused": True} if program.is_refused else None
    if refused is None:
        emit({"phase": "load"})
        refused = answer(lambda: {"loaded": bool(find_function(program.load()))})
    flush()
    if not refused.get("loaded"):
        emit({"broken": {"findings": program.findings, **refused}})
        return
    emit({"ready": True, "findings": program.findings, "printed": printed()})
    for index, frame in enumerate(feed(), request["first"]):
        state.restore(frame, loggers=program.has_imported("logging"))
        signal.setitimer(signal.ITIMER_PROF, request["cpu_seconds"])  # the kernel's clock: over it the child is gone
        row = {"index": index, **_run_group(program, marshal.loads(frame))}  # noqa: S302  # the host's own words
        emit(row)
        if row.get("memory") or state.is_left_dirty():
            break
    emit({"over": True, "imported": program.imported})


def _run_group(program: Program, group: Row) -> Row:
    """Load the author's module afresh and call its function; what is empty is not worth the way through the pipe."""
    before = printed()
    result = answer(lambda: call(find_function(program.load()), group))
    flush()
    row: Row = {"result": {name: value for name, value in result.items() if value or name == "rewards"}}
    if printed() != before:
        row["printed"] = printed()
    if "raised" in result and result["raised"]["kind"] == "MemoryError":
        row["memory"] = True
    return row


def run_items(request: Row) -> None:
    """Call one of our functions on item after item."""
    module_name, _, function_name = request["entry"].partition(":")
    try:
        function: Callable[[Any], Any] = getattr(importlib.import_module(module_name), function_name)
    except BaseException as error:
        emit({"broken": _raised(error)})
        return
    emit({"ready": True})
    for index, frame in enumerate(feed(), request["first"]):
        before, start = printed(), time.perf_counter()
        row: Row = {"index": index}
        try:
            row["value"] = function(json.loads(frame))
        except MemoryError:
            row["memory"] = True
        except BaseException as error:
            row["raised"] = _raised(error)
        row["ms"] = (time.perf_counter() - start) * 1e3
        flush()
        if printed() != before:
            row["printed"] = printed()
        try:
            emit(row)
        except (TypeError, ValueError) as error:  # the value is no strict JSON
            emit({**row, "value": None, "raised": _raised(error)})
        if "memory" in row:
            break
    emit({"over": True})


def _raised(error: BaseException) -> Row:
    return {"kind": type(error).__name__, "text": str(error)[:_BIGGEST_TEXT]}
