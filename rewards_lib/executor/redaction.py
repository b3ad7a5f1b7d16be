"""Keeping secrets out of what comes back from a run: logs, errors, tracebacks, metrics, calls.

A value is looked for as it is, as URLs, base64, hexadecimal, JSON and ``repr`` spell it, and with line breaks between
its characters, as when it is printed piece by piece. Invariant: what this module lets through is the work of somebody
who wants the value out; against carelessness it holds, against the function's own author nothing can.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import quote, quote_plus

from rewards_lib.contract import NetworkCall, sentence

_LEAST_CUT = 6
"""Characters of a secret at the cut end of a text that are taken for a part of it."""
_LEAST_CODED = 6


class Redaction:
    """Replaces the values of secrets by ``[secret NAME]``. Without secrets it lets everything pass."""

    def __init__(self, secrets: Iterable[tuple[str, str]]) -> None:
        self._forms = {form: name for name, value in secrets for form in sorted(_spellings(value), key=len)}
        ordered = sorted(self._forms, key=len, reverse=True)
        self._marks = [f"[secret {self._forms[form]}]" for form in ordered]
        self._pattern = re.compile("|".join(f"({_spread(form)})" for form in ordered)) if ordered else None

    def text(self, text: str) -> str:
        """The text without the values; parts of one at the text's ends, where it may have been cut, go as well."""
        if self._pattern is None or not text:
            return text
        text = self._pattern.sub(lambda found: self._marks[(found.lastindex or 1) - 1], text)
        for form, name in self._forms.items():
            text = _without_part(text, form, f"[secret {name}]")
        return text

    def call(self, call: NetworkCall) -> NetworkCall:
        """A connection whose host, which the function chose, is without the values."""
        if self._pattern is None:
            return call
        why = call.why and sentence("{text}", text=self.text(str(call.why)))
        return replace(call, host=self.text(call.host), why=why)

    def json(self, value: Any) -> Any:
        """A JSON value whose texts, those of its keys too, are without the values."""
        if self._pattern is None:
            return value
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.json(entry) for entry in value]
        if isinstance(value, dict):
            return {self.text(str(name)): self.json(entry) for name, entry in value.items()}
        return value


NO_SECRETS = Redaction(())


def _spellings(value: str) -> Iterator[str]:
    raw = value.encode("utf-8", "surrogatepass")
    yield value
    yield from {quote(value, safe=""), quote(value), quote_plus(value)}
    yield from {json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1], repr(value)[1:-1]}
    yield from {raw.hex(), raw.hex().upper(), value[::-1]}
    for coded in _base64_cores(raw):
        if len(coded) >= _LEAST_CODED:
            yield coded
            yield coded.replace("+", "-").replace("/", "_")


def _base64_cores(raw: bytes) -> Iterator[str]:
    """The characters that base64 gives whatever stands before and behind: one text for each of three alignments."""
    for before in range(3):
        coded = base64.b64encode(bytes(before) + raw).decode().rstrip("=")
        first, last = -(-before * 8 // 6), (before + len(raw)) * 8 // 6
        yield coded[first:last]


def _spread(form: str) -> str:
    """A pattern that finds a form even when line breaks or spaces come between its characters."""
    return r"\s{0,4}".join(re.escape(character) for character in form if not character.isspace())


def _without_part(text: str, form: str, mark: str) -> str:
    for size in range(min(len(form) - 1, len(text)), _LEAST_CUT - 1, -1):
        if text.endswith(form[:size]):
            text = text[:-size] + mark
            break
    for size in range(min(len(form) - 1, len(text)), _LEAST_CUT - 1, -1):
        if text.startswith(form[-size:]):
            return mark + text[size:]
    return text
