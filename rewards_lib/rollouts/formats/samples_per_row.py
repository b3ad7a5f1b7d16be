"""Several completions a row as lists of equal length, such as ``generations`` with ``correctness_*``."""

from __future__ import annotations

from typing import Any

from rewards_lib.contract import JsonObject
from rewards_lib.errors import InputError
from rewards_lib.payloads.shapes import read_completion
from rewards_lib.rollouts.formats.columns import ground_truth, guess_part
from rewards_lib.rollouts.formats.prompts import as_prompt
from rewards_lib.rollouts.rollout import Recorded, Rollout, finite

_LISTS = ("generations", "completions", "responses", "outputs", "samples", "choices", "code")
_JUDGED = ("correctness", "is_correct")
_SCORES = ("rewards", "scores", "score")
_PROMPTS = ("prompt", "question", "problem", "query", "instruction", "input", "messages")
_TEXTS = ("text", "generated_text", "response", "output", "completion")


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
    for key in (*_SCORES, *(key for key in row if key.startswith(_JUDGED))):
        if isinstance(row.get(key), list) and key not in beside:
            raise InputError(
                "{key} has {found} entries for {wanted} completions.", key=key, found=len(row[key]),
                wanted=len(completions),
            )  # fmt: skip
    named = guess_part(row, "answer")
    answer = ground_truth(row, None if named in beside else named)
    extra: JsonObject = {key: value for key, value in row.items() if key not in {name, prompt_name, *beside}}
    if answer is not None:
        extra["answer"] = answer
    sample = {"messages": as_prompt(row[prompt_name]), "extra": extra, "tools": []}
    return [
        Rollout(
            line=line,
            id=f"{line}.{place + 1}",
            group=f"row-{line}",
            sample=sample,
            completion=read_completion(_written(completion), f"{name}[{place}]"),
            recorded=_recorded(beside, place),
        )
        for place, completion in enumerate(completions)
    ]


def _lists_name(row: JsonObject) -> str | None:
    return next((name for name in _LISTS if _is_texts(row.get(name))), None)


def _prompt_name(row: JsonObject) -> str | None:
    return next((name for name in _PROMPTS if _is_prompt(row.get(name))), None)


def _is_prompt(value: Any) -> bool:
    return isinstance(value, str) or (bool(value) and _is_texts(value) and isinstance(value[0], dict))


def _written(entry: Any) -> Any:
    """What the model wrote in an entry of a sampler: the message of a choice, or the text beside its tokens."""
    if not isinstance(entry, dict) or "messages" in entry or "content" in entry:
        return entry
    if isinstance(entry.get("message"), dict):
        return entry["message"]
    return next((entry[name] for name in _TEXTS if isinstance(entry.get(name), str)), entry)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(entry, (str, list, dict)) for entry in value)


def _recorded(beside: dict[str, list[Any]], place: int) -> Recorded | None:
    """The reward of one entry: a list of scores, else the one list that says what is right."""
    rules = {
        key: finite(values[place]) for key, values in beside.items()
        if all(entry is None or isinstance(entry, (int, float)) for entry in values)
    }  # fmt: skip
    name = next((key for key in _SCORES if key in rules), None)
    judged = [key for key in rules if key.startswith(_JUDGED)]
    if name is None and judged:
        name = judged[0]
    if name is None:
        return Recorded(None, rules) if rules else None
    return Recorded(rules[name], {key: value for key, value in rules.items() if key != name})
