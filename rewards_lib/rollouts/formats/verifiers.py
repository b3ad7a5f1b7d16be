"""verifiers' results.jsonl (up to 0.3): ``prompt``, ``completion``, ``reward`` and an ``example_id`` or ``id``.

Source: willccbb/verifiers, environments/*/outputs/evals. Tool calls are JSON text in older files. The ``id`` of those
files is no example: it is the row's number divided by the rollouts of an example, while the rows run through all
examples, again and again; rollouts of one ``id`` have different prompts.
"""

from __future__ import annotations

import json
from typing import Any

from rewards_lib.contract import JsonObject
from rewards_lib.errors import InputError
from rewards_lib.rollouts.formats.prompts import as_prompt
from rewards_lib.rollouts.rollout import Recorded, Rollout, finite, prompt_key

_FIELDS = {"id", "example_id", "prompt", "completion", "reward", "answer", "task", "info", "metrics", "error"}


def matches(row: JsonObject) -> bool:
    """Prompt, completion and reward under an example's number."""
    return {"prompt", "completion", "reward"} <= row.keys() and ("example_id" in row or "id" in row)


def read(row: JsonObject, line: int) -> list[Rollout]:
    """Read one row; numbers beside the reward are metrics, those of ``*_reward_func`` and ``metrics`` included."""
    info = _decoded(row.get("info"))
    extra: JsonObject = dict(info) if isinstance(info, dict) else {}
    if row.get("answer") is not None:
        extra["answer"] = row["answer"]
    tools = _decoded(extra.pop("oai_tools", None))
    failed = row.get("error")
    prompt, number = as_prompt(row["prompt"]), row.get("example_id")
    kept = ("task", "is_truncated", "stop_condition")
    return [
        Rollout(
            line=line,
            id=str(line),
            group=f"example-{number}" if number is not None else prompt_key([prompt, row.get("answer")]),
            sample={"messages": prompt, "extra": extra, "tools": tools or []},
            completion=_completion(row["completion"]),
            recorded=Recorded(
                None if failed else finite(row["reward"]), _rules(row), _metrics(row), str(failed) if failed else ""
            ),
            meta={key: row[key] for key in kept if row.get(key) is not None},
        )
    ]


def _completion(value: Any) -> Any:
    if isinstance(value, str):
        return value
    if not isinstance(value, list) or not all(isinstance(message, dict) for message in value):
        raise InputError("completion is neither a text nor a list of messages.")
    return {"messages": [_with_calls(message) for message in value]}


def _with_calls(message: JsonObject) -> JsonObject:
    calls = message.get("tool_calls")
    if not isinstance(calls, list):
        return {key: value for key, value in message.items() if value is not None or key == "content"}
    return message | {"tool_calls": [_decoded(call) for call in calls]}


def _decoded(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _rules(row: JsonObject) -> dict[str, float | None]:
    return {key: finite(value) for key, value in row.items() if key.endswith(("_reward_func", "_reward"))}


def _metrics(row: JsonObject) -> dict[str, float]:
    given = row.get("metrics")
    flat = {key: value for key, value in row.items() if key not in _FIELDS and not key.endswith("_reward_func")}
    numbers = {key: finite(value) for key, value in (flat | (given if isinstance(given, dict) else {})).items()}
    return {key: value for key, value in numbers.items() if value is not None}
