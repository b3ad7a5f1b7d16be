"""What ``score`` writes: a canonical line with ``reward``, ``rules``, ``status`` and ``mix_version``."""

from __future__ import annotations

from typing import Any

from rewards_lib.contract import JsonObject
from rewards_lib.errors import InputError
from rewards_lib.payloads.shapes import kind_of
from rewards_lib.rollouts.formats.canonical import checked_sample, identity
from rewards_lib.rollouts.rollout import Recorded, Rollout, finite
from rewards_lib.strict_json import read_json

_KNOWN = {
    "line",
    "id",
    "group",
    "sample",
    "completion",
    "reward",
    "rules",
    "metrics",
    "error",
    "status",
    "recorded",
    "meta",
}


def matches(row: JsonObject) -> bool:
    """A reward with the rules that make it, and no trace of another format."""
    has_rules = isinstance(row.get("rules"), dict) or any(key.startswith("rules.") for key in row)
    return "reward" in row and has_rules and ("group" in row or "sample" in row)


def read(row: JsonObject, line: int) -> list[Rollout]:
    """Read one scored line; sample and completion may have been left out."""
    row = _nested(row)
    rules = row["rules"]
    if not isinstance(rules, dict):
        raise InputError("rules is {kind}; it must be an object.", kind=kind_of(rules))
    recorded = Recorded(
        reward=_reward(row.get("reward"), "reward"),
        rules={str(name): _reward(value, f"rules.{name}") for name, value in rules.items()},
        metrics=_metrics(row.get("metrics")),
        error=str(row.get("error") or ""),
    )
    sample = checked_sample(row["sample"]) if row.get("sample") is not None else {}
    return [
        Rollout(
            line=line,
            id=identity(row.get("id"), str(line), "id"),
            group=identity(row.get("group"), str(line), "group"),
            sample=sample,
            completion=row.get("completion"),
            recorded=recorded,
            meta={key: value for key, value in row.items() if key not in _KNOWN} | (row.get("meta") or {}),
        )
    ]


def _reward(value: Any, path: str) -> float | None:
    if value is None:
        return None
    number = None if isinstance(value, bool) else finite(value)
    if number is None:
        raise InputError("{path} is no finite number.", path=path)
    return number


def _metrics(value: Any) -> dict[str, float]:
    """The rules' metrics as ``rule/metric``."""
    found = value if isinstance(value, dict) else {}
    numbers = {
        f"{rule}/{name}": finite(number)
        for rule, own in found.items() if isinstance(own, dict) for name, number in own.items()
    }  # fmt: skip
    return {name: number for name, number in numbers.items() if number is not None}


def _nested(row: JsonObject) -> JsonObject:
    """Put the columns of a parquet file back into the shape of a line."""
    if "rules" in row:
        return row
    flat = {key: value for key, value in row.items() if not key.startswith("rules.") and value is not None}
    for key in ("sample", "completion", "metrics", "recorded", "meta"):
        if isinstance(flat.get(key), str):
            flat[key] = read_json(flat[key], name=key)
    return flat | {
        "reward": row["reward"],
        "rules": {key.removeprefix("rules."): value for key, value in row.items() if key.startswith("rules.")},
    }
