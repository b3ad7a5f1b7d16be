"""Runs a Python program in a forked child as a fresh interpreter would run its file.

Forking a warm interpreter spares its start, which takes longer than most programs. Invariant: the program meets what
``python main.py`` would give it: ``__main__``, ``sys.argv``, fresh streams, the ways to end, exit status included.
"""

from __future__ import annotations

import atexit
import gc
import io
import os
import random
import signal
import sys
import threading
import traceback
import types
from types import CodeType
from typing import Any, NoReturn

_THREAD_STACK_BYTES = 16 << 20


def run(code: CodeType, program: dict[str, Any], environment: dict[str, str]) -> NoReturn:
    """Run compiled code as ``__main__`` and end the process with the status that the interpreter would give."""
    main = _fresh_main(program)
    os.environ.clear()
    os.environ.update(environment)
    status = 0
    try:
        exec(code, main.__dict__)
    except SystemExit as end:
        status = _exit_status(end)
    except BaseException as error:
        print_error(error)
        status = 1
    _end(status)


def _fresh_main(program: dict[str, Any]) -> types.ModuleType:
    sys.stdin = io.TextIOWrapper(io.open(0, "rb", closefd=False), "utf-8", "surrogateescape")  # noqa: UP020, SIM115
    sys.stdout = _writer(1, "surrogateescape")
    sys.stderr = _writer(2, "backslashreplace", line_buffering=True)
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr  # type: ignore[misc]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)  # as the interpreter sets it: a broken pipe is an exception
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    sys.set_int_max_str_digits(0)
    threading.stack_size(_THREAD_STACK_BYTES)  # the default is the main thread's, which is far too large for many
    random.seed()
    sys.argv = [program["file"], *program["arguments"]]
    sys.path[:] = [os.getcwd(), *(path for path in sys.path if path), *program["site"]]
    for name in [name for name in sys.modules if name.split(".")[0] == "rewards_lib"]:
        del sys.modules[name]
    main = types.ModuleType("__main__")
    main.__dict__.update(__file__=program["file"], __builtins__=__builtins__)
    sys.modules["__main__"] = main
    gc.freeze()
    return main


def _writer(descriptor: int, errors: str, *, line_buffering: bool = False) -> io.TextIOWrapper:
    raw = io.open(descriptor, "wb", closefd=False)  # noqa: UP020, SIM115
    return io.TextIOWrapper(raw, "utf-8", errors, newline="\n", line_buffering=line_buffering)


def print_error(error: BaseException) -> None:
    """Print a traceback that begins with the program's own frames; a program's own hook is honoured."""
    mark = error.__traceback__.tb_next if error.__traceback__ else None
    if sys.excepthook is not sys.__excepthook__:
        sys.excepthook(type(error), error, mark)
        return
    text = "".join(traceback.format_exception(type(error), error, mark))
    os.write(2, text.encode("utf-8", "backslashreplace"))


def _exit_status(end: SystemExit) -> int:
    """What ``sys.exit`` asked for: a number is taken modulo 256, any other object is printed and means 1."""
    if end.code is None:
        return 0
    if isinstance(end.code, int):
        return end.code & 0xFF
    os.write(2, f"{end.code}\n".encode("utf-8", "backslashreplace"))
    return 1


def _end(status: int) -> NoReturn:
    """Wait for threads, call exit handlers, flush, leave. A failing flush is status 120, as the interpreter has it."""
    try:
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
    except BaseException as error:
        print_error(error)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException as error:
            print_error(error)
            status = status or 120
    os._exit(status)
