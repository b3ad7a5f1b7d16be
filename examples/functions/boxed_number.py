"""Rewards the number in the last box: 1.0 when it equals the ground truth, else 0.0."""

import re

from rl_types import RewardFunctionResult

BOX = re.compile(r"\\boxed\{([^{}]*)\}")


def to_number(text):
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None


def reward_fn(context, sample, completions):
    truth = to_number(str(sample["extra"]["answer"]))
    if truth is None:
        return RewardFunctionResult([None] * len(completions))  # nothing to compare with: no opinion, not 0
    rewards = []
    for completion in completions:
        text = completion["messages"][-1]["content"]
        boxes = BOX.findall(text)
        rewards.append(1.0 if boxes and to_number(boxes[-1]) == truth else 0.0)
    print("scored", len(rewards), "completions")
    return RewardFunctionResult(rewards, {"earned": sum(rewards)})
