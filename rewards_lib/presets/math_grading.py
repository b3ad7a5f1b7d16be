"""Scoring an extracted answer by mathematical equality, and telling what was read.

Invariant: what is undecided is failed, with the reason; it is never a mismatch.
"""

from __future__ import annotations

from collections.abc import Sequence

from rewards_lib.contract import JsonObject, Score, Sentence, sentence
from rewards_lib.extraction import Extraction
from rewards_lib.mathematics.equality import Decision, Verdict, decide
from rewards_lib.mathematics.text import compact
from rewards_lib.presets.grading import shown


def score_answer(params: JsonObject, part: Extraction, truths: Sequence[str]) -> Score:
    """Score an extracted answer against the acceptable ground truths: match if it equals one of them.

    Undecided, and so failed, is a comparison beyond the limits; so is one with no readable ground truth.
    """
    decisions = [
        decide(
            truth,
            part.text or "",
            percent=params.get("percent", "either"),
            rounding_digits=params.get("rounding_digits", 6),
        )
        for truth in truths
    ]
    verdicts = {decision.verdict for decision in decisions}
    if Verdict.EQUAL not in verdicts:
        if verdicts == {Verdict.UNREADABLE_TRUTH}:
            return Score.failed(
                sentence("unusable ground truth: {truth} cannot be read", truth=shown(" / ".join(truths)))
            )
        if Verdict.UNDECIDED in verdicts:
            return Score.failed(sentence("undecided: {answer} is too large to compute", answer=shown(part.text or "")))
    is_equal = Verdict.EQUAL in verdicts
    wanted = Verdict.EQUAL if is_equal else Verdict.DIFFERENT
    truth, decision = next(pair for pair in zip(truths, decisions, strict=True) if pair[1].verdict is wanted)
    why = _told(part.text or "", truth, decision, others=len(truths) - 1)
    return Score.scored(params["match"] if is_equal else params["mismatch"], why, spans=part.spans)


def _told(answer: str, truth: str, decision: Decision, *, others: int) -> Sentence:
    """Tell what was read on both sides, and which layer decided: people debug extraction more than equality."""
    sides = {"answer": _reading(answer, decision.answer_read), "truth": _reading(truth, decision.truth_read)}
    if decision.verdict is Verdict.EQUAL:
        return sentence("read {answer}; ground truth {truth}; equal ({layer})", **sides, layer=decision.layer)
    if others:
        return sentence(
            "read {answer}; ground truth {truth} and {others} more; different ({layer})",
            **sides, others=others, layer=decision.layer,
        )  # fmt: skip
    return sentence("read {answer}; ground truth {truth}; different ({layer})", **sides, layer=decision.layer)


def _reading(written: str, read: str) -> str | Sentence:
    if not read or compact(read) == compact(written):
        return shown(written) or '""'
    return sentence("{written} as {read}", written=shown(written), read=shown(read))
