"""What presets share in grading: the ground truth, the graded part, folding of texts, lengths, verdicts.

Invariant: a ground truth or a length that cannot be had gives a failed score, never a number.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Final

from rewards_lib.contract import Completion, Json, JsonObject, Sample, Score, Sentence, sentence
from rewards_lib.extraction import Extraction, Span, extract
from rewards_lib.strict_json import write_json

_MAX_SHOWN = 60
_FOLDED = str.maketrans("‘’‚‛“”„‟−‐‑‒–", "''''\"\"\"\"-----")
_HAN = (("\u3400", "\u4dbf"), ("\u4e00", "\u9fff"), ("\uf900", "\ufaff"), ("\U00020000", "\U0003ffff"))


class Missing:
    """The type of ``MISSING``."""


MISSING: Final = Missing()
"""Stands for a field that the sample does not have."""


def read_field(sample: Sample, path: str) -> Json | Missing:
    """Follow a dotted path below ``sample.extra``; a key that contains the dots itself comes first."""
    if path in sample.extra:
        value: Json = sample.extra[path]
        return value
    node: Json = sample.extra
    for key in path.split("."):
        if not isinstance(node, Mapping) or key not in node:
            return MISSING
        node = node[key]
    return node


def ground_truths(params: JsonObject, sample: Sample) -> tuple[str, ...] | Score:
    """Read the acceptable ground truths as texts, a number as its JSON text; a failed score when they are unusable."""
    path = params["answer_field"]
    value = read_field(sample, path)
    if isinstance(value, Missing) or value is None:
        return Score.failed(sentence("no ground truth: sample.extra.{path} is missing", path=path))
    entries = list(value) if isinstance(value, (list, tuple)) else [value]
    if not entries:
        return unusable(path, sentence("it is an empty list"))
    answers = []
    for entry in entries:
        if isinstance(entry, bool) or not isinstance(entry, (str, int, float)):
            return unusable(path, sentence("it must be a text, a number or a list of them"))
        answer = entry if isinstance(entry, str) else write_json(entry)
        if not answer.strip():
            return unusable(path, sentence("it is empty"))
        answers.append(answer)
    return tuple(answers)


def unusable(path: str, problem: Sentence) -> Score:
    """Build the failed score of a ground truth that is there but cannot be used."""
    return Score.failed(
        sentence("unusable ground truth: sample.extra.{path} cannot be used: {problem}", path=path, problem=problem)
    )


def graded_part(params: JsonObject, completion: Completion) -> Extraction:
    """Extract what is graded, as ``extract`` and ``after_think`` say."""
    return extract(completion.text, params["extract"], after_think=params["after_think"])


def no_answer(params: JsonObject, part: Extraction) -> Score:
    """Score a completion in which nothing to grade was found: the mismatch value and why."""
    return Score.scored(
        params["mismatch"],
        sentence(
            "{problem}; extract {method} earns {mismatch}",
            problem=part.why_none, method=params.get("extract", "text"), mismatch=params["mismatch"],
        ),
    )  # fmt: skip


def verdict(params: JsonObject, is_match: bool, why: Sentence, spans: tuple[Span, ...] = ()) -> Score:
    """Score a completion of which it is known whether it matches."""
    return Score.scored(params["match"] if is_match else params["mismatch"], why, spans=spans)


def took(part: Extraction, truths: tuple[str, ...], is_match: bool) -> Sentence:
    """Tell what was compared: the extracted answer and the ground truth."""
    answer, truth = shown(part.text or ""), " / ".join(shown(truth) for truth in truths)
    if is_match:
        return sentence("took {answer}, equal to {truth}", answer=answer, truth=truth)
    return sentence("took {answer}, not equal to {truth}", answer=answer, truth=truth)


def shown(text: str) -> str:
    """Shorten a text for a reason; white space becomes single blanks."""
    text = " ".join(text[: 4 * _MAX_SHOWN].split())
    return text if len(text) <= _MAX_SHOWN else f"{text[: _MAX_SHOWN - 1]}…"


def fold_text(text: str) -> str:
    """Fold NFKC, runs of white space, typographic quotes and minus signs.

    >>> fold_text("４２  “x”")
    '42 "x"'
    """
    return re.sub(r"\s+", " ", unicodedata.normalize("NFKC", text.translate(_FOLDED)).translate(_FOLDED))


def is_han(character: str) -> bool:
    """Tell whether a character is a Han ideograph."""
    if character < "\u3400":
        return False
    return "\u4e00" <= character <= "\u9fff" or any(first <= character <= last for first, last in _HAN)


def prepare(text: str, params: JsonObject) -> str:
    """Make a text ready for comparison, in this order: ``normalize``, ``strip``, ``ignore_case``."""
    if params.get("normalize"):
        text = fold_text(text)
    if params.get("strip"):
        text = text.strip()
    return text.casefold() if params.get("ignore_case") else text


def measure(params: JsonObject, completion: Completion) -> int | Score:
    """Count the whole completion in ``unit``; a failed score for tokens that the payload does not tell."""
    if params["unit"] == "tokens":
        count = completion.token_count
        if count is None or count < 0:
            return Score.failed(
                sentence("the completion tells no tokens: neither completion_ids nor usage.completion_tokens")
            )
        return count
    return len(completion.text.split()) if params["unit"] == "words" else len(completion.text)
