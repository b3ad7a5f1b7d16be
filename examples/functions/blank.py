from rl_types import RewardFunctionResult


def reward_fn(context, sample, completions):
    rewards = []
    for completion in completions:
        text = completion["messages"][-1]["content"]
        rewards.append(float(sample["extra"]["answer"] in text))
    return RewardFunctionResult(rewards)
