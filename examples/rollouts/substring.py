"""A reward that looks right on real completions and pays for an empty one: `attack` says so."""

from rl_types import RewardFunctionResult


def reward_fn(_context: dict, sample: dict, completions: list[dict]) -> RewardFunctionResult:
    """1 when the answer is part of the text, or the text part of the answer."""
    answer = sample["extra"]["answer"]
    texts = [completion["messages"][-1]["content"].strip() for completion in completions]
    return RewardFunctionResult([float(answer in text or text in answer) for text in texts])
