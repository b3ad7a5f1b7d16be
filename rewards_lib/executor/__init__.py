"""Runs author code, and our own risky code, in confined workers that can be killed.

>>> from rewards_lib.executor import Executor, FunctionSource
>>> with Executor() as executor:                                                          # doctest: +SKIP
...     run = executor.run_function(FunctionSource(source), payload)
...     run.scores, run.error, run.isolation.tier

Invariant: a fault of the author's code is a value in the result, never an exception here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rewards_lib.executor.checking import check_once
    from rewards_lib.executor.executor import Executor
    from rewards_lib.executor.limits import Limits, limits_from
    from rewards_lib.executor.results import FunctionRun, FunctionSource, ItemRun

__all__ = ["Executor", "FunctionRun", "FunctionSource", "ItemRun", "Limits", "check_once", "limits_from"]

_HOMES = {
    "Executor": "executor", "FunctionRun": "results", "FunctionSource": "results", "ItemRun": "results",
    "Limits": "limits", "limits_from": "limits", "check_once": "checking",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """Import a name when it is first asked for: starting up must not cost what is never used."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
