"""Reading what ``reward_fn`` returned: once, with every doubt written down.

Invariant: an entry that is not a finite number never becomes one; it becomes a reason. The host checks all of it again.
"""

from __future__ import annotations

import math
from math import isfinite
from typing import Any

from .refusals import Words, sentence
from .rl_types import RewardFunctionResult

_BIGGEST_NAME = 200
_MOST_METRICS = 1_000
_BIGGEST_TEXT = 2_000


class UnusableResultError(Exception):
    """The function returned something that holds no rewards."""

    def __init__(self, words: Words) -> None:
        self.words = words
        super().__init__(str(words))


def read_result(result: Any, count: int) -> dict[str, Any]:
    """Read a result as JSON: ``rewards`` (numbers, null or ``{"why": ...}``), ``metrics``, ``status``, ``error``."""
    if not isinstance(result, RewardFunctionResult):
        raise UnusableResultError(_wrong_type(result))
    status, error = result.status, result.error
    status = getattr(status, "value", status)
    if status not in ("success", "failure"):
        raise UnusableResultError(
            sentence(
                'reward_fn returned the status {status}; it must be "success" or "failure".', status=_short(status)
            )
        )
    row: dict[str, Any] = {"status": str(status), "error": _error_text(error)}
    row["metrics"], row["dropped"] = _read_metrics(result.metrics)
    row["rewards"] = None if status == "failure" else _read_rewards(result.rewards, count)
    return row


def _wrong_type(result: Any) -> Words:
    if result is None:
        return sentence("reward_fn returned None: it needs `return RewardFunctionResult(rewards)` at its end.")
    kind = type(result).__name__
    if kind == "coroutine":
        return sentence("reward_fn is asynchronous: make it a plain function that calls asyncio.run inside.")
    return sentence("reward_fn returned {kind}: it must return RewardFunctionResult(rewards).", kind=kind)


def _error_text(error: Any) -> str:
    return "" if error is None else str(error)[:_BIGGEST_TEXT]


def _read_rewards(rewards: Any, count: int) -> list[Any]:
    """Take at most one entry more than there are completions: a list may grow while it is read."""
    if isinstance(rewards, (str, bytes, bytearray, dict, set, frozenset)) or not hasattr(rewards, "__iter__"):
        raise UnusableResultError(
            sentence("rewards must be a list of numbers, not {kind}.", kind=type(rewards).__name__)
        )
    entries: list[Any] = []
    for entry in rewards:
        entries.append(entry)
        if len(entries) > count:
            break
    if len(entries) != count:
        known = len(rewards) if len(entries) > count and hasattr(rewards, "__len__") else len(entries)
        raise UnusableResultError(
            sentence(
                "reward_fn returned {given} rewards for {count} completions.",
                given=max(known, len(entries)),
                count=count,
            )
        )
    return [entry + 0.0 if type(entry) is float and isfinite(entry) else _read_number(entry) for entry in entries]


def _read_number(entry: Any) -> Any:
    """A finite float, None, or why there is none."""
    if entry is None:
        return None
    try:
        if isinstance(entry, (str, bytes, bytearray)) or _has_length(entry):
            raise TypeError
        value = float(entry)
    except OverflowError:
        return _why(sentence("the reward does not fit a float: it is too large"))
    except (TypeError, ValueError):
        return _why(sentence("the reward is {kind}, not a number", kind=type(entry).__name__))
    if math.isnan(value):
        return _why(sentence("the reward is nan (not a number)"))
    if math.isinf(value):
        return _why(sentence("the reward is {value}, not a finite number", value=str(value)))
    return value + 0.0


def _has_length(entry: Any) -> bool:
    """Rows of a matrix convert to a number when they hold one; arrays without dimensions have no length."""
    try:
        len(entry)
    except TypeError:
        return False
    return True


def _why(words: Words) -> dict[str, Any]:
    return {"why": words.to_json()}


def _read_metrics(metrics: Any) -> tuple[dict[str, float], list[list[Any]]]:
    """Split metrics into finite floats and reasons for leaving the others out."""
    if metrics is None:
        return {}, []
    if not isinstance(metrics, dict):
        return {}, [sentence("metrics must be a dictionary, not {kind}.", kind=type(metrics).__name__).to_json()]
    kept: dict[str, float] = {}
    dropped: list[list[Any]] = []
    for name, value in list(metrics.items()):
        if len(kept) >= _MOST_METRICS:
            dropped.append(sentence("More than {most} metrics: the rest was left out.", most=_MOST_METRICS).to_json())
            break
        if not isinstance(name, str) or len(name) > _BIGGEST_NAME:
            dropped.append(
                sentence("The metric {name} was left out: names are short texts.", name=_short(name)).to_json()
            )
            continue
        number = _read_number(value)
        if isinstance(number, float):
            kept[str(name)] = number
        elif len(dropped) < _MOST_METRICS:
            dropped.append(
                sentence("The metric {name} was left out: it is {value}.", name=name, value=_short(value)).to_json()
            )
    return kept, dropped


def _short(value: Any) -> str:
    try:
        text = str(value)
    except ValueError:  # an integer with more digits than Python writes
        text = "an integer of thousands of digits"
    return text if len(text) <= 60 else text[:60] + "..."
