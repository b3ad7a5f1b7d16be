"""verifiers' traces.jsonl (0.3 and later, prime-rl's rollouts too): a graph of messages, whose last path is read.

Source: verifiers 0.4.0, v1/trace.py (Trace.to_record) and v1/graph.py (MessageNode). A reward is score times weight;
one that is null was never computed.
"""

from __future__ import annotations

from typing import Any

from rewards_lib.contract import JsonObject
from rewards_lib.errors import InputError
from rewards_lib.payloads.shapes import kind_of
from rewards_lib.rollouts.rollout import Recorded, Rollout, finite, prompt_key

_NOT_OF_THE_SAMPLE = {"prompt", "system_prompt", "idx", "id", "network_allow", "network_block", "skills", "artifacts"}


def matches(row: JsonObject) -> bool:
    """Nodes and rewards with a task, as they are or with or under ``trace``."""
    body = _body(row)
    return {"nodes", "rewards"} <= body.keys() and ("task" in body or "trace" in row)


def read(row: JsonObject, line: int) -> list[Rollout]:
    """Read one trace: what was given before the model first wrote is the prompt, all that follows the completion."""
    body = _body(row)
    path = _last_path(body["nodes"])
    begin = next((place for place, node in enumerate(path) if node.get("sampled")), len(path))
    messages = [_message(node.get("message"), place) for place, node in enumerate(path)]
    given = body.get("task")
    task: JsonObject = given if isinstance(given, dict) else {} if given is None else {"key": given}
    data: JsonObject = task["data"] if isinstance(task.get("data"), dict) else {}
    errors = body.get("errors") if isinstance(body.get("errors"), list) else []
    error = str(errors[0].get("message") or errors[0].get("type")) if errors and isinstance(errors[0], dict) else ""
    rules, reward = _rewards(body["rewards"])
    metrics = {
        name: number for name, value in (body.get("metrics") or {}).items() if (number := finite(value)) is not None
    }
    return [
        Rollout(
            line=line,
            id=str(body.get("id") or line),
            group=_group(task, data, messages[:begin]),
            sample={
                "messages": messages[:begin],
                "extra": {k: v for k, v in data.items() if k not in _NOT_OF_THE_SAMPLE and v is not None},
                "tools": [tool for tool in body.get("tools") or [] if isinstance(tool, dict)],
            },
            completion={"messages": messages[begin:]} if begin < len(path) else None,
            recorded=Recorded(None if error else reward, rules, metrics, error),
            meta={key: body[key] for key in ("stop_condition", "is_timeout") if body.get(key)},
        )
    ]


def _body(row: JsonObject) -> JsonObject:
    inner = row.get("trace")
    return inner if isinstance(inner, dict) else row


def _last_path(nodes: Any) -> list[JsonObject]:
    """The nodes from the root to the leaf that was added last."""
    if not isinstance(nodes, list) or not nodes or not all(isinstance(node, dict) for node in nodes):
        raise InputError("nodes is {kind}; it must be a list of messages.", kind=kind_of(nodes))
    place: Any = len(nodes) - 1  # nodes are appended: the last one is a leaf
    path: list[JsonObject] = []
    while place is not None:
        if not isinstance(place, int) or not 0 <= place < len(nodes) or len(path) > len(nodes):
            raise InputError("nodes name a parent that is not there.")
        path.append(nodes[place])
        place = nodes[place].get("parent")
    return path[::-1]


def _message(value: Any, place: int) -> JsonObject:
    if not isinstance(value, dict):
        raise InputError("nodes[{place}].message is {kind}; it must be an object.", place=place, kind=kind_of(value))
    message = {key: entry for key, entry in value.items() if entry is not None or key == "content"}
    calls = message.get("tool_calls")
    if isinstance(calls, list):
        message["tool_calls"] = [_call(call) for call in calls]
    return message


def _call(call: Any) -> Any:
    """A call as OpenAI writes it; traces keep name and arguments at its top."""
    if not isinstance(call, dict) or "function" in call or "name" not in call:
        return call
    function = {"name": call["name"], "arguments": call.get("arguments")}
    return {"id": call.get("id"), "type": "function", "function": function}


def _rewards(given: Any) -> tuple[dict[str, float | None], float | None]:
    """Each reward's score, and their weighted sum; None where one of them was never computed, or there is none."""
    scores: dict[str, float | None] = {}
    total, is_whole = 0.0, isinstance(given, dict) and bool(given)
    for name, reward in given.items() if isinstance(given, dict) else ():
        score = finite(reward.get("score") if isinstance(reward, dict) else reward)
        weight = finite(reward.get("weight", 1.0)) if isinstance(reward, dict) else 1.0
        scores[str(name)] = score
        is_whole = is_whole and score is not None and weight is not None
        total += (score or 0.0) * (weight or 0.0)
    return scores, total if is_whole else None


def _group(task: JsonObject, data: JsonObject, prompt: list[JsonObject]) -> str:
    for name in (task.get("key"), task.get("id"), data.get("id"), data.get("idx"), task.get("hash")):
        if name is not None:
            return f"task-{name}"
    return prompt_key(prompt)
