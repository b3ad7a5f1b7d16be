"""Prompts as files write them: messages, messages written as JSON text, or a bare text."""

from __future__ import annotations

import json
from typing import Any

from rewards_lib.contract import JsonObject
from rewards_lib.errors import InputError


def as_prompt(value: Any) -> list[JsonObject]:
    """Read a prompt: messages as they are, a text as one message of the user. Raises InputError for anything else.

    Tables that know texts alone hold messages as JSON: taken for a text, it would be the prompt with all its brackets.

    >>> as_prompt('[{"role": "user", "content": "1+1?"}]') == as_prompt("1+1?")
    True
    """
    if isinstance(value, str):
        return _written_messages(value) or [{"role": "user", "content": value}]
    if isinstance(value, list) and all(isinstance(message, dict) for message in value):
        return value
    raise InputError("prompt is neither a text nor a list of messages.")


def _written_messages(text: str) -> list[JsonObject] | None:
    if not text.lstrip().startswith("[{"):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    is_talk = all(isinstance(entry, dict) and isinstance(entry.get("role"), str) for entry in value)
    return value if is_talk else None
