"""Our own line: ``{"id"?, "group"?, "sample", "completion", "completion_ids"?, ...}``."""

from __future__ import annotations

from typing import Any

from rewards_lib.contract import Json, JsonObject, messages_of
from rewards_lib.errors import InputError
from rewards_lib.payloads.shapes import kind_of, read_completion, read_sample
from rewards_lib.rollouts.rollout import Recorded, Rollout, finite, prompt_key, read_reward

_PLAIN = {"id", "group", "sample", "completion", "line"}
"""Most lines hold nothing else; they need no further look."""
_KNOWN = _PLAIN | {"completion_ids", "usage", "reward", "rewards", "meta"}


def matches(row: JsonObject) -> bool:
    """A sample and one completion beside it."""
    return "sample" in row and "completions" not in row


def read(row: JsonObject, line: int) -> list[Rollout]:
    """Read one line; ``id`` is made of the line number and ``group`` of the prompt where they are absent."""
    sample = checked_sample(row.get("sample"))
    if "completion" not in row:
        raise InputError("completion is missing.", remedy="Write what the model wrote under completion.")
    completion = read_completion(row["completion"], "completion")
    own_id = identity(row.get("id"), str(line), "id")
    group = identity(row.get("group"), "", "group") or prompt_key(sample["messages"])
    if _PLAIN.issuperset(row):
        return [Rollout(line, own_id, group, sample, completion)]
    told = row["meta"] if isinstance(row.get("meta"), dict) else {}
    return [
        Rollout(
            line=line,
            id=own_id,
            group=group,
            sample=sample,
            completion=with_token_ids(completion, row),
            recorded=_recorded(row),
            meta={key: value for key, value in row.items() if key not in _KNOWN} | told,
        )
    ]


def _recorded(row: JsonObject) -> Recorded | None:
    given = row["rewards"] if isinstance(row.get("rewards"), dict) else {}
    rules = {str(name): finite(value) for name, value in given.items()}
    return read_reward(row.get("reward"), rules) if "reward" in row or rules else None


def checked_sample(value: Any) -> JsonObject:
    """Check a sample. Raises InputError with the path of what does not fit."""
    if not isinstance(value, dict):
        raise InputError("sample is {kind}; it must be an object.", kind=kind_of(value))
    messages, extra = value.get("messages"), value.get("extra")
    if type(messages) is list and type(extra) is dict and not value.get("tools") and all(map(_is_plain, messages)):
        return {"messages": messages, "extra": extra, "tools": []}  # what nearly all files hold; three times as fast
    return read_sample(value, "sample").to_json()


def _is_plain(message: Any) -> bool:
    """Whether a message is one that needs no further look: a role and a text."""
    return type(message) is dict and type(message.get("role")) is str and type(message.get("content")) is str


def identity(value: Any, otherwise: str, name: str) -> str:
    """Read an id or a group: a text, or a number as it prints. Raises InputError for anything else."""
    if value is None:
        return otherwise
    if type(value) is str:
        return value
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise InputError("{name} is {kind}; it must be a text or a number.", name=name, kind=kind_of(value))
    return str(value)


def with_token_ids(completion: Json, row: JsonObject) -> Json:
    """Put token counts that stand beside a completion into it, where rules look for them."""
    if row.get("completion_ids") is None and row.get("usage") is None:
        return completion
    beside = {key: row[key] for key in ("completion_ids", "usage") if row.get(key) is not None}
    if isinstance(completion, dict) and "messages" in completion:
        return beside | completion
    return {"messages": messages_of(completion), **beside}
