"""A reward that a random model earns something of: the share of letters; a completion without a letter has none."""

from rl_types import RewardFunctionResult


def reward_fn(context, sample, completions):
    rewards = []
    for completion in completions:
        text = completion["messages"][-1]["content"]
        letters = sum(sign.isalpha() for sign in text)
        rewards.append(letters / len(text) if text and letters % 5 else None)
    return RewardFunctionResult(rewards, {"level": float(sample["extra"].get("level", 0))})
