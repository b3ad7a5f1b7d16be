"""Rewards thinking that is neither missing nor endless: 1.0 between 20 and 400 characters, less outside."""

import re

from rl_types import RewardFunctionResult

THINK = re.compile(r"<think>(.*?)</think>", re.DOTALL)
LOW, HIGH = 20, 400


def reward_of(text):
    found = THINK.search(text)
    if found is None:
        return None  # no opinion: the rule is left out of this completion's sum
    size = len(found[1].strip())
    if LOW <= size <= HIGH:
        return 1.0
    return max(0.0, 1.0 - (LOW - size) / LOW if size < LOW else 1.0 - (size - HIGH) / HIGH)


def reward_fn(context, sample, completions):
    rewards = [reward_of(completion["messages"][-1]["content"]) for completion in completions]
    return RewardFunctionResult(rewards)
