"""Presets inside a confined worker process: JSON in, JSON out.

Invariant: what ``encode_score`` writes ``decode_score`` reads back, reasons included, so that a screen on the host side
can still translate them. Nothing here stops a run that takes too long: the executor ends the process.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from rewards_lib.contract import Completion, Json, JsonObject, Sample, Score, ScoreState, Sentence
from rewards_lib.presets import check_params, find_preset
from rewards_lib.strict_json import write_json

_ALWAYS = ("rewards_lib.presets.worker", "jsonschema")
_MATHEMATICS = ("rewards_lib.presets.math_grading", "mpmath", "latex2sympy2_extended")
PRELOAD: tuple[str, ...] = (*_ALWAYS, *_MATHEMATICS)
"""Modules worth importing before the worker is forked, whatever the rules."""


def preload_for(rules: Iterable[tuple[str, JsonObject]]) -> tuple[str, ...]:
    """List the modules worth importing for rules given as (preset, parameters).

    Mathematics takes a second to import, which only rules that may compare by it should cost.
    """
    return PRELOAD if any(_needs_mathematics(name, params) for name, params in rules) else _ALWAYS


def _needs_mathematics(name: str, params: JsonObject) -> bool:
    complete = find_preset(name).defaults() | params
    if "correct_by" in complete:
        return _needs_mathematics(complete["correct_by"], complete["correct_params"])
    return name == "math_accuracy" or complete.get("compare") == "math"


def score_item(item: JsonObject) -> JsonObject:
    """Score one completion: ``{"preset", "params", "sample", "completion"}`` to an encoded score.

    Raises ``InputError`` for unknown presets and refused parameters; the host has checked both before.
    """
    return encode_score(_score(item, [item["completion"]])[0])


def score_group_item(item: JsonObject) -> list[JsonObject]:
    """Score all completions of one sample: ``{"preset", "params", "sample", "completions"}`` in, scores out."""
    return [encode_score(score) for score in _score(item, item["completions"])]


def score_rules_item(item: JsonObject) -> list[list[Json]]:
    """Score all completions of one sample under several presets, for whoever needs numbers by the thousand.

    ``{"rules": [{"preset", "params"}, ...], "sample", "completions"}`` in, the scores of each rule out, written by
    ``shorten_score``.
    """
    sample, completions = Sample.from_json(item["sample"]), [Completion(raw) for raw in item["completions"]]
    return [
        [shorten_score(score) for score in find_preset(rule["preset"]).score_all(_params_of(rule), sample, completions)]
        for rule in item["rules"]
    ]


def _params_of(rule: JsonObject) -> JsonObject:
    return _complete_params(rule["preset"], write_json(rule.get("params") or {}))


def _score(item: JsonObject, completions: list[Any]) -> list[Score]:
    sample = Sample.from_json(item["sample"])
    return find_preset(item["preset"]).score_all(_params_of(item), sample, [Completion(raw) for raw in completions])


@lru_cache(maxsize=256)
def _complete_params(name: str, params: str) -> JsonObject:
    """Check the parameters once a process; the JSON text is the key because dictionaries are none."""
    import json

    return check_params(name, json.loads(params))


def encode_score(score: Score) -> JsonObject:
    """Write a score as JSON: ``{"state", "value", "why", "spans", "metrics"}``."""
    return {
        "state": str(score.state), "value": score.value, "why": score.why.to_json() if score.why else None,
        "spans": [list(span) for span in score.spans], "metrics": dict(score.metrics),
    }  # fmt: skip


def shorten_score(score: Score) -> Json:
    """Write a score without the reason and the spans of what was scored: a bare number where that says it all."""
    if score.state is not ScoreState.SCORED:
        return encode_score(score)
    return encode_score(Score.scored(score.value or 0.0, metrics=score.metrics)) if score.metrics else score.value


def decode_score(row: Any) -> Score:
    """Read what ``encode_score`` or ``shorten_score`` wrote.

    Raises KeyError, TypeError or ValueError for anything else.
    """
    if isinstance(row, float):
        return Score.scored(row)
    why = row["why"]
    return Score(
        ScoreState(row["state"]), row["value"], Sentence.from_json(why) if why else None,
        tuple((int(start), int(end)) for start, end in row["spans"]),
        {str(name): float(value) for name, value in row["metrics"].items()},
    )  # fmt: skip
