"""The normal form that every file of rollouts is read into, whatever wrote it.

Invariant: a reward that a file does not hold is None here; nothing is made up while reading.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from rewards_lib.contract import Completion, Json, JsonObject, Payload, Sample, Sentence, sentence
from rewards_lib.payloads.shapes import kind_of


@dataclass(frozen=True, slots=True)
class Recorded:
    """The rewards that a file holds already: the trainer's, a neighbour's, or our own of an earlier run."""

    reward: float | None = None
    """The total; None is unscored."""
    rules: Mapping[str, float | None] = field(default_factory=dict)
    metrics: Mapping[str, float] = field(default_factory=dict)
    error: str = ""
    """Why there is no reward, where the file says so."""


_NO_META: Mapping[str, Any] = {}
"""Shared by all that tell nothing more; a Mapping, so that nobody writes into it."""


class Rollout(NamedTuple):
    """One completion with its sample, its place in the file and the group it belongs to.

    A tuple, since files hold millions: it is made in a third of the time that a frozen dataclass takes.
    """

    line: int
    """From 1; the row for files without lines. Rows that hold a whole group give several rollouts of one line."""
    id: str
    group: str
    sample: JsonObject
    """``{"messages", "extra", "tools"}``."""
    completion: Json
    """In any shape of a payload; None where a scored file left it out."""
    recorded: Recorded | None = None
    meta: Mapping[str, Any] = _NO_META
    """What else the format tells: step, stop reason, task."""

    @property
    def text(self) -> str:
        """The text of the completion's last assistant message."""
        return Completion(self.completion).text

    def pack(self) -> list[Any]:
        """Write the rollout as plain values for another process, or as JSON for the disk; ``unpack`` reads it."""
        given = self.recorded
        recorded = None if given is None else [given.reward, dict(given.rules), dict(given.metrics), given.error]
        return [self.line, self.id, self.group, self.sample, self.completion, recorded, self.meta]

    @classmethod
    def unpack(cls, row: Sequence[Any]) -> Rollout:
        """Read what ``pack`` wrote."""
        line, own_id, group, sample, completion, recorded, meta = row
        return cls(line, own_id, group, sample, completion, None if recorded is None else Recorded(*recorded), meta)


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row that is no rollout: where it stands, what is wrong, and how it begins."""

    line: int
    problem: Sentence
    text: str = ""
    """The start of the row as it stands."""

    def to_json(self) -> JsonObject:
        """The row as it is kept apart."""
        return {"line": self.line, "problem": str(self.problem), "text": self.text}


def payload_of(rollouts: Sequence[Rollout]) -> Payload:
    """Build the call that scores rollouts of one sample together, in order."""
    completions = tuple(Completion(rollout.completion) for rollout in rollouts)
    return Payload(Sample.from_json(rollouts[0].sample), completions)


def prompt_key(messages: Json) -> str:
    """Name a prompt by its content: equal prompts get equal names."""
    text = json.dumps(messages, sort_keys=True, ensure_ascii=True)
    return "prompt-" + hashlib.sha256(text.encode()).hexdigest()[:16]


_CUT_FLAGS = ("is_truncated", "truncated")
_STOP_KEYS = ("finish_reason", "stop_reason", "stop_condition")
END_KEYS = frozenset(_CUT_FLAGS + _STOP_KEYS)
"""The keys that ``told_cut`` looks at."""
_CUT_WORDS = ("length", "max_tokens", "truncated")


def told_cut(*places: Mapping[str, Any]) -> bool | None:
    """Whether a completion was cut by its length, as the first place says that says anything; None when none does.

    >>> told_cut({"step": 3}, {"finish_reason": "max_length"}), told_cut({"stop_reason": "eos"}), told_cut({})
    (True, False, None)
    """
    for place in places:
        for key in _CUT_FLAGS:
            if isinstance(place.get(key), bool):
                return bool(place[key])
        for key in _STOP_KEYS:
            if isinstance(place.get(key), str):
                return any(word in place[key].lower() for word in _CUT_WORDS)
    return None


_WORDS: dict[str, float | None] = {"true": 1.0, "false": 0.0, "": None}


def read_reward(value: Any, rules: Mapping[str, float | None] | None = None) -> Recorded:
    """Read the reward of a file. Tables write numbers as texts; null and NaN are no reward, and no fault.

    Anything else is unscored with the reason, so that it is not taken for a reward that was never given.

    >>> read_reward("0.5").reward, read_reward("True").reward, read_reward(None), str(read_reward([1]).error)
    (0.5, 1.0, Recorded(reward=None, rules={}, metrics={}, error=''), 'The reward is a list; one number is expected.')
    """
    given = _WORDS.get(value.strip().lower(), value) if isinstance(value, str) else value
    if isinstance(given, str):
        with suppress(ValueError):
            given = float(given)
    reward = finite(given)
    is_told = reward is not None or given is None or isinstance(given, float)
    error = "" if is_told else str(sentence("The reward is {kind}; one number is expected.", kind=kind_of(value)))
    return Recorded(reward, rules or {}, error=error)


def finite(value: Any) -> float | None:
    """Read a number of a file; None for whatever is no finite number (NaN is how trainers write "no reward").

    >>> finite(True), finite("1"), finite(float("nan"))
    (1.0, None, None)
    """
    if not isinstance(value, (int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number + 0.0 if math.isfinite(number) else None
