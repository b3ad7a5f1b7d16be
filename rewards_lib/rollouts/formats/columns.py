"""A plain table: one column holds the prompt, one the completion, others the ground truth, a group, a reward.

Columns are found by the names that data sets use, or named by hand (``ColumnMap``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rewards_lib.contract import JsonObject
from rewards_lib.errors import InputError
from rewards_lib.payloads.shapes import read_completion
from rewards_lib.rollouts.formats.trl import as_prompt
from rewards_lib.rollouts.rollout import Recorded, Rollout, finite, prompt_key

_NAMES: dict[str, tuple[str, ...]] = {
    "prompt": ("prompt", "question", "problem", "query", "instruction", "input", "messages"),
    "completion": ("completion", "response", "output", "generation", "solution_str", "generated_text", "text"),
    "answer": ("answer", "ground_truth", "expected_answer", "target", "label", "gold", "gts", "solution"),
    "group": ("group", "group_id", "prompt_id", "question_id", "example_id", "problem_id"),
    "id": ("id", "rollout_id", "completion_id", "uid"),
    "reward": ("reward", "score", "is_correct"),
}


@dataclass(frozen=True, slots=True)
class ColumnMap:
    """Which column holds what; None where the table has no such column."""

    prompt: str
    completion: str
    answer: str | None = None
    group: str | None = None
    id: str | None = None
    reward: str | None = None


def guess_columns(row: JsonObject) -> ColumnMap | None:
    """Find the columns by their names, upper and lower case alike; None when prompt or completion is not among them."""
    by_name = {str(key).lower(): str(key) for key in row}
    found = {part: next((by_name[n] for n in names if n in by_name), None) for part, names in _NAMES.items()}
    prompt, completion = found.pop("prompt"), found.pop("completion")
    return None if prompt is None or completion is None else ColumnMap(prompt, completion, **found)


def matches(row: JsonObject) -> bool:
    """A column for the prompt and one for the completion."""
    return guess_columns(row) is not None


def read(row: JsonObject, line: int) -> list[Rollout]:
    """Read one row by the names of its columns."""
    columns = guess_columns(row)
    if columns is None:
        raise InputError("No column is known to hold the prompt and the completion.")
    return read_mapped(row, line, columns)


def read_mapped(row: JsonObject, line: int, columns: ColumnMap) -> list[Rollout]:
    """Read one row by a given map; columns that it does not name go to ``sample.extra``."""
    for name in (columns.prompt, columns.completion):
        if row.get(name) is None:
            raise InputError("The column {name} is missing.", name=name)
    prompt = as_prompt(row[columns.prompt])
    used = {columns.prompt, columns.completion, columns.answer, columns.group, columns.id, columns.reward}
    extra: JsonObject = {key: value for key, value in row.items() if key not in used}
    if columns.answer and row.get(columns.answer) not in (None, ""):
        extra["answer"] = row[columns.answer]
    group = row.get(columns.group) if columns.group else None
    own_id = row.get(columns.id) if columns.id else None
    return [
        Rollout(
            line=line,
            id=str(line) if own_id in (None, "") else str(own_id),
            group=prompt_key(prompt) if group in (None, "") else str(group),
            sample={"messages": prompt, "extra": extra, "tools": []},
            completion=read_completion(row[columns.completion], columns.completion),
            recorded=Recorded(_number(row.get(columns.reward))) if columns.reward else None,
        )
    ]


def _number(value: Any) -> float | None:
    """Cells of a CSV are texts; an empty cell is no reward."""
    if isinstance(value, str):
        if value.strip().lower() in ("true", "false"):
            return 1.0 if value.strip().lower() == "true" else 0.0
        try:
            return finite(float(value))
        except ValueError:
            return None
    return finite(value)
