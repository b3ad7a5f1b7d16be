"""Requests that carry plain texts instead of a sample: what OpenRLHF and slime send about one completion.

Invariant: a label is the ground truth, unless it is an object: then it is all of ``sample.extra``.
"""

from __future__ import annotations

import json
import re
from typing import Any

from rewards_lib.contract import Completion, Json, JsonObject, Payload, Sample
from rewards_lib.errors import InputError
from rewards_lib.payloads.shapes import kind_of

# Chat templates close a turn with one of these; they are no part of what the model said.
_SPECIAL = r"(?:<\|[A-Za-z0-9_ -]{1,40}\|>|</?s>|<eos>|<bos>|<pad>|<end_of_turn>|\[/?INST\]|<｜[^｜<>]{1,40}｜>)"
_AROUND = re.compile(rf"^(?:\s*{_SPECIAL})+|(?:{_SPECIAL}\s*)+$")


def without_special_tokens(text: str) -> str:
    """The text without the special tokens before and behind it.

    >>> without_special_tokens("42<|im_end|>")
    '42'
    """
    return _AROUND.sub("", text)


def extra_of(label: Json) -> JsonObject:
    """``sample.extra`` for a label: an object, also one in a text, as it is, anything else as ``answer``.

    >>> extra_of("42"), extra_of('{"answer": "42", "level": 3}'), extra_of(None)
    ({'answer': '42'}, {'answer': '42', 'level': 3}, {})
    """
    if label is None:
        return {}
    if isinstance(label, str) and label.lstrip().startswith("{"):
        try:
            label = json.loads(label)
        except (ValueError, RecursionError):
            return {"answer": label}
    return dict(label) if isinstance(label, dict) else {"answer": label}


def payload_of(prompt: Json, responses: list[str], label: Json, *, path: str) -> Payload:
    """One sample and what was answered to it. Raises InputError with the JSON path of a prompt that is none."""
    if isinstance(prompt, str):
        messages: list[Any] = [{"role": "user", "content": prompt}] if prompt else []
    elif isinstance(prompt, list) and all(isinstance(message, dict) for message in prompt):
        messages = prompt
    else:
        raise InputError("{path} is {kind}; it must be a text or a list of messages.", path=path, kind=kind_of(prompt))
    sample = Sample(tuple(messages), extra_of(label))
    return Payload(sample, tuple(Completion(without_special_tokens(text)) for text in responses))


def text_at(body: JsonObject, key: str) -> str:
    """A text of the request. Raises InputError with its JSON path."""
    value = body.get(key)
    if not isinstance(value, str):
        raise InputError("{path} is {kind}; it must be a text.", path=key, kind=kind_of(value))
    return value
