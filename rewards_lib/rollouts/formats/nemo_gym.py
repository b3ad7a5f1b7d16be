"""NeMo-Gym rollouts: ``responses_create_params`` and ``response`` in the shape of OpenAI's Responses.

Source: NVIDIA-NeMo/Gym, resources_servers/*/data/example_rollouts.jsonl.
"""

from __future__ import annotations

import json
from typing import Any

from rewards_lib.contract import JsonObject
from rewards_lib.errors import InputError
from rewards_lib.rollouts.rollout import Recorded, Rollout, finite, prompt_key

_TRUTHS = ("expected_answer", "answer", "ground_truth", "expected_output")
_NOT_METRICS = {"reward", "_ng_task_index", "_ng_rollout_index"}


def matches(row: JsonObject) -> bool:
    """The request and the response beside each other."""
    return "responses_create_params" in row and "response" in row


def read(row: JsonObject, line: int) -> list[Rollout]:
    """Read one rollout: its prompt, the items of its response, its reward and the components of it."""
    request, response = row["responses_create_params"], row["response"]
    if not isinstance(request, dict) or not isinstance(response, dict):
        raise InputError("responses_create_params and response must be objects.")
    prompt = _prompt(request)
    task, attempt = row.get("_ng_task_index"), row.get("_ng_rollout_index")
    group = f"task-{task}" if task is not None else prompt_key(prompt)
    completion: JsonObject = {"messages": _messages(response.get("output"))}
    usage = response.get("usage")
    if isinstance(usage, dict) and isinstance(usage.get("output_tokens"), int):
        completion["usage"] = {"completion_tokens": usage["output_tokens"]}
    tools = [tool for tool in request.get("tools") or [] if isinstance(tool, dict)]
    return [
        Rollout(
            line=line,
            id=f"{task}.{attempt}" if task is not None and attempt is not None else str(line),
            group=group,
            sample={"messages": prompt, "extra": _extra(row), "tools": tools},
            completion=completion,
            recorded=_recorded(row),
            meta={"finish_reason": response["status"]} if response.get("status") else {},
        )
    ]


def _prompt(request: JsonObject) -> list[JsonObject]:
    given = request.get("input")
    messages = [{"role": "user", "content": given}] if isinstance(given, str) else _messages(given)
    instructions = request.get("instructions")
    return [{"role": "system", "content": instructions}, *messages] if instructions else messages


def _messages(items: Any) -> list[JsonObject]:
    """Turn items into chat messages: reasoning stays apart from what was said, calls become tool calls."""
    messages: list[JsonObject] = []
    reasoning = ""
    for item in items if isinstance(items, list) else []:
        kind = item.get("type", "message") if isinstance(item, dict) else None
        if kind == "message":
            message = {"role": item.get("role", "assistant"), "content": _text(item.get("content"))}
            messages.append(message | ({"reasoning_content": reasoning} if reasoning else {}))
            reasoning = ""
        elif kind == "reasoning":
            reasoning += _text(item.get("summary")) or _text(item.get("content"))
        elif kind == "function_call":
            call = {"function": {"name": item.get("name"), "arguments": item.get("arguments")}, "type": "function"}
            messages.append({"role": "assistant", "content": "", "tool_calls": [{"id": item.get("call_id"), **call}]})
        elif kind == "function_call_output":
            output = item.get("output")
            text = output if isinstance(output, str) else json.dumps(output)
            messages.append({"role": "tool", "tool_call_id": item.get("call_id"), "content": text})
    return messages


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "".join(part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str))


def _extra(row: JsonObject) -> JsonObject:
    left_out = {"responses_create_params", "response", "reward", "reward_components", "judge_evaluations"}
    extra = {key: value for key, value in row.items() if key not in left_out and not key.startswith("_ng_")}
    truth = next((row[key] for key in _TRUTHS if row.get(key) is not None), None)
    return extra if truth is None else extra | {"answer": truth}


def _recorded(row: JsonObject) -> Recorded:
    components = row.get("reward_components")
    rules = components if isinstance(components, dict) else {}
    metrics = {key: finite(value) for key, value in row.items() if key not in _NOT_METRICS}
    return Recorded(
        reward=finite(row.get("reward")),
        rules={str(name): finite(value) for name, value in rules.items()},
        metrics={name: value for name, value in metrics.items() if value is not None},
    )
