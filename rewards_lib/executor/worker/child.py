"""One run: everything a forked child does before it is gone.

Invariant: a child ends by ``os._exit`` whatever the author's code does; its word is only what it wrote to the result
pipe, and the host checks all of it.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

from .compiling import compile_source
from .facades import plain_module, user_module
from .messages import wrap_completion
from .readings import UnusableResultError, read_result
from .refusals import Row, Words, sentence
from .tracebacks import describe, show_source

RESULT_FD = 3
_THREAD_STACK_BYTES = 2 << 20


def emit(row: Row) -> None:
    """Write one line to the result pipe. Raises TypeError or ValueError for what is no strict JSON."""
    data = json.dumps(row, allow_nan=False).encode() + b"\n"
    while data:
        data = data[os.write(RESULT_FD, data) :]


def run(kind: str, payload: Row) -> None:
    """Do what the request asks for and write its lines."""
    _TASKS[kind](payload)


def open_streams() -> None:
    """Point ``sys.stdout`` and ``sys.stderr`` at the run's pipes."""
    for name, number in (("stdout", 1), ("stderr", 2)):
        buffered = io.BufferedWriter(_stream(number), 8192)
        setattr(sys, name, io.TextIOWrapper(buffered, encoding="utf-8", errors="replace", line_buffering=True))


def _stream(number: int) -> io.RawIOBase:
    """A raw stream that is no FileIO: its class, which reward code can get hold of, opens nothing."""

    class Stream(io.RawIOBase):
        """Writes to one descriptor."""

        def writable(self) -> bool:
            return True

        def fileno(self) -> int:
            return number

        def write(self, data: Any) -> int:
            return os.write(number, data)

    return Stream()


def limit_threads(most: int) -> None:
    """Refuse threads beyond the limit; the kernel's own count is not to be had without a user of our own."""
    import _thread
    import threading

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
    import random

    random.seed()
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is not None:
        numpy_random.seed(int.from_bytes(os.urandom(4), "little"))  # without a number it imports a lot first


# --- check ---------------------------------------------------------------------------------------------------------


def _check(payload: Row) -> None:
    _, findings = compile_source(payload["source"])
    emit({"findings": findings})


# --- one call of reward_fn -----------------------------------------------------------------------------------------


def _run_function(payload: Row) -> None:
    source, guarded = payload["source"], payload.get("guarded", True)
    emit({"phase": "compile"})
    code, findings = compile_source(source, guarded=guarded)
    row: Row = {"findings": findings}
    loaded = frozenset(sys.modules)
    if code is None:
        row["refused"] = True
        emit({"result": row})
        return
    show_source(source)
    if guarded:
        module, gate = user_module(frozenset(payload["packages"]))
        imported: list[str] = gate.imported
    else:
        module, imported = plain_module(), []
    try:
        row.update(_call(code, module.__dict__, payload))
    except UnusableResultError as fault:
        row["fault"] = fault.words.to_json()
    except BaseException as error:
        row["raised"] = describe(error)
    row["imported"] = sorted(set(imported) - loaded) if row.get("status") == "success" and _is_alone() else []
    _flush()
    emit({"result": row})


def _call(code: Any, namespace: dict[str, Any], payload: Row) -> Row:
    emit({"phase": "load"})
    exec(code, namespace)
    function = namespace.get("reward_fn")
    if not callable(function):
        raise UnusableResultError(_no_function(namespace, function))
    completions = [wrap_completion(completion) for completion in payload["completions"]]
    emit({"phase": "call"})
    start = time.perf_counter()
    try:
        result = function(payload["context"], payload["sample"], completions)
    except TypeError as error:
        if error.__traceback__ is not None and error.__traceback__.tb_next is None:
            raise UnusableResultError(_wrong_signature(function, error)) from error
        raise
    call_ms = (time.perf_counter() - start) * 1e3
    return {"call_ms": call_ms, **read_result(result, payload["count"])}


def _no_function(namespace: dict[str, Any], found: Any) -> Words:
    if "reward_fn" in namespace:
        return sentence("reward_fn is {kind}, not a function.", kind=type(found).__name__)
    return sentence("reward.py defines no function reward_fn(context, sample, completions).")


def _wrong_signature(function: Any, error: TypeError) -> Words:
    line = getattr(getattr(function, "__code__", None), "co_firstlineno", 0)
    return sentence(
        "line {line}: reward_fn must accept (context, sample, completions): {text}.", line=line, text=str(error)
    )


def _is_alone() -> bool:
    """A module that starts threads when it is imported must not be imported into the zygote, which forks."""
    import threading

    return threading.active_count() == 1


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(BaseException):
            stream.flush()


# --- items of our own code -----------------------------------------------------------------------------------------


def _run_items(payload: Row) -> None:
    """Call one of our functions on items in order; one line each, so that the host knows where to resume."""
    module_name, _, function_name = payload["entry"].partition(":")
    try:
        function: Callable[[Any], Any] = getattr(importlib.import_module(module_name), function_name)
    except BaseException as error:
        emit({"broken": {"kind": type(error).__name__, "text": str(error)[:2_000]}})
        return
    emit({"ready": True})
    for index, item in enumerate(payload["items"], payload["first"]):
        start = time.perf_counter()
        row: Row = {"index": index}
        try:
            row["value"] = function(item)
            row["ms"] = (time.perf_counter() - start) * 1e3
            emit(row)
        except MemoryError:
            emit({"index": index, "memory": True, "ms": (time.perf_counter() - start) * 1e3})
            return
        except BaseException as error:
            raised = {"kind": type(error).__name__, "text": str(error)[:2_000]}
            emit({"index": index, "raised": raised, "ms": (time.perf_counter() - start) * 1e3})


_TASKS: dict[str, Callable[[Row], None]] = {"check": _check, "function": _run_function, "items": _run_items}
