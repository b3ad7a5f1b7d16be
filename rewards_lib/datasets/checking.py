"""Whether rows are a data set that an RL job takes: the rules of Ark's dataset JSONL, and what else stops a run.

Invariant: every row is looked at; a row breaks a rule once, by the first rule that it breaks.
Source: Ark's document on RL datasets (messages, extra, tools, thinking; at most 20 files of 2 GB).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from rewards_lib.contract import JsonObject, Sentence, sentence
from rewards_lib.quantiles import median
from rewards_lib.rollouts.rollout import BadRow
from rewards_lib.rollouts.rows import Row

MOST_FILE_BYTES = 2 * 10**9
MOST_SHOWN = 20
THINKING = ("enabled", "disabled", "auto", "custom")
ROLES = ("system", "user", "assistant", "tool")
_FORBIDDEN_IN_PATHS = re.compile(r"[*?\[\]]")
_NUMBER = re.compile(r"-?[\d,]*\.?\d+(?:e-?\d+)?%?")
_FORMULA = re.compile(r"[\\^=_{}]|\d\s*[+*/]\s*\d")

READERS: dict[str, tuple[str, ...]] = {
    "number": ("math_accuracy", "numeric_close", "exact_match"),
    "letter": ("multiple_choice", "exact_match"),
    "formula": ("math_accuracy",),
    "text": ("exact_match", "qa_match", "contains"),
    "list": ("qa_match", "contains"),
    "object": ("json_schema", "tool_call_match", "code_judge"),
    "absent": ("llm_judge", "think_answer_format"),
}
"""What a ground truth is -> the presets that can read one like it."""


@dataclass(slots=True)
class DatasetReport:
    """What a data set holds and what is wrong with it."""

    rows: int = 0
    good: int = 0
    bad_rows: int = 0
    first_bad_rows: list[BadRow] = field(default_factory=list)
    duplicates: int = 0
    """Rows whose prompt stood in an earlier row."""
    first_duplicates: list[tuple[int, int]] = field(default_factory=list)
    """A row's number and that of the first with its prompt."""
    conflicts: int = 0
    """Duplicates whose ground truth differs from the first one's: one of the two is wrong."""
    truths: Counter[str] = field(default_factory=Counter)
    """What the ground truths are, by the names of ``READERS``."""
    longest: int | None = None
    """Characters of the longest prompt, all its messages together; None without a good row, as the median."""
    median: float | None = None
    with_tools: int = 0
    notes: list[Sentence] = field(default_factory=list)

    @property
    def readers(self) -> list[str]:
        """The presets that can read every ground truth of the data set."""
        kinds = [set(READERS[kind]) for kind in self.truths if kind != "absent"]
        return sorted(set.intersection(*kinds)) if kinds else []

    def to_json(self) -> JsonObject:
        """The report as the command line prints it."""
        return {
            "status": "failure" if self.bad_rows or not self.good else "success",
            "rows": self.rows, "good": self.good, "bad_rows": self.bad_rows,
            "first_bad_rows": [row.to_json() for row in self.first_bad_rows], "duplicates": self.duplicates,
            "first_duplicates": [list(pair) for pair in self.first_duplicates], "conflicts": self.conflicts,
            "ground_truths": dict(self.truths), "readable_by": self.readers, "longest_prompt": self.longest,
            "median_prompt": self.median, "with_tools": self.with_tools, "notes": [str(note) for note in self.notes],
        }  # fmt: skip


def check_dataset(rows: Iterable[Row | BadRow], *, name: str = "", size_bytes: int = 0) -> DatasetReport:
    """Check every row of a data set. ``name`` and ``size_bytes`` are the file's, where it comes from one."""
    report = DatasetReport()
    seen: dict[bytes, tuple[int, str]] = {}
    lengths: list[int] = []
    for row in rows:
        report.rows += 1
        if isinstance(row, BadRow):
            _bad(report, row)
            continue
        number, fields = row
        problem = find_problem(fields)
        if problem is not None:
            _bad(report, BadRow(number, problem, json.dumps(fields, ensure_ascii=False)[:200]))
            continue
        report.good += 1
        truth = (fields.get("extra") or {}).get("answer")
        report.truths[kind_of_truth(truth)] += 1
        report.with_tools += bool(fields.get("tools"))
        lengths.append(sum(len(str(message.get("content") or "")) for message in fields["messages"]))
        _compare_prompts(report, seen, number, fields["messages"], truth)
    report.longest, report.median = max(lengths, default=None), median(lengths)
    report.notes = _notes(report, name, size_bytes)
    return report


def _bad(report: DatasetReport, row: BadRow) -> None:
    report.bad_rows += 1
    if len(report.first_bad_rows) < MOST_SHOWN:
        report.first_bad_rows.append(row)


def _compare_prompts(
    report: DatasetReport, seen: dict[bytes, tuple[int, str]], number: int, messages: Any, truth: Any
) -> None:
    text = json.dumps(messages, sort_keys=True).encode("utf-8", "surrogatepass")
    key = hashlib.blake2b(text, digest_size=12).digest()
    said = json.dumps(truth, sort_keys=True)
    first = seen.setdefault(key, (number, said))
    if first[0] == number:
        return
    report.duplicates += 1
    report.conflicts += first[1] != said
    if len(report.first_duplicates) < MOST_SHOWN:
        report.first_duplicates.append((number, first[0]))


def find_problem(row: JsonObject) -> Sentence | None:
    """The first rule that a row breaks; None when it breaks none."""
    messages = row.get("messages")
    if not isinstance(messages, list) or not messages:
        return sentence("messages is missing or empty.")
    for place, message in enumerate(messages):
        problem = _message_problem(message, f"messages[{place}]")
        if problem is not None:
            return problem
    last = messages[-1]["role"]
    if last not in ("user", "tool"):
        return sentence("The last message is of {role}; the model is to answer user or tool.", role=last)
    if "extra" in row and not isinstance(row["extra"], dict):
        return sentence("extra must be an object.")
    if "tools" in row and not isinstance(row["tools"], (list, type(None))):
        return sentence("tools must be a list.")
    thinking = row.get("thinking")
    if thinking is not None and not (isinstance(thinking, dict) and thinking.get("type") in THINKING):
        return sentence("thinking.type must be one of {types}.", types=", ".join(THINKING))
    return None


def _message_problem(message: Any, path: str) -> Sentence | None:
    if not isinstance(message, dict):
        return sentence("{path} must be an object.", path=path)
    if message.get("role") not in ROLES:
        return sentence("{path}.role must be one of {roles}.", path=path, roles=", ".join(ROLES))
    content = message.get("content")
    if content is None and message.get("tool_calls"):
        return None
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, dict) and part.get("type", "text") == "text"]
        if not content or any(not isinstance(text, str) or not text for text in texts):
            return sentence("{path}.content has a part without text.", path=path)
        return None
    if not isinstance(content, str) or not content.strip():
        return sentence("{path}.content must be a text that is not empty.", path=path)
    return None


def kind_of_truth(truth: Any) -> str:
    r"""What a ground truth is, by the names of ``READERS``.

    >>> [kind_of_truth(one) for one in ("42", 3.5, "B", "\\frac{1}{2}", "Paris", ["a"], {"a": 1}, None)]
    ['number', 'number', 'letter', 'formula', 'text', 'list', 'object', 'absent']
    """
    if truth is None or truth in ("", [], {}):
        return "absent"
    if isinstance(truth, dict):
        return "object"
    if isinstance(truth, list):
        return "list"
    if isinstance(truth, (int, float)) and not isinstance(truth, bool):
        return "number"
    text = str(truth).strip()
    if _NUMBER.fullmatch(text):
        return "number"
    if len(text) == 1 and text.isalpha():
        return "letter"
    return "formula" if _FORMULA.search(text) else "text"


def _notes(report: DatasetReport, name: str, size_bytes: int) -> list[Sentence]:
    notes = []
    if _FORBIDDEN_IN_PATHS.search(name):
        notes.append(sentence("The file's name holds one of * ? [ ]: a job does not take it."))
    if size_bytes > MOST_FILE_BYTES:
        notes.append(sentence("The file has more than 2 GB: split it, at most 20 files make a training set."))
    if report.truths["absent"]:
        notes.append(
            sentence("{count} rows have no extra.answer: rules that compare leave them unscored.",
                     count=report.truths["absent"])
        )  # fmt: skip
    if report.conflicts:
        notes.append(
            sentence("{count} prompts stand twice with different ground truths: one of them is wrong.",
                     count=report.conflicts)
        )  # fmt: skip
    kinds = [kind for kind in report.truths if kind != "absent"]
    if len(kinds) > 1 and not report.readers:
        notes.append(
            sentence("No preset reads all of these ground truths: {kinds}. Split the data set, or write a function.",
                     kinds=", ".join(kinds))
        )  # fmt: skip
    return notes
