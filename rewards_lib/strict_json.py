"""Strict JSON: read as people write it by hand, every mistake one sentence with its line and column, and written.

Invariant: reading raises ``InputError`` and nothing else, whatever the text; what is written holds no NaN and no -0.0.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from rewards_lib.contract import Json, Sentence, sentence
from rewards_lib.errors import InputError

_STRING_OR_CONSTANT = re.compile(r'"(?:[^"\\]|\\.)*"|-?\bInfinity\b|\bNaN\b', re.DOTALL)

# What the standard decoder says, and what a reader wants to hear instead: what belongs here, and the way out.
_MEANINGS: dict[str, tuple[str, str]] = {
    "Expecting property name enclosed in double quotes": (
        "found {found} where a name in double quotes or a closing brace belongs.",
        "Names need double quotes, and no comma may stand before a closing brace.",
    ),
    "Expecting value": (
        "found {found} where a value belongs.",
        "Values are texts in double quotes, numbers, true, false, null, lists and objects.",
    ),
    "Expecting ',' delimiter": (
        "found {found} where a comma or the closing bracket belongs.",
        'Put a comma between entries; a double quote inside a text is written \\".',
    ),
    "Expecting ':' delimiter": ("found {found} where a colon belongs.", 'Write "name": value.'),
    "Extra data": ("the JSON ends before this place, but the text goes on with {found}.", "Send one JSON value."),
    "Unterminated string starting at": (
        "the text that starts here never ends.",
        "Close it with a double quote on the same line.",
    ),
    "Invalid \\escape": (
        "this backslash starts no escape that JSON knows.",
        "Write two backslashes to mean one, as in \\\\frac.",
    ),
    "Invalid control character at": (
        "a raw control character stands inside a text.",
        "Write \\n for a line break and \\t for a tab.",
    ),
}


_SIGNS: dict[str, Sentence] = {
    "\n": sentence("a line break"),
    "\t": sentence("a tab"),
    " ": sentence("a blank"),
    ",": sentence("a comma"),
    "'": sentence("a single quote"),
}


class JsonError(InputError):
    """A text that is not strict JSON, with its place."""

    code = "json"

    def __init__(self, message: str, text: str, place: int, *, name: str, remedy: str = "", **values: object) -> None:
        self.line = text.count("\n", 0, place) + 1
        self.column = place - (text.rfind("\n", 0, place) + 1) + 1
        self.name = name
        super().__init__(message, where=str(self.place), remedy=remedy, **values)

    @property
    def place(self) -> Sentence:
        """``p.json, line 3, column 7``, the file only where it has a name."""
        if self.name:
            return sentence("{file}, line {line}, column {column}", file=self.name, line=self.line, column=self.column)
        return sentence("line {line}, column {column}", line=self.line, column=self.column)


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise InputError("The number {number} is too large.", number=digits[:40], remedy="Write null for no number.")
    return number


def read_json(
    text: str | bytes, *, name: str = "", parse_float: Callable[[str], Any] = _finite, unique_keys: bool = False
) -> Any:
    """Decode strict JSON.

    ``name`` (a file name) goes in front of the place in error messages. ``parse_float`` receives the digits of each
    number that is not an integer. With ``unique_keys`` a key that occurs twice in an object is refused. Raises
    InputError with line and column for anything that is not strict JSON, NaN and Infinity included, and for JSON that
    is nested too deeply or holds an integer of more than 4,300 digits.
    """
    if isinstance(text, bytes):
        text = decode_utf8(text, name=name)
    text = text.removeprefix("\ufeff")
    if not text.strip():
        raise InputError("There is nothing here.", where=name, remedy="A JSON object is expected.")

    def refuse_constant(token: str) -> None:
        place = next((m.start() for m in _STRING_OR_CONSTANT.finditer(text) if m[0] == token), 0)
        raise JsonError(
            "The token {token} is not JSON.", text, place, name=name, token=token,
            remedy="Write null for a missing number.",
        )  # fmt: skip

    try:
        hook = _refuse_repeated_keys if unique_keys else None
        return json.loads(text, parse_constant=refuse_constant, parse_float=parse_float, object_pairs_hook=hook)
    except json.JSONDecodeError as error:
        raise _explained(error, text, name) from None
    except RecursionError:
        raise InputError("The JSON is nested too deeply.", where=name, remedy="Nest less than 900 levels.") from None
    except ValueError:  # Python's own bound on the digits of an integer
        raise InputError("The JSON holds an integer of more than 4,300 digits.", where=name) from None


def _refuse_repeated_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) < len(pairs):
        names = [key for key, _ in pairs]
        key = next(name for name in names if names.count(name) > 1)
        raise InputError("The key {key!r} occurs twice in one object.", where=key, key=key, remedy="Keep one of them.")
    return row


def read_text(path: Path) -> str:
    """Read a text file. Raises InputError that names the file and why it cannot be read."""
    try:
        return decode_utf8(path.read_bytes(), name=path.name)
    except OSError as error:
        raise InputError(
            "The file cannot be read: {reason}.",
            where=str(path),
            reason=(error.strerror or "unknown reason").lower(),
        ) from None


def decode_utf8(data: bytes, *, name: str = "") -> str:
    """Decode UTF-8, or raise InputError with the byte offset of the first bad byte."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            "Byte {offset} is not UTF-8.",
            where=name,
            offset=error.start,
            remedy="Save the file as UTF-8.",
        ) from None


def _explained(error: json.JSONDecodeError, text: str, name: str) -> JsonError:
    message = error.msg.removesuffix(" at") if error.msg.startswith("Invalid control") else error.msg
    before = text[: error.pos].rstrip()
    if before.endswith(",") and text[error.pos : error.pos + 1] in ("}", "]"):
        message = "found a comma before the closing {bracket}."
        return JsonError(
            message, text, len(before) - 1, name=name, remedy="Take the comma out.", bracket=text[error.pos]
        )
    key = next((key for key in _MEANINGS if error.msg.startswith(key)), None)
    what, remedy = _MEANINGS[key] if key else (message, "")
    place = min(error.pos, len(text))
    return JsonError(what, text, place, name=name, remedy=remedy, found=_found(text, place))


def _found(text: str, place: int) -> Sentence:
    if place >= len(text):
        return sentence("the end of the text")
    return _SIGNS.get(text[place]) or Sentence(text[place])


# --- writing --------------------------------------------------------------------------------------------------------


def write_json(value: object, *, indent: int | None = None) -> str:
    """Write strict JSON: no NaN, no Infinity (ValueError), no -0.0, text as it is, lone surrogates escaped."""
    text = json.dumps(_plain(value), ensure_ascii=False, allow_nan=False, indent=indent)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(_plain(value), ensure_ascii=True, allow_nan=False, indent=indent)
    return text


def _plain(value: object) -> object:
    """Replace -0.0 by 0.0, everywhere."""
    if isinstance(value, float):
        return value + 0.0
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


def walk_strings(value: Json, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield (JSON path, text) for every string value below ``value``.

    >>> list(walk_strings({"a": ["x"]}))
    [('a[0]', 'x')]
    """
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from walk_strings(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from walk_strings(item, f"{path}[{index}]")
