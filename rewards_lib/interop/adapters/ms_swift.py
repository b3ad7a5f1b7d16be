"""ms-swift's ``--external_plugins``: a class whose instances take completions and dataset columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rewards_lib.interop.adapters.trl import reward_function
from rewards_lib.interop.runtime import Reward


def reward_class(reward: Reward, base: type = object) -> type:
    """The class to put into ``orms``; its instances return one reward each, None where there is none.

    ms-swift hands the prompt over as the column ``messages``, the last of which is the completion.
    """
    score = reward_function(reward)

    class ExportedReward(base):  # type: ignore[misc]
        """The reward as ms-swift calls it."""

        def __call__(self, completions: Sequence[str], **columns: Any) -> list[float | None]:
            """One reward for each completion."""
            given = columns.pop("messages", None)
            prompts = [_prompt(given, place) for place in range(len(completions))]
            return score(prompts, list(completions), **columns)

    return ExportedReward


def _prompt(messages: Any, place: int) -> list[Any]:
    """The messages before the completion."""
    if not isinstance(messages, (list, tuple)) or place >= len(messages) or not isinstance(messages[place], list):
        return []
    own: list[Any] = messages[place]
    return own[:-1] if own and own[-1].get("role") == "assistant" else own
