"""lm-evaluation-harness' samples: ``doc_id``, ``arguments`` with the prompt, ``resps`` with what the model wrote.

Source: EleutherAI/lm-evaluation-harness, --log_samples, samples_*.jsonl. Each filter of a task judges the same texts in
a row of its own, so that a group is a document under one filter. Choices judged by their likelihood hold no text.
"""

from __future__ import annotations

from typing import Any

from rewards_lib.contract import JsonObject
from rewards_lib.errors import InputError
from rewards_lib.rollouts.formats.prompts import as_prompt
from rewards_lib.rollouts.rollout import Recorded, Rollout, finite

_FIELDS = {
    "doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics", "doc_hash", "prompt_hash",
    "target_hash",
}  # fmt: skip
_TOTALS = ("exact_match", "acc", "pass@1", "score")


def matches(row: JsonObject) -> bool:
    """A document with the model's answers."""
    return {"doc_id", "arguments"} <= row.keys() and ("resps" in row or "filtered_resps" in row)


def read(row: JsonObject, line: int) -> list[Rollout]:
    """Read one document under one filter: a rollout for each text; the metrics are those of the row."""
    texts = _texts(row.get("resps"))
    rules = _metrics(row)
    total = next(
        (name for total in _TOTALS for name in rules if name.partition(",")[0] == total), next(iter(rules), None)
    )
    doc = row["doc"] if isinstance(row.get("doc"), dict) else {}
    extra: JsonObject = {key: value for key, value in doc.items() if key != "answer"}
    if row.get("target") not in (None, ""):
        extra["answer"] = row["target"]
    sample = {"messages": _prompt(row["arguments"]), "extra": extra, "tools": []}
    chosen = str(row.get("filter") or "none")
    recorded = Recorded(rules[total], rules) if total is not None and len(texts) == 1 else None
    return [
        Rollout(line, f"{row['doc_id']}.{chosen}.{place}", f"doc-{row['doc_id']}@{chosen}", sample, text, recorded,
                {"filter": chosen}) for place, text in enumerate(texts, 1)
    ]  # fmt: skip


def _texts(value: Any) -> list[str]:
    found = [text for texts in value for text in (texts if isinstance(texts, list) else [texts])] if value else []
    if not found or not all(isinstance(text, str) for text in found):
        raise InputError("resps holds no text: choices are judged by their likelihood here.")
    return found


def _prompt(arguments: Any) -> list[JsonObject]:
    """The first argument of the first request, in the list of older files or under the names of newer ones."""
    first: Any = arguments.get("gen_args_0") if isinstance(arguments, dict) else arguments
    for _ in range(2):
        if isinstance(first, dict):
            first = first.get("arg_0")
        elif isinstance(first, list) and first and not isinstance(first[0], dict):
            first = first[0]
    return as_prompt(first)


def _metrics(row: JsonObject) -> dict[str, float | None]:
    numbers = {key: finite(value) for key, value in row.items() if key not in _FIELDS}
    return {key: value for key, value in numbers.items() if value is not None}
