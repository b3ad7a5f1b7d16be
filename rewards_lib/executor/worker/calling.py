"""From a source to the answer of ``reward_fn``: compile once, run the top level for each call, call, read the result.

Invariant: whatever the author's code raises or returns becomes a row; only the end of the process gets past it.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from types import CodeType
from typing import Any

from . import replacements
from .compiling import compile_source
from .facades import ImportGate, plain_module, user_module
from .messages import wrap_completion
from .readings import UnusableResultError, read_result
from .refusals import Row, Words, sentence
from .streams import emit
from .tracebacks import describe, show_source


class Program:
    """A source that was compiled, in a process where nothing of the author's has run yet."""

    def __init__(self, request: Row) -> None:
        emit({"phase": "compile"})
        replacements.environ.update(request["environ"])
        os.environ.update(request["environ"])  # for libraries, which read the real one
        self._guarded: bool = request.get("guarded", True)
        source: str = request["source"]
        self._code: CodeType | None
        self._code, self.findings = compile_source(source, guarded=self._guarded)
        self._loaded = frozenset(sys.modules)
        self._gate = ImportGate(frozenset(request["packages"]))
        if self._code is not None:
            show_source(source)

    @property
    def is_refused(self) -> bool:
        """Whether the execution policy refuses the source."""
        return self._code is None

    @property
    def imported(self) -> list[str]:
        """The modules that the author's imports loaded, for the zygote to keep warm; none when that is not safe.

        A module that starts threads when it is imported must not be imported into the zygote, which forks.
        """
        return sorted(self._gate.imported - self._loaded) if threading.active_count() == 1 else []

    def has_imported(self, module: str) -> bool:
        """Whether the author's code imports a module by its name."""
        return not self._guarded or module in self._gate.imported

    def load(self) -> dict[str, Any]:
        """Run the top level in a module of its own; returns its names. Raises what the author's code raises."""
        module = user_module(self._gate) if self._guarded else plain_module()
        exec(self._code or "", module.__dict__)
        return module.__dict__


def answer(act: Callable[[], Row]) -> Row:
    """Do something with the author's code; its row, or a row that says what stopped it."""
    try:
        return act()
    except UnusableResultError as fault:
        return {"fault": fault.words.to_json()}
    except BaseException as error:
        return {"raised": describe(error)}


def find_function(namespace: dict[str, Any]) -> Callable[..., Any]:
    """Return ``reward_fn`` of a module; raises ``UnusableResultError`` when it is not there."""
    function: Callable[..., Any] | None = namespace.get("reward_fn")
    if callable(function):
        return function
    if "reward_fn" in namespace:
        raise UnusableResultError(sentence("reward_fn is {kind}, not a function.", kind=type(function).__name__))
    raise UnusableResultError(sentence("reward.py defines no function reward_fn(context, sample, completions)."))


def call(function: Callable[..., Any], arguments: Row) -> Row:
    """Call ``reward_fn`` with a group and read what it returns."""
    completions = [wrap_completion(completion) for completion in arguments["completions"]]
    count = len(completions)
    start = time.perf_counter()
    try:
        result = function(arguments["context"], arguments["sample"], completions)
    except TypeError as error:
        if error.__traceback__ is not None and error.__traceback__.tb_next is None:
            raise UnusableResultError(_wrong_signature(function, error)) from error
        raise
    call_ms = (time.perf_counter() - start) * 1e3
    return {"call_ms": call_ms, **read_result(result, count)}


def _wrong_signature(function: Any, error: TypeError) -> Words:
    line = getattr(getattr(function, "__code__", None), "co_firstlineno", 0)
    return sentence(
        "line {line}: reward_fn must accept (context, sample, completions): {text}.", line=line, text=str(error)
    )
