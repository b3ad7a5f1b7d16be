"""Whether two mathematical answers are equal: cheap certain layers first, a computer algebra system last.

Invariant: "equal" is only said when a layer is certain; a ground truth that cannot be read decides nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeAlias

from rewards_lib.contract import JsonObject, Score, sentence
from rewards_lib.extraction import Extraction
from rewards_lib.presets.grading import shown, took
from rewards_lib.presets.numbers import read_number

Percent: TypeAlias = Literal["either", "strict"]


class Verdict(StrEnum):
    """What became of a comparison."""

    EQUAL = "equal"
    DIFFERENT = "different"
    UNREADABLE_TRUTH = "unreadable truth"


@dataclass(frozen=True, slots=True)
class Decision:
    """A verdict and the layer that made it."""

    verdict: Verdict
    layer: str


def decide(truth: str, answer: str, *, percent: Percent = "either") -> Decision:
    """Compare an answer with a ground truth."""
    if " ".join(truth.split()) == " ".join(answer.split()):
        return Decision(Verdict.EQUAL, "identical")
    wanted, value = read_number(truth), read_number(answer)
    if wanted is not None and value is not None:
        return Decision(Verdict.EQUAL if wanted == value else Verdict.DIFFERENT, "exact")
    return Decision(Verdict.DIFFERENT, "text")


def score_answer(params: JsonObject, part: Extraction, truths: Sequence[str]) -> Score:
    """Score an extracted answer against the acceptable ground truths: match if it equals one of them."""
    decisions = [decide(truth, part.text or "", percent=params.get("percent", "either")) for truth in truths]
    equal = next((decision for decision in decisions if decision.verdict is Verdict.EQUAL), None)
    if equal is None and all(decision.verdict is Verdict.UNREADABLE_TRUTH for decision in decisions):
        return Score.failed(sentence("unusable ground truth: {truth} cannot be read", truth=shown(" / ".join(truths))))
    value = params["match"] if equal else params["mismatch"]
    return Score.scored(value, took(part, tuple(truths), equal is not None), spans=part.spans)
