"""Rewards for fine-tuning language models: write them, prove them, run them the same way everywhere.

A ``Mix`` is at most five weighted rules; a rule is a preset or an author's own ``reward_fn``. ``score_payload`` gives
each completion a finite reward or none with a reason, never an invented number. Authors' code runs confined, in a
process of its own, within limits. The console, the command line and the service call the same functions.
``load_mix("math").score(completions=[...], answer="42")`` does so from a notebook or a test.
"""

from typing import TYPE_CHECKING, Any

from rewards_lib.contract import (
    Completion,
    Finding,
    Isolation,
    MixResult,
    Payload,
    RuleResult,
    Sample,
    Score,
    ScoreState,
)
from rewards_lib.errors import InputError, RewardConsoleError

if TYPE_CHECKING:
    from rewards_lib.executor import Executor
    from rewards_lib.loaded_mix import LoadedMix, load_mix
    from rewards_lib.mix import Mix, read_mix
    from rewards_lib.scoring import score_payload

__version__ = "0.1.0"

__all__ = [
    "Completion",
    "Executor",
    "Finding",
    "InputError",
    "Isolation",
    "LoadedMix",
    "Mix",
    "MixResult",
    "Payload",
    "RewardConsoleError",
    "RuleResult",
    "Sample",
    "Score",
    "ScoreState",
    "__version__",
    "load_mix",
    "read_mix",
    "score_payload",
]

_HOMES = {
    "Executor": "executor", "LoadedMix": "loaded_mix", "Mix": "mix", "load_mix": "loaded_mix", "read_mix": "mix",
    "score_payload": "scoring",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """Import what is heavy when it is first asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
