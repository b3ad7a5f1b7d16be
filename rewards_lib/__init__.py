"""Rewards for fine-tuning language models: write them, prove them, run them the same way everywhere.

A ``Mix`` is at most five weighted rules; a rule is a preset or an author's own ``reward_fn``. ``score_payload`` gives
each completion a finite reward or none with a reason, never an invented number. Authors' code runs confined, in a
process of its own, within limits. The console, the command line and the service call the same functions.
"""

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

__version__ = "0.1.0"

__all__ = [
    "Completion",
    "Finding",
    "InputError",
    "Isolation",
    "MixResult",
    "Payload",
    "RewardConsoleError",
    "RuleResult",
    "Sample",
    "Score",
    "ScoreState",
    "__version__",
]
