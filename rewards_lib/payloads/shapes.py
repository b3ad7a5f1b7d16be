"""The shapes that samples and completions come in, checked once at the edge; every refusal names its JSON path."""

from __future__ import annotations

from typing import Any

from rewards_lib.contract import Completion, JsonObject, Payload, Sample, Sentence, sentence
from rewards_lib.errors import InputError

_KINDS: tuple[tuple[type | tuple[type, ...], Sentence], ...] = (
    (bool, sentence("true or false")),
    ((int, float), sentence("a number")),
    (str, sentence("a text")),
    (list, sentence("a list")),
    (dict, sentence("an object")),
)


def kind_of(value: object) -> Sentence:
    """Name the JSON kind of a value for a sentence: ``a number``, ``null``, ``a list``."""
    return next((name for kind, name in _KINDS if isinstance(value, kind)), Sentence("null"))


def read_body(body: JsonObject, path: str) -> Payload:
    """Read ``{"context"?, "sample", "completions"}``. ``path`` is where it stands (``data`` or empty)."""
    if "sample" not in body:
        raise InputError(
            "{path} is missing.",
            where=path,
            path=_join(path, "sample"),
            remedy='It is the dataset row: {{"messages": [...], "extra": {{"answer": ...}}}}.',
        )
    sample_path = _join(path, "sample")
    return Payload(
        sample=read_sample(_object(body["sample"], sample_path), sample_path),
        completions=read_completions(body, path),
        context=_object(body.get("context"), _join(path, "context"), default={}),
    )


def read_sample(row: JsonObject, path: str) -> Sample:
    """Read a dataset row: ``messages``, ``extra`` and ``tools``, each of which may be absent."""
    return Sample(
        messages=tuple(_messages(row.get("messages") or [], _join(path, "messages"))),
        extra=_object(row.get("extra"), _join(path, "extra"), default={}),
        tools=tuple(
            _object(tool, f"{_join(path, 'tools')}[{index}]")
            for index, tool in enumerate(_list(row.get("tools") or [], _join(path, "tools")))
        ),
    )


def read_completions(body: JsonObject, path: str) -> tuple[Completion, ...]:
    """Read the list of completions, each in any accepted shape; refuses a missing or empty list."""
    where = _join(path, "completions")
    if "completions" not in body:
        raise InputError(
            "{path} is missing.",
            path=where,
            remedy='Add the list of what the model wrote: "completions": ["..."].',
        )
    completions = _list(body["completions"], where)
    if not completions:
        raise InputError("{path} is empty.", path=where, remedy="Add at least one completion; nothing was scored.")
    return tuple(Completion(read_completion(raw, f"{where}[{index}]")) for index, raw in enumerate(completions))


def read_completion(raw: Any, path: str) -> Any:
    """Check one completion, in any accepted shape, and return it as it is. ``path`` names it in refusals."""
    if isinstance(raw, str):
        return raw
    if isinstance(raw, list):
        return _messages(raw, path)
    if not isinstance(raw, dict):
        raise InputError(
            "{path} is {kind}; a completion is a text, a message, a list of messages, or an object with messages.",
            path=path,
            kind=kind_of(raw),
        )
    if "messages" in raw:
        inner = raw["messages"]
        if isinstance(inner, dict):
            _message(inner, f"{path}.messages")
        elif not isinstance(inner, str):
            _messages(inner, f"{path}.messages")
    elif "content" in raw or "role" in raw:
        _message(raw, path)
    else:
        raise InputError(
            "{path} has neither messages nor content.",
            path=path,
            remedy='Write it as {{"messages": [{{"role": "assistant", "content": "..."}}]}}.',
        )
    return raw


def _messages(value: Any, path: str) -> list[JsonObject]:
    return [_message(message, f"{path}[{index}]") for index, message in enumerate(_list(value, path))]


def _message(value: Any, path: str) -> JsonObject:
    message = _object(value, path)
    content = message.get("content")
    if content is not None and not isinstance(content, (str, list)):
        raise InputError(
            "{path}.content is {kind}; it must be a text, null or a list of parts.",
            path=path,
            kind=kind_of(content),
        )
    role = message.get("role")
    if role is not None and not isinstance(role, str):
        raise InputError("{path}.role is {kind}; it must be a text.", path=path, kind=kind_of(role))
    return message


def _object(value: Any, path: str, *, default: JsonObject | None = None) -> JsonObject:
    if value is None and default is not None:
        return dict(default)
    if not isinstance(value, dict):
        raise InputError("{path} is {kind}; it must be an object.", path=path, kind=kind_of(value))
    return value


def _list(value: Any, path: str) -> list[Any]:
    if not isinstance(value, list):
        raise InputError("{path} is {kind}; it must be a list.", path=path, kind=kind_of(value))
    return value


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
