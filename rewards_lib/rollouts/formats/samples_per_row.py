"""Several completions a row as lists of equal length, such as ``generations`` with ``correctness_*``."""

from __future__ import annotations

from typing import Any

from rewards_lib.contract import JsonObject
from rewards_lib.errors import InputError
from rewards_lib.payloads.shapes import read_completion
from rewards_lib.rollouts.formats.columns import guess_columns
from rewards_lib.rollouts.formats.trl import as_prompt
from rewards_lib.rollouts.rollout import Recorded, Rollout, finite

_LISTS = ("generations", "completions", "responses", "outputs", "samples", "code")
_SCORES = ("rewards", "scores", "score")
_PROMPTS = ("prompt", "question", "problem", "query", "instruction", "input")


def matches(row: JsonObject) -> bool:
    """A list of completions under a name that data sets use, beside a prompt."""
    return _lists_name(row) is not None and _prompt_name(row) is not None


def read(row: JsonObject, line: int) -> list[Rollout]:
    """Read one row: a rollout for each entry of the lists; lists of the same length are told apart by their names."""
    name, prompt_name = _lists_name(row), _prompt_name(row)
    if name is None or prompt_name is None:
        raise InputError("No list of completions stands in this row.")
    completions = row[name]
    beside = {
        key: value for key, value in row.items()
        if key != name and isinstance(value, list) and len(value) == len(completions)
    }  # fmt: skip
    columns = guess_columns({**row, "completion": None})
    extra: JsonObject = {key: value for key, value in row.items() if key not in {name, prompt_name, *beside}}
    if columns and columns.answer and row.get(columns.answer) is not None:
        extra["answer"] = row[columns.answer]
    sample = {"messages": as_prompt(row[prompt_name]), "extra": extra, "tools": []}
    return [
        Rollout(
            line=line,
            id=f"{line}.{place + 1}",
            group=f"row-{line}",
            sample=sample,
            completion=read_completion(completion, f"{name}[{place}]"),
            recorded=_recorded(beside, place),
        )
        for place, completion in enumerate(completions)
    ]


def _lists_name(row: JsonObject) -> str | None:
    return next((name for name in _LISTS if _is_texts(row.get(name))), None)


def _prompt_name(row: JsonObject) -> str | None:
    return next((name for name in _PROMPTS if isinstance(row.get(name), str)), None)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(entry, (str, list, dict)) for entry in value)


def _recorded(beside: dict[str, list[Any]], place: int) -> Recorded | None:
    """The reward of one entry: a list of scores, else the one list that says what is right."""
    rules = {
        key: finite(values[place]) for key, values in beside.items()
        if all(entry is None or isinstance(entry, (int, float)) for entry in values)
    }  # fmt: skip
    name = next((key for key in _SCORES if key in rules), None)
    judged = [key for key in rules if key.startswith(("correctness", "is_correct"))]
    if name is None and judged:
        name = judged[0]
    if name is None:
        return Recorded(None, rules) if rules else None
    return Recorded(rules[name], {key: value for key, value in rules.items() if key != name})
