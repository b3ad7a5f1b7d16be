"""A plain table: one column holds the prompt, one the completion, others the ground truth, a group, a reward.

Columns are found by the names that data sets use, or named by hand (``ColumnMap``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rewards_lib.contract import JsonObject
from rewards_lib.errors import InputError
from rewards_lib.payloads.shapes import read_completion
from rewards_lib.rollouts.formats.prompts import as_prompt
from rewards_lib.rollouts.rollout import END_KEYS, Rollout, prompt_key, read_reward

_NAMES: dict[str, tuple[str, ...]] = {
    "prompt": ("prompt", "question", "problem", "query", "instruction", "input", "input_prompt", "messages"),
    "completion": (
        "completion",
        "response",
        "output",
        "generation",
        "solution_str",
        "generated_text",
        "output_response",
        "text",
    ),
    "answer": ("answer", "ground_truth", "expected_answer", "target", "label", "gold", "gts", "solution"),
    "group": ("group", "group_id", "prompt_id", "question_id", "example_id", "problem_id"),
    "id": ("id", "rollout_id", "completion_id", "uid"),
    "reward": ("reward", "score", "is_correct", "correct"),
}

_NESTED = ("reward_model", "reward_spec")


@dataclass(frozen=True, slots=True)
class ColumnMap:
    """Which column holds what; None where the table has no such column."""

    prompt: str
    completion: str
    answer: str | None = None
    group: str | None = None
    id: str | None = None
    reward: str | None = None


def guess_part(row: JsonObject, part: str) -> str | None:
    """Find the column of one part by its names, upper and lower case alike.

    A label that is true or false says what a completion is worth (KTO's): it is no ground truth.
    """
    by_name = {str(key).lower(): str(key) for key in row}
    names = [by_name[name] for name in _NAMES[part] if name in by_name]
    label = by_name.get("label")
    if label is not None and isinstance(row[label], bool):
        names = [name for name in names if name != label] + ([label] if part == "reward" else [])
    return names[0] if names else None


def ground_truth(row: JsonObject, column: str | None) -> Any:
    """The ground truth of a row: of its column, else where verl and SkyRL nest it; None when it holds none."""
    if column is not None:
        return None if row.get(column) == "" else row.get(column)
    extras = row.get("env_extras")
    for place in (row, extras if isinstance(extras, dict) else {}):
        for name in _NESTED:
            if isinstance(place.get(name), dict) and place[name].get("ground_truth") is not None:
                return place[name]["ground_truth"]
    return None


def guess_columns(row: JsonObject) -> ColumnMap | None:
    """Find the columns by their names.

    None when prompt or completion is not among them, or when a second column could hold the rest of the prompt
    (Alpaca's ``instruction`` and ``input``) or another completion: then they are to be named by hand.
    """
    found = {part: guess_part(row, part) for part in _NAMES}
    prompt, completion = found.pop("prompt"), found.pop("completion")
    if prompt is None or completion is None or rivals(row):
        return None
    return ColumnMap(prompt, completion, **found)


def rivals(row: JsonObject) -> list[str]:
    """Columns of which no name says which one is meant; empty where the names are plain."""
    filled = {str(key).lower(): str(key) for key, value in row.items() if value not in (None, "", [])}
    written = [filled[name] for name in _NAMES["completion"][:-1] if name in filled]
    halves = [filled[name] for name in ("instruction", "input") if name in filled]
    is_split = len(halves) == 2 and not filled.keys() & {"prompt", "question", "problem", "query"}
    return written if len(written) > 1 else halves if is_split else []


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
    extra: JsonObject = {key: value for key, value in row.items() if key not in used | END_KEYS}
    answer = ground_truth(row, columns.answer)
    if answer is not None:
        extra["answer"] = answer
    group = row.get(columns.group) if columns.group else None
    own_id = row.get(columns.id) if columns.id else None
    return [
        Rollout(
            line=line,
            id=str(line) if own_id in (None, "") else str(own_id),
            group=prompt_key(prompt) if group in (None, "") else str(group),
            sample={"messages": prompt, "extra": extra, "tools": []},
            completion=read_completion(row[columns.completion], columns.completion),
            recorded=read_reward(row.get(columns.reward)) if columns.reward else None,
            meta={key: row[key] for key in sorted(END_KEYS & row.keys() - used)},
        )
    ]
