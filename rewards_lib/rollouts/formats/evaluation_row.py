"""eval-protocol's EvaluationRow: the whole conversation under ``messages``, the score under ``evaluation_result``.

Source: eval-protocol/python-sdk. A row without a result, or with one marked invalid, is unscored.
"""

from __future__ import annotations

from typing import Any

from rewards_lib.contract import JsonObject
from rewards_lib.errors import InputError
from rewards_lib.rollouts.rollout import Recorded, Rollout, finite, prompt_key


def matches(row: JsonObject) -> bool:
    """Messages with the metadata of an evaluation."""
    return "input_metadata" in row and "messages" in row


def read(row: JsonObject, line: int) -> list[Rollout]:
    """Read one row; the completion is what follows the last message of the user, None where nothing does."""
    messages = row["messages"]
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        raise InputError("messages is no list of messages.")
    prompt, completion = split_conversation(messages)
    metadata = row["input_metadata"] if isinstance(row["input_metadata"], dict) else {}
    row_id = metadata.get("row_id")
    info = metadata.get("dataset_info")
    extra: JsonObject = dict(info) if isinstance(info, dict) else {}
    if row.get("ground_truth") is not None:
        extra["answer"] = row["ground_truth"]
    tools = [tool for tool in row.get("tools") or [] if isinstance(tool, dict)]
    return [
        Rollout(
            line=line,
            id=str(row.get("rollout_id") or line),
            group=str(row_id) if row_id is not None else prompt_key(prompt),
            sample={"messages": prompt, "extra": extra, "tools": tools},
            completion={"messages": completion} if completion else None,
            recorded=_recorded(row.get("evaluation_result")),
            meta={key: row[key] for key in ("run_id", "invocation_id", "cohort_id") if row.get(key)},
        )
    ]


def split_conversation(messages: list[JsonObject]) -> tuple[list[JsonObject], list[JsonObject]]:
    """Cut a conversation behind the last message of the user: prompt and completion."""
    last = max((place for place, message in enumerate(messages) if message.get("role") == "user"), default=-1)
    return messages[: last + 1], messages[last + 1 :]


def _recorded(result: Any) -> Recorded:
    if not isinstance(result, dict):
        return Recorded(error="the row has no evaluation_result")
    reason = str(result.get("reason") or "")
    if result.get("is_score_valid") is False:
        return Recorded(error=reason or "the score is marked invalid")
    given = result.get("metrics")
    rules = {
        str(name): finite(metric.get("score") if isinstance(metric, dict) else metric)
        for name, metric in (given if isinstance(given, dict) else {}).items()
    }
    reward = finite(result.get("score"))
    return Recorded(reward, rules, error="" if reward is not None else reason or "the result has no score")
