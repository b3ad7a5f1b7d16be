"""From columns to ``messages`` and ``extra``: problem and answer, prompt and reward_model, question and answer ...

Invariant: a row becomes a sample or a ``BadRow`` with its number; columns that are not used are kept in ``extra``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rewards_lib.contract import JsonObject
from rewards_lib.datasets.checking import find_problem
from rewards_lib.errors import InputError
from rewards_lib.extraction import last_box
from rewards_lib.rollouts.rollout import BadRow
from rewards_lib.rollouts.rows import Row

PROMPTS = ("messages", "prompt", "problem", "question", "query", "instruction", "input", "text")
ANSWERS = (
    "reward_model.ground_truth", "answer", "ground_truth", "expected_answer", "final_answer", "target", "label", "gold",
    "solution", "extra_info.answer",
)  # fmt: skip
_FINAL = re.compile(r"####\s*(.+?)\s*$")


@dataclass(frozen=True, slots=True)
class ColumnPlan:
    """Which column becomes what. A dotted name reaches into objects: ``reward_model.ground_truth``."""

    prompt: str
    answer: str | None = None
    system: str = ""
    """A system message put before each prompt; empty for none."""
    template: str = ""
    """A text around each prompt, with ``{prompt}`` where it goes; empty for the prompt alone."""
    final_answer: bool = False
    """Take what follows the last ``####``, or stands in the last box, of the answer's column."""


def guess_plan(rows: Sequence[JsonObject]) -> ColumnPlan | None:
    """Guess the columns by the names that data sets use; None when no column is known to hold the prompt."""
    if not rows:
        return None
    prompt = next((name for name in PROMPTS if _value(rows[0], name) is not None), None)
    if prompt is None:
        return None
    answer = next((name for name in ANSWERS if any(_value(row, name) is not None for row in rows)), None)
    texts = [value for row in rows if answer and isinstance(value := _value(row, answer), str)]
    return ColumnPlan(prompt, answer, final_answer=bool(texts) and all(_has_final(text) for text in texts))


def columns_of(rows: Sequence[JsonObject]) -> list[str]:
    """The names of the columns, those inside objects by dotted names."""
    names: dict[str, None] = {}
    for row in rows:
        for key, value in row.items():
            names[str(key)] = None
            if isinstance(value, dict):
                names.update(dict.fromkeys(f"{key}.{inner}" for inner in value))
    return list(names)


def convert(rows: Iterable[Row | BadRow], plan: ColumnPlan) -> Iterator[Row | BadRow]:
    """Convert rows one by one, in order, each with its number."""
    for row in rows:
        if isinstance(row, BadRow):
            yield row
            continue
        number, fields = row
        try:
            converted = convert_row(fields, plan)
        except InputError as error:
            yield BadRow(number, error.message, json.dumps(fields, ensure_ascii=False, default=str)[:200])
            continue
        problem = find_problem(converted)
        yield (number, converted) if problem is None else BadRow(number, problem, str(fields)[:200])


def convert_row(row: JsonObject, plan: ColumnPlan) -> JsonObject:
    """Convert one row. Raises InputError when its prompt or its answer is missing or cannot be read."""
    given = _value(row, plan.prompt)
    if given in (None, "", []):
        raise InputError("The column {name} is empty.", name=plan.prompt)
    messages = _messages(given, plan)
    extra: JsonObject = {
        key: value for key, value in row.items()
        if key not in {plan.prompt, plan.answer, "tools", "extra"} and value is not None
    }  # fmt: skip
    extra |= row["extra"] if isinstance(row.get("extra"), dict) else {}
    if plan.answer:
        extra["answer"] = _answer(_value(row, plan.answer), plan)
    tools = row.get("tools")
    return {"messages": messages, "extra": extra} | ({"tools": tools} if isinstance(tools, list) and tools else {})


def _messages(given: Any, plan: ColumnPlan) -> list[JsonObject]:
    if isinstance(given, str):
        # A replacement, not str.format: prompts hold braces.
        text = plan.template.replace("{prompt}", given) if plan.template else given
        messages: list[JsonObject] = [{"role": "user", "content": text}]
    elif isinstance(given, list) and all(isinstance(message, dict) for message in given):
        messages = [dict(message) for message in given]
    else:
        raise InputError("The column {name} holds neither a text nor messages.", name=plan.prompt)
    while messages and messages[-1].get("role") == "assistant":  # a reference answer is no part of the prompt
        messages.pop()
    has_system = bool(messages) and messages[0].get("role") == "system"
    return ([{"role": "system", "content": plan.system}] if plan.system and not has_system else []) + messages


def _answer(value: Any, plan: ColumnPlan) -> Any:
    if value in (None, "", []):
        raise InputError("The column {name} is empty.", name=plan.answer)
    if not plan.final_answer or not isinstance(value, str):
        return value
    found = final_answer(value)
    if found is None:
        raise InputError("The answer has neither #### nor a box.")
    return found


def final_answer(text: str) -> str | None:
    r"""What follows the last ``####``, else what stands in the last box; None when there is neither.

    >>> final_answer("6 * 7\n#### 42"), final_answer("so \\boxed{\\frac{1}{2}}."), final_answer("42")
    ('42', '\\frac{1}{2}', None)
    """
    lines = [match.group(1) for line in text.splitlines() if (match := _FINAL.search(line))]
    if lines:
        return lines[-1]
    return last_box(text).text


def _has_final(text: str) -> bool:
    return final_answer(text) is not None


def _value(row: JsonObject, name: str) -> Any:
    if name in row:
        return row[name]
    value: Any = row
    for part in name.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value
