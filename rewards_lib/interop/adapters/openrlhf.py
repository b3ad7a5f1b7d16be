"""OpenRLHF's ``--reward.remote_url FILE.py``: lists of queries, prompts and labels in, tensors of rewards out."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

from rewards_lib.interop.adapters.arguments import number_of, plain, sample_of
from rewards_lib.interop.runtime import Reward
from rewards_lib.payloads.openrlhf import response_of
from rewards_lib.payloads.texts import extra_of, without_special_tokens


def reward_function(reward: Reward) -> Callable[..., dict[str, Any]]:
    """The function that OpenRLHF calls ``reward_func``.

    A query is the prompt with the response behind it; a label is the ground truth, or, where it is an object (also
    as a text), all of ``sample.extra``. Raises UnscoredError: OpenRLHF then logs it and leaves the reward None.
    """

    def reward_func(
        queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any], **_rest: Any
    ) -> dict[str, Any]:
        rewards, metrics = [], []
        for query, prompt, label in zip(queries, prompts, labels, strict=True):
            response = without_special_tokens(response_of(query, prompt))
            result = reward.score(sample_of(prompt, extra_of(plain(label))), [response])
            rewards.append(number_of(result))
            metrics.append(result.metrics)
        names = sorted(set.intersection(*(set(row) for row in metrics))) if metrics else []
        logs = {name: _tensor([row[name] for row in metrics]) for name in names}
        return {"rewards": _tensor(rewards), "scores": _tensor(rewards), "extra_logs": logs}

    return reward_func


def _tensor(values: list[float]) -> Any:
    """A tensor where torch is, as in the trainer; the plain list elsewhere."""
    try:
        torch = importlib.import_module("torch")
    except ImportError:
        return values
    return torch.tensor(values, dtype=torch.float64)
