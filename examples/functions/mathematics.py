"""Rewards a right answer in the last box: 1.0 or 0.0, and no opinion where equality cannot be decided."""

import reward_tools
from rl_types import RewardFunctionResult


def reward_of(text, truth):
    answer = reward_tools.boxed(reward_tools.after_think(text) or "")
    if answer is None:
        return 0.0  # no box, an unfinished one, or one inside thoughts only: no answer was given
    equal = reward_tools.math_equal(answer, truth)
    return None if equal is None else float(equal)


def reward_fn(context, sample, completions):
    truth = sample["extra"]["answer"]
    rewards = [reward_of(reward_tools.completion_text(completion), truth) for completion in completions]
    undecided = sum(reward is None for reward in rewards)
    return RewardFunctionResult(rewards, {"undecided": undecided})
