"""Messages as reward code receives them: a list that also answers for its last message.

Trainers send ``completion["messages"]`` as a list, documented functions read it as one message; both spellings work
on both shapes. Invariant: it is a list, and equal to the list that was sent.
"""

from __future__ import annotations

from typing import Any


class Messages(list[Any]):
    """A list of messages; text keys are looked up in the last one."""

    def __getitem__(self, key: Any) -> Any:
        """An entry by position, or a field of the last message by name."""
        return self._last()[key] if isinstance(key, str) else super().__getitem__(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        """Set an entry by position, or a field of the last message by name."""
        if isinstance(key, str):
            self._last()[key] = value
        else:
            super().__setitem__(key, value)

    def __contains__(self, key: Any) -> bool:
        """Tell whether the last message has a field, or whether a message is in the list."""
        return key in self._last() if isinstance(key, str) and self else super().__contains__(key)

    def get(self, key: str, default: Any = None) -> Any:
        """A field of the last message, or the default."""
        return self._last().get(key, default) if self else default

    def keys(self) -> Any:
        """The fields of the last message."""
        return self._last().keys()

    def values(self) -> Any:
        """The values of the last message."""
        return self._last().values()

    def items(self) -> Any:
        """The fields and values of the last message."""
        return self._last().items()

    def _last(self) -> Any:
        if not self:
            raise KeyError("the completion has no messages")
        return super().__getitem__(-1)


def wrap_completion(completion: Any) -> Any:
    """Give a completion, which is the caller's to change, messages that answer to both spellings.

    Other shapes stay as they are.
    """
    if not isinstance(completion, dict) or "messages" not in completion:
        return completion
    messages = completion["messages"]
    if type(messages) is list:
        completion["messages"] = Messages(messages)
        return completion
    if isinstance(messages, str):
        messages = [{"role": "assistant", "content": messages}]
    elif isinstance(messages, dict):
        messages = [messages]
    return {**completion, "messages": Messages(messages)} if isinstance(messages, list) else completion


Messages.__module__ = "builtins"
