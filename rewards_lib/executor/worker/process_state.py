"""What the interpreter and its library keep for the whole process, put back before each group of a batch.

Invariant: two groups in one child see the same random numbers, decimal context, streams, timers, warnings and loggers
as each would see in a child of its own. What a third-party package keeps to itself is beyond this module's reach.
"""

from __future__ import annotations

import _thread
import os
import random
import signal
import sys
import warnings
import zlib
from typing import Any

from .names import USER_MODULE
from .replacements import environ

_SPARE_DESCRIPTORS = 8
_ROOT_LEVEL = 30


class ProcessState:
    """A snapshot of the process before anything of the author's has run in it."""

    def __init__(self) -> None:
        self._streams = sys.stdout, sys.stderr
        self._recursion_limit = sys.getrecursionlimit()
        self._environ = dict(environ)
        self._filters = list(warnings.filters)
        self._lowest_descriptor = _lowest_descriptor()

    def restore(self, entry: bytes, *, loggers: bool) -> None:
        """Put everything back, and seed random numbers from the entry itself, so that its place does not matter.

        ``loggers`` tells whether the author's code logs: looking through them all takes time.
        """
        seed = zlib.crc32(entry)
        random.seed(seed)
        if "numpy.random" in sys.modules:
            sys.modules["numpy.random"].seed(seed)
        if "decimal" in sys.modules:
            decimal = sys.modules["decimal"]
            decimal.setcontext(decimal.Context())
        sys.stdout, sys.stderr = self._streams
        if sys.getrecursionlimit() != self._recursion_limit:
            sys.setrecursionlimit(self._recursion_limit)
        if environ != self._environ:
            environ.clear()
            environ.update(self._environ)
        if warnings.filters != self._filters:
            warnings.filters[:] = self._filters  # type: ignore[index]
            warnings._filters_mutated()  # type: ignore[attr-defined]
        _stop_alarms()
        if loggers:
            _restore_loggers()

    def is_left_dirty(self) -> bool:
        """Whether a group left something running or open that the next one would pay for."""
        return _thread._count() > 0 or _lowest_descriptor() > self._lowest_descriptor + _SPARE_DESCRIPTORS


def _lowest_descriptor() -> int:
    number = os.dup(1)
    os.close(number)
    return number


def _stop_alarms() -> None:
    if signal.getitimer(signal.ITIMER_REAL)[0]:
        signal.setitimer(signal.ITIMER_REAL, 0)
    for number in (signal.SIGALRM, signal.SIGPROF):
        if signal.getsignal(number) is not signal.SIG_DFL:
            signal.signal(number, signal.SIG_DFL)


def _restore_loggers() -> None:
    """Take from the author's loggers what a top level that runs again would add twice; libraries keep their own."""
    logging: Any = sys.modules.get("logging")
    if logging is None:
        return
    manager = logging.root.manager
    manager.disable = 0
    _reset_logger(logging.root, _ROOT_LEVEL)
    for name, logger in manager.loggerDict.items():
        top = name.partition(".")[0]
        if top == USER_MODULE or top not in sys.modules:
            _reset_logger(logger, 0)


def _reset_logger(logger: Any, level: int) -> None:
    if getattr(logger, "level", level) != level:
        logger.setLevel(level)
    if getattr(logger, "handlers", None) or getattr(logger, "filters", None):
        logger.handlers.clear()
        logger.filters.clear()
