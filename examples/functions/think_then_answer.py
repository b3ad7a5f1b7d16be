"""Rewards the form alone: one think block, then one answer block, both with text in them and nothing around them.

Half of the reward is for tags that occur exactly once, so that a policy which has never seen them finds the way.
"""

import re

import reward_tools
from rl_types import RewardFunctionResult

TAGS = ("<think>", "</think>", "<answer>", "</answer>")
FORM = re.compile(r"\s*<think>(.*\S.*)</think>\s*<answer>(.*\S.*)</answer>\s*", re.DOTALL)


def reward_of(text):
    once = [text.count(tag) == 1 for tag in TAGS]
    is_whole = all(once) and FORM.fullmatch(text) is not None
    return 0.5 * sum(once) / len(TAGS) + 0.5 * is_whole


def reward_fn(context, sample, completions):
    rewards = [reward_of(reward_tools.completion_text(completion)) for completion in completions]
    return RewardFunctionResult(rewards, {"whole_share": sum(reward == 1.0 for reward in rewards) / len(rewards)})
