"""Conditions on training against test, and on length, which tests must follow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rewards_lib.contract import sentence
from rewards_lib.training_metrics.diagnostics.evidence import LENGTH, TEST, TRAIN, Line
from rewards_lib.training_metrics.diagnostics.outcomes import Outcome, number_text
from rewards_lib.training_metrics.diagnostics.trends import ERRORS, noise, stretches, thirds, trend
from rewards_lib.training_metrics.series import Series, means_around

if TYPE_CHECKING:
    from rewards_lib.training_metrics.diagnostics.evidence import Evidence
    from rewards_lib.training_metrics.diagnostics.rules import Rule

SMOOTHED_TESTS = 3
AS_HIGH = 0.95
"""The share of the training reward from which on tests are as high."""


def overfit_or_hacked(evidence: Evidence, rule: Rule) -> Outcome:
    """The last third of the training reward is above the first and not below the middle; tests have no rise.

    Tests that training has only caught up with have no rise to make.
    """
    train, test = evidence.need(TRAIN), evidence.need(TEST)
    (first, e_first), (middle, _e), (last, e_last) = thirds(train.values)
    if last - first <= ERRORS * (e_first**2 + e_last**2) ** 0.5 or last < middle:
        return Outcome.ok()
    slope = test.trend()
    if slope.change - ERRORS * slope.error > 0:
        return Outcome.ok(sentence("the test reward rises too"))
    if test.last(SMOOTHED_TESTS) >= AS_HIGH * train.last(rule.window) > 0 and not slope.falls:
        return Outcome.ok(sentence("the test reward is as high as that of training"))
    return Outcome.found(
        train.name, test.name, steps=train.span(len(train) // 3), value=last, threshold=0.0, n=len(test),
        first=number_text(first), test_first=number_text(test.first(SMOOTHED_TESTS)),
        test_last=number_text(test.last(SMOOTHED_TESTS)),
    )  # fmt: skip


def gap_widens(evidence: Evidence, rule: Rule) -> Outcome:
    """Train less test exceeds a share of the reward's range and grows; train is averaged round each evaluation.

    A trailing mean would lag behind a rising series and make a gap that is none.
    """
    train, test = evidence.need(TRAIN), evidence.need(TEST)
    centred = means_around(Series(train.steps, train.values), test.steps, int(rule.limit("centred_steps")))
    if len(centred) < rule.min_tests:
        return Outcome.abstained(sentence("{count} of {needed} evaluations", count=len(centred), needed=rule.min_tests))
    gap = centred.values - test.values[test.steps.searchsorted(centred.steps)]
    value, limit = float(gap[-SMOOTHED_TESTS:].mean()), rule.limit("share") * evidence.final_range()
    if value <= limit or not trend(centred.steps, gap).rises:
        return Outcome.ok()
    first = float(gap[:SMOOTHED_TESTS].mean())
    # a gap that was there from the start has not widened yet
    wide = stretches(gap > max(limit, first + (value - first) / 4), 1)
    begin = int(wide[-1][0]) if wide else 0
    return Outcome.found(
        train.name, test.name, steps=(float(centred.steps[begin]), float(centred.steps[-1])), value=value,
        threshold=limit, n=len(gap), first=number_text(first),
    )  # fmt: skip


def test_peak(evidence: Evidence, rule: Rule) -> Outcome:
    """The last evaluations lie more than their error below the best stretch of as many."""
    import numpy as np

    test = evidence.need(TEST)
    count = int(rule.limit("evaluations"))
    ends, means = test.windows(count)
    if len(means) <= count:
        return Outcome.ok()
    best = int(means[: len(means) - count].argmax())
    error = noise(test.values) * (2 / count) ** 0.5
    last = float(means[-1])
    if means[best] - last <= 2 * rule.limit("errors") * error:
        return Outcome.ok()
    begin = int(ends[best]) - count + 1
    peak = begin + int(np.argmax(test.values[begin : begin + count]))
    return Outcome.found(
        test.name, steps=test.span(peak), value=float(test.values[peak]), threshold=error, n=count,
        last=number_text(last),
    )  # fmt: skip


def length_hacking(evidence: Evidence, rule: Rule) -> Outcome:
    """Answers grew by a factor while the test reward has no rise over the run, or falls over its second half."""
    length, test = evidence.need(LENGTH), evidence.need(TEST)
    ends, means = length.windows(rule.window)
    first = float(means[0]) if len(means) else length.first(rule.window)
    hits = stretches(means >= rule.limit("times") * first, rule.k)
    if not hits or hits[-1][1] < len(means) - 1:
        return Outcome.ok()
    slope = test.trend()
    rises = slope.change - ERRORS * slope.error > 0 and not _falls(test)
    if rises:
        return Outcome.ok(sentence("answers grow, and the test reward rises with them"))
    value = float(means[-1])
    return Outcome.found(
        length.name, test.name, steps=length.span(int(ends[hits[-1][0]])), value=value,
        threshold=rule.limit("times") * first, n=len(test), first=number_text(first),
        times=number_text(value / first),
    )  # fmt: skip


def _falls(test: Line) -> bool:
    return test.trend(len(test) // 2).falls


def length_collapse(evidence: Evidence, rule: Rule) -> Outcome:
    """The mean length of a window is below half of that two windows before."""
    length = evidence.need(LENGTH)
    ends, means = length.windows(rule.window)
    far = 2 * rule.window
    if len(means) <= far:
        return Outcome.ok()
    hits = stretches(means[far:] < rule.limit("share") * means[:-far], rule.k)
    if not hits:
        return Outcome.ok()
    begin, end = hits[0][0], hits[0][1] + far
    low = begin + int(means[begin : end + 1].argmin())
    return Outcome.found(
        length.name, steps=length.span(int(ends[begin]), int(ends[low])), value=float(means[low]),
        threshold=rule.limit("share") * float(means[begin]), n=end - begin + 1, first=number_text(float(means[begin])),
    )  # fmt: skip
