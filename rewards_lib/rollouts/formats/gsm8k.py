"""GSM8K's example solutions: a question, its worked solution, and ``{solution, is_correct}`` of several models.

Source: openai/grade-school-math, example_model_solutions.jsonl. The ground truth is what follows the last ``A:`` or
``####`` of the worked solution, which is kept as ``extra.worked_solution``.
"""

from __future__ import annotations

import re

from rewards_lib.contract import JsonObject
from rewards_lib.errors import InputError
from rewards_lib.rollouts.rollout import Recorded, Rollout, finite

_ANSWER = re.compile(r"(?:^A:|####)[ \t]*([^\n]+?)[ \t]*$", re.MULTILINE)


def matches(row: JsonObject) -> bool:
    """A question with at least one judged solution below it."""
    return "question" in row and any(_is_solution(value) for value in row.values())


def read(row: JsonObject, line: int) -> list[Rollout]:
    """Read one question: a rollout for each model's solution, 1 or 0 as it was judged."""
    question = row["question"]
    if not isinstance(question, str):
        raise InputError("question is no text.")
    extra: JsonObject = {}
    worked = row.get("ground_truth") or row.get("answer")
    if isinstance(worked, str):
        answers = _ANSWER.findall(worked)
        extra = {"answer": answers[-1] if answers else worked, "worked_solution": worked}
    sample = {"messages": [{"role": "user", "content": question}], "extra": extra, "tools": []}
    return [
        Rollout(
            line=line,
            id=f"{line}.{model}",
            group=f"question-{line}",
            sample=sample,
            completion=value["solution"],
            recorded=Recorded(finite(value["is_correct"])),
            meta={"model": model},
        )
        for model, value in row.items()
        if _is_solution(value)
    ]


def _is_solution(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("solution"), str) and "is_correct" in value
