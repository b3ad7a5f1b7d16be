"""What an exception says to the author: one line, the author's line number, and a traceback of the author's frames.

Runs in the child, under its limits: ``__str__`` of an exception may loop. Invariant: nothing here raises.
"""

from __future__ import annotations

import linecache
import traceback
from typing import Any

from .names import FILE_NAME
from .refusals import source_lines

_BIGGEST_TEXT = 2_000
_BIGGEST_TRACEBACK = 20_000
_DEEPEST = 60


def show_source(source: str) -> None:
    """Let tracebacks quote the author's source, and keep linecache from reading any file."""
    linecache.cache.clear()
    linecache.cache[FILE_NAME] = (len(source), None, [line + "\n" for line in source_lines(source)], FILE_NAME)
    linecache.updatecache = lambda *_: []
    linecache.lazycache = lambda *_: False
    linecache.checkcache = lambda *_: None


def describe(error: BaseException) -> dict[str, Any]:
    """Describe an exception: its kind, its text, the author's line that raised, the author's traceback."""
    return {
        "kind": type(error).__name__,
        "text": _text(error),
        "line": _line(error),
        "traceback": _author_traceback(error),
    }


def _text(error: BaseException) -> str:
    try:
        return str(error)[:_BIGGEST_TEXT]
    except BaseException:
        return "(its text could not be made)"


def _line(error: BaseException) -> int | None:
    """The innermost line of the author's source that the exception passed through."""
    line, step = None, error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == FILE_NAME:
            line = step.tb_lineno
        step = step.tb_next
    if line is None and isinstance(error, SyntaxError) and error.filename == FILE_NAME:
        return error.lineno
    return line


def _author_traceback(error: BaseException) -> str:
    try:
        report = traceback.TracebackException.from_exception(error, limit=-_DEEPEST, max_group_depth=2)
        step: traceback.TracebackException | None = report
        seen: set[int] = set()
        while step is not None and id(step) not in seen:
            seen.add(id(step))
            own = [frame for frame in step.stack if frame.filename == FILE_NAME]
            step.stack = traceback.StackSummary.from_list(own)
            step = step.__cause__ or step.__context__
        return "".join(report.format())[-_BIGGEST_TRACEBACK:]
    except BaseException:
        return ""
