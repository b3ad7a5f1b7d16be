"""The exercises, one module each: every module of this folder defines ``EXERCISE``."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from rewards_lib.practice.exercise import Exercise


@cache
def exercises() -> dict[str, Exercise]:
    """Name of the module -> exercise, by place."""
    found = {
        module.name: importlib.import_module(f"{__name__}.{module.name}").EXERCISE
        for module in pkgutil.iter_modules(__path__)
    }
    return dict(sorted(found.items(), key=lambda entry: entry[1].place))
