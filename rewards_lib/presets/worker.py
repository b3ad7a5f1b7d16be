"""Presets inside a confined worker process: JSON in, JSON out.

Invariant: what ``encode_score`` writes ``decode_score`` reads back, reasons included, so that a screen on the host side
can still translate them. Nothing here stops a run that takes too long: the executor ends the process.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from rewards_lib.contract import Completion, JsonObject, Sample, Score, ScoreState, Sentence, write_json
from rewards_lib.presets import check_params, find_preset

PRELOAD: tuple[str, ...] = (
    "rewards_lib.presets.worker", "rewards_lib.presets.math_equality", "jsonschema", "mpmath", "latex2sympy2_extended",
)  # fmt: skip
"""Modules worth importing before the worker is forked."""


def score_item(item: JsonObject) -> JsonObject:
    """Score one completion: ``{"preset", "params", "sample", "completion"}`` to an encoded score.

    Raises ``InputError`` for unknown presets and refused parameters; the host has checked both before.
    """
    return encode_score(_score(item, [item["completion"]])[0])


def score_group_item(item: JsonObject) -> list[JsonObject]:
    """Score all completions of one sample: ``{"preset", "params", "sample", "completions"}`` in, scores out."""
    return [encode_score(score) for score in _score(item, item["completions"])]


def _score(item: JsonObject, completions: list[Any]) -> list[Score]:
    params = _complete_params(item["preset"], write_json(item.get("params") or {}))
    row = item["sample"]
    sample = Sample(tuple(row.get("messages") or ()), row.get("extra") or {}, tuple(row.get("tools") or ()))
    return find_preset(item["preset"]).score_all(params, sample, [Completion(raw) for raw in completions])


@lru_cache(maxsize=256)
def _complete_params(name: str, params: str) -> JsonObject:
    """Check the parameters once a process; the JSON text is the key because dictionaries are none."""
    import json

    return check_params(name, json.loads(params))


def encode_score(score: Score) -> JsonObject:
    """Write a score as JSON: ``{"state", "value", "why", "spans", "metrics"}``."""
    return {
        "state": str(score.state), "value": score.value, "why": _encode(score.why) if score.why else None,
        "spans": [list(span) for span in score.spans], "metrics": dict(score.metrics),
    }  # fmt: skip


def decode_score(row: JsonObject) -> Score:
    """Read a score that ``encode_score`` wrote. Raises KeyError, TypeError or ValueError for anything else."""
    why = row["why"]
    return Score(
        ScoreState(row["state"]), row["value"], _decode(why) if why else None,
        tuple((int(start), int(end)) for start, end in row["spans"]),
        {str(name): float(value) for name, value in row["metrics"].items()},
    )  # fmt: skip


def _encode(why: Sentence) -> JsonObject:
    """Reasons may hold reasons as values."""
    values = {
        name: _encode(value) if isinstance(value, Sentence)
        else value if isinstance(value, (str, int, float, bool, type(None))) else str(value)
        for name, value in why.values.items()
    }  # fmt: skip
    return {"template": why.template, "values": values}


def _decode(row: JsonObject) -> Sentence:
    values = {name: _decode(value) if isinstance(value, dict) else value for name, value in row["values"].items()}
    return Sentence(row["template"], values)
