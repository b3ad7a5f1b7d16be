"""Adds up several rewards in one function and tells each of them as a metric of its own.

A mix of presets does the same without code; write it here when one reward depends on another: brevity pays only where
the answer is right, or the shortest way to earn is to say nothing.
"""

import reward_tools
from rl_types import RewardFunctionResult

WEIGHTS = {"accuracy": 1.0, "form": 0.2, "brevity": 0.1}
LONGEST = 2000


def parts_of(text, truth):
    """The unweighted rewards of one completion; None for one that cannot be told."""
    answer = reward_tools.boxed(reward_tools.after_think(text) or "")
    equal = reward_tools.math_equal(answer, truth) if answer is not None else False
    return {
        "accuracy": None if equal is None else float(equal),
        "form": float(answer is not None),
        "brevity": max(0.0, 1.0 - len(text) / LONGEST) if equal else 0.0,
    }


def total(parts):
    if None in parts.values():
        return None
    return sum(WEIGHTS[name] * value for name, value in parts.items())


def reward_fn(context, sample, completions):
    truth = sample["extra"]["answer"]
    scored = [parts_of(reward_tools.completion_text(completion), truth) for completion in completions]
    metrics = {}
    for name in WEIGHTS:
        told = [parts[name] for parts in scored if parts[name] is not None]
        if told:
            metrics[name] = sum(told) / len(told)
    return RewardFunctionResult([total(parts) for parts in scored], metrics)
