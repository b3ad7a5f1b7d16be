"""Whole conversations that end with what the model wrote: ``messages`` as OpenAI's, ``conversations`` as ShareGPT's.

The completion is what follows the last message of the user, so that a row without one is never read as a rollout.
"""

from __future__ import annotations

from typing import Any

from rewards_lib.contract import JsonObject
from rewards_lib.errors import InputError
from rewards_lib.rollouts.formats.columns import ground_truth, guess_part
from rewards_lib.rollouts.formats.evaluation_row import split_conversation
from rewards_lib.rollouts.rollout import END_KEYS, Rollout, prompt_key, read_reward

_NAMES = ("messages", "conversations", "conversation")
_ROLES = {
    "human": "user", "user": "user", "gpt": "assistant", "assistant": "assistant", "chatgpt": "assistant",
    "model": "assistant", "system": "system", "tool": "tool", "observation": "tool", "function_call": "assistant",
}  # fmt: skip


def matches(row: JsonObject) -> bool:
    """A conversation whose last word is the model's, with no completions beside it."""
    name = _name(row)
    if name is None or row.keys() & {"completions", "completion", "input_metadata", "responses", "choices"}:
        return False
    last = row[name][-1]
    return _ROLES.get(str(last.get("role", last.get("from")))) == "assistant"


def read(row: JsonObject, line: int) -> list[Rollout]:
    """Read one conversation; the other columns go to ``sample.extra`` but for a reward, a ground truth and a group."""
    name = _name(row)
    if name is None:
        raise InputError("No conversation stands in this row.")
    prompt, completion = split_conversation([_message(entry, place) for place, entry in enumerate(row[name])])
    if not completion:
        raise InputError("The conversation ends before the model wrote anything.")
    parts = {part: guess_part(row, part) for part in ("answer", "group", "id", "reward")}
    extra: JsonObject = {
        key: value for key, value in row.items() if key not in {name, "tools", *parts.values(), *END_KEYS}
    }
    answer = ground_truth(row, parts["answer"])
    if answer is not None:
        extra["answer"] = answer
    own = {part: row[key] for part, key in parts.items() if key and row[key] not in (None, "")}
    tools = [tool for tool in row["tools"] if isinstance(tool, dict)] if isinstance(row.get("tools"), list) else []
    return [
        Rollout(
            line=line,
            id=str(own.get("id", line)),
            group=str(own["group"]) if "group" in own else prompt_key(prompt),
            sample={"messages": prompt, "extra": extra, "tools": tools},
            completion={"messages": completion},
            recorded=read_reward(row[parts["reward"]]) if parts["reward"] else None,
            meta={key: row[key] for key in sorted(END_KEYS & row.keys())},
        )
    ]


def _name(row: JsonObject) -> str | None:
    return next((name for name in _NAMES if _is_talk(row.get(name))), None)


def _is_talk(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(entry, dict) for entry in value)


def _message(entry: JsonObject, place: int) -> JsonObject:
    """A message as OpenAI writes it. Raises InputError for a speaker that nobody knows."""
    if "role" in entry:
        return entry
    role = _ROLES.get(str(entry.get("from")))
    if role is None:
        raise InputError(
            "messages[{place}] is by {name}, whom no format knows.", place=place, name=str(entry.get("from"))
        )
    return {"role": role, "content": entry.get("value", entry.get("content"))}
