"""Rewards a JSON object by the share of its fields that are right; text that is not one JSON object earns 0.

The ground truth, sample["extra"]["answer"], is the object that is wanted. Fields that nobody asked for cost as much as
missing ones, so that listing everything does not pay.
"""

import reward_tools
from rl_types import RewardFunctionResult


def is_same(value, wanted):
    # true is not 1 here, though Python says so
    return type(value) is type(wanted) and value == wanted


def reward_of(text, wanted):
    record = reward_tools.json_value(text)
    if not isinstance(record, dict):
        return 0.0
    right = sum(key in record and is_same(record[key], value) for key, value in wanted.items())
    return right / len(set(wanted) | set(record))


def reward_fn(context, sample, completions):
    wanted = sample["extra"]["answer"]
    if not isinstance(wanted, dict) or not wanted:
        return RewardFunctionResult([None] * len(completions))  # nothing to compare with: no opinion, not 0
    texts = [reward_tools.completion_text(completion) for completion in completions]
    return RewardFunctionResult(
        [reward_of(text, wanted) for text in texts],
        {"is_json": sum(reward_tools.json_value(text) is not None for text in texts) / len(texts)},
    )
