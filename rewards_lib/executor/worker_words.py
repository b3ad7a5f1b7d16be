"""The sentences of a worker: [template, values] pairs become ``Sentence``s that a screen can translate.

Invariant: a template from a worker is filled with plain values and nothing of ours is reached through it: a field is a
bare name, for ``{a.b}``, ``{a[b]}`` and a width of a billion are a worker's attack, not its words.
"""

from __future__ import annotations

from collections.abc import Mapping
from string import Formatter
from typing import Any

from rewards_lib.contract import Sentence, sentence

_BIGGEST_TEXT = 4_000
_DEEPEST = 4
_FORMATS = ("", "g")


def read_words(pair: Any, depth: int = 0) -> Sentence | None:
    """Read a [template, values] pair, pairs among the values too; None when it is none."""
    if not isinstance(pair, list) or len(pair) != 2 or not isinstance(pair[0], str) or not isinstance(pair[1], dict):
        return None
    template = pair[0][:_BIGGEST_TEXT]
    values = {str(name): _value(value, depth) for name, value in pair[1].items()}
    if values and not _is_plain(template, values):
        return sentence("{text}", text=template)
    return Sentence(template, values)


def _value(value: Any, depth: int) -> object:
    return (read_words(value, depth + 1) if depth < _DEEPEST else None) or value


def _is_plain(template: str, values: Mapping[str, object]) -> bool:
    try:
        fields = [(name, form, how) for _, name, form, how in Formatter().parse(template) if name is not None]
    except ValueError:
        return False
    return all(
        name in values and name.isidentifier() and conversion is None and _fits(values[name], form)
        for name, form, conversion in fields
    )


def _fits(value: object, form: str | None) -> bool:
    return form in _FORMATS and (not form or (isinstance(value, (int, float)) and abs(value) < 1e300))
