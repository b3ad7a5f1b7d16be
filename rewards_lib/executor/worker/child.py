"""One run: everything a forked child does before it is gone.

Invariant: a child ends by ``os._exit`` whatever the author's code does; its word is only what it wrote to the result
pipe, and the host checks all of it.
"""

from __future__ import annotations

import _thread
import os
import random
import sys
import threading  # here, so that it is loaded in the zygote and not in each child
from collections.abc import Callable
from typing import Any

from .advice import check
from .batches import run_groups, run_items
from .calling import Program, answer, call, find_function
from .refusals import Row
from .streams import emit, flush

_THREAD_STACK_BYTES = 2 << 20


def run(kind: str, payload: Row) -> None:
    """Do what the request asks for and write its lines."""
    _TASKS[kind](payload)


def limit_threads(most: int) -> None:
    """Refuse threads beyond the limit; the kernel's own count is not to be had without a user of our own."""
    threading.stack_size(_THREAD_STACK_BYTES)
    start = _thread.start_new_thread

    def start_counted(*arguments: Any) -> int:
        if _thread._count() >= most:
            raise RuntimeError(f"can't start new thread: the limit of {most} threads is reached")
        return start(*arguments)

    _thread.start_new_thread = start_counted
    threading._start_new_thread = start_counted  # type: ignore[attr-defined]


def reseed() -> None:
    """Give the child random states of its own: what the zygote seeded would repeat in every run."""
    random.seed()
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is not None:
        numpy_random.seed(int.from_bytes(os.urandom(4), "little"))  # without a number it imports a lot first


def _check(payload: Row) -> None:
    emit({"findings": check(payload)})


def _run_function(payload: Row) -> None:
    """Call ``reward_fn`` once."""
    program = Program(payload)
    row: Row = {"findings": program.findings}
    if program.is_refused:
        emit({"result": {**row, "refused": True}})
        return
    row.update(answer(lambda: _load_and_call(program, payload)))
    row["imported"] = program.imported if row.get("status") == "success" else []
    flush()
    emit({"result": row})


def _load_and_call(program: Program, payload: Row) -> Row:
    emit({"phase": "load"})
    function = find_function(program.load())
    emit({"phase": "call"})
    return call(function, payload)


_TASKS: dict[str, Callable[[Row], None]] = {
    "check": _check, "function": _run_function, "groups": run_groups, "items": run_items,
}  # fmt: skip
