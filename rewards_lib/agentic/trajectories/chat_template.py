"""A conversation as the text that a trainer tokenises, in pieces by who wrote them.

Invariant: the pieces, joined, are the text. The template is ChatML with tool calls in tags, as Qwen's: close enough to
see a mask; a trainer's own template decides about its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rewards_lib.agentic.trajectories.trajectory import Part, Trajectory
from rewards_lib.contract import JsonObject, text_of
from rewards_lib.strict_json import write_json

_THINK = re.compile(r"\A(\s*<think>.*?</think>\s*)(.*)\Z", re.DOTALL)
_ROLES = {"system": Part.SYSTEM, "developer": Part.SYSTEM, "user": Part.USER, "tool": Part.TOOL, "function": Part.TOOL}


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text of one author."""

    text: str
    part: Part
    turn: int
    """The number of its message, from 0."""


def render(trajectory: Trajectory) -> tuple[Piece, ...]:
    """Write a conversation as text, piece by piece; empty pieces are left out."""
    pieces: list[Piece] = []
    for turn, message in enumerate(trajectory.messages):
        role = str(message.get("role", "user"))
        parts: list[tuple[str, Part]] = [(f"<|im_start|>{role}\n", Part.TEMPLATE)]
        if role != "assistant":
            parts += [(text_of(message), _ROLES.get(role, Part.USER)), ("<|im_end|>\n", Part.TEMPLATE)]
        elif turn < trajectory.prompt_messages:
            parts += [
                ("".join(text for text, _part in _written(message)), Part.HISTORY),
                ("<|im_end|>\n", Part.TEMPLATE),
            ]
        else:
            parts += _written(message)
            is_last = turn == len(trajectory.messages) - 1
            if not (is_last and trajectory.truncated):
                parts += [("<|im_end|>", Part.END), ("\n", Part.TEMPLATE)]
        pieces += [Piece(text, part, turn) for text, part in parts if text]
    return tuple(pieces)


def _written(message: JsonObject) -> list[tuple[str, Part]]:
    """What an assistant wrote: reasoning, answer and tool calls, in the order in which they are generated."""
    content, reasoning = text_of(message), message.get("reasoning_content")
    parts: list[tuple[str, Part]] = []
    if isinstance(reasoning, str) and reasoning:
        parts.append((f"<think>\n{reasoning}\n</think>\n\n", Part.REASONING))
    elif found := _THINK.match(content):
        parts.append((found[1], Part.REASONING))
        content = found[2]
    parts.append((content, Part.ANSWER))
    calls = message.get("tool_calls")
    for place, call in enumerate(calls if isinstance(calls, list) else []):
        before = "\n" if place or content else ""
        parts.append((f"{before}<tool_call>\n{_call_text(call)}\n</tool_call>", Part.TOOL_CALL))
    return parts


def _call_text(call: Any) -> str:
    """A tool call as JSON; arguments that are JSON in a string stay as the policy wrote them."""
    function = call.get("function", call) if isinstance(call, Mapping) else {}
    if not isinstance(function, Mapping):
        function = {}
    name, arguments = function.get("name", ""), function.get("arguments", {})
    written = arguments if isinstance(arguments, str) else write_json(arguments)
    return f'{{"name": {write_json(str(name))}, "arguments": {written}}}'
