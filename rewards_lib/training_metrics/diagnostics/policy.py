"""Conditions on the policy's update: entropy, KL, clipping, learning rate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rewards_lib.contract import sentence
from rewards_lib.training_metrics.diagnostics.evidence import TEST, TRAIN
from rewards_lib.training_metrics.diagnostics.outcomes import Outcome, number_text
from rewards_lib.training_metrics.diagnostics.trends import robust_deviations, stretches

if TYPE_CHECKING:
    from rewards_lib.training_metrics.diagnostics.evidence import Evidence, Line
    from rewards_lib.training_metrics.diagnostics.rules import Rule
    from rewards_lib.training_metrics.series import Floats

FEWEST_TESTS = 6
ENTROPY, KL = "train/actor/entropy", "train/actor/kl_loss"


def clip_high_side(evidence: Evidence, rule: Rule) -> Outcome:
    """The upper clip fraction is far above the lower and rising, while entropy falls."""
    high, low = (evidence.need(f"train/actor/pg_clipfrac_{side}") for side in ("high", "low"))
    entropy = evidence.need(ENTROPY)
    upper, lower = high.last(rule.window), low.last(rule.window)
    if upper <= rule.limit("times") * lower or not high.trend().rises or not entropy.trend().falls:
        return Outcome.ok()
    times = upper / lower if lower else float("inf")
    return Outcome.found(
        high.name, low.name, entropy.name, steps=high.span(), value=times, threshold=rule.limit("times"), n=len(high)
    )


def entropy_collapse(evidence: Evidence, rule: Rule) -> Outcome:
    """Entropy lost half of its first window while the test reward (without tests the final reward) did not rise."""
    entropy = evidence.need(ENTROPY)
    test = evidence.find(TEST)
    judge = test if test and len(test) >= FEWEST_TESTS else evidence.find(TRAIN)
    if judge is None:
        return Outcome.abstained(
            sentence("{count} of {needed} evaluations", count=len(test or ()), needed=FEWEST_TESTS)
        )
    ends, means = entropy.windows(rule.window)
    limit = rule.limit("share") * entropy.first(rule.window)
    hits = stretches(means < limit, rule.k)
    if not hits or hits[-1][1] < len(means) - 1:
        return Outcome.ok()
    if judge.trend().rises:
        return Outcome.ok(sentence("entropy falls, and {judge} rises with it", judge=judge.name))
    return Outcome.found(
        entropy.name, judge.name, steps=entropy.span(int(ends[hits[-1][0]])), value=float(means[-1]),
        threshold=limit, n=hits[-1][1] - hits[-1][0] + 1,
        first=number_text(entropy.first(rule.window)), judge=judge.name,
    )  # fmt: skip


def entropy_high(evidence: Evidence, rule: Rule) -> Outcome:
    """Entropy is above its limit and rising while the reward falls, over the last half."""
    entropy, reward = evidence.need(ENTROPY), evidence.need(TRAIN)
    value = entropy.last(rule.window)
    half = len(entropy) // 2
    if value <= rule.limit("limit") or not entropy.trend(half).rises or not reward.trend(len(reward) // 2).falls:
        return Outcome.ok()
    return Outcome.found(
        entropy.name, reward.name, steps=entropy.span(half), value=value, threshold=rule.limit("limit"),
        n=len(entropy) - half,
    )  # fmt: skip


def kl_without_gain(evidence: Evidence, rule: Rule) -> Outcome:
    """KL grew by a factor over the last third while the reward did not rise."""
    kl, reward = evidence.need(KL), evidence.need(TRAIN)
    begin = 2 * len(kl) // 3
    start = float(kl.values[max(0, begin - rule.window // 2) : begin + rule.window // 2].mean())
    value = kl.last(rule.window)
    if value < rule.limit("floor") or start <= 0 or value < rule.limit("times") * start:
        return Outcome.ok()
    if reward.trend(2 * len(reward) // 3).rises:
        return Outcome.ok(sentence("KL grows, and {judge} rises with it", judge=reward.name))
    return Outcome.found(
        kl.name, reward.name, steps=kl.span(begin), value=value, threshold=rule.limit("times") * start,
        n=len(kl) - begin, times=number_text(value / start),
    )  # fmt: skip


def unstable_update(evidence: Evidence, rule: Rule) -> Outcome:
    """KL, clip fraction and gradient norm jump at the same update, or a few steps apart."""
    grad, *others = [evidence.need(f"train/actor/{name}") for name in ("grad_norm", "kl_loss", "pg_clipfrac")]
    width = rule.limit("near") * _median_step(grad)
    jumps = _jumps(grad, rule)
    nearby = [_jumps(line, rule, near=jumps, width=width) for line in others]
    for step in jumps.tolist():
        near = [steps[abs(steps - step) <= width] for steps in nearby]
        if all(map(len, near)):
            together = [step, *(float(other) for steps in near for other in steps)]
            return Outcome.found(
                grad.name, *(line.name for line in others), steps=(min(together), max(together)),
                threshold=rule.limit("z"), n=len(together),
            )  # fmt: skip
    return Outcome.ok()


def _jumps(line: Line, rule: Rule, *, near: Floats | None = None, width: float = 0.0) -> Floats:
    """The steps at which a line jumps; with ``near`` only those within ``width`` of one of these steps."""
    import numpy as np

    among = None
    if near is not None:
        if not len(near):
            return line.steps[:0]
        after = np.minimum(near.searchsorted(line.steps), len(near) - 1)
        before = np.maximum(after - 1, 0)
        among = np.minimum(abs(near[after] - line.steps), abs(near[before] - line.steps)) <= width
    z, medians = robust_deviations(line.values, rule.window, line.starts, among=among)
    steps: Floats = line.steps[(z > rule.limit("z")) & (line.values > rule.limit("times") * medians)]
    return steps


def _median_step(line: Line) -> float:
    import numpy as np

    return float(np.median(np.diff(line.steps))) if len(line) > 1 else 1.0


def lr_odd(evidence: Evidence, rule: Rule) -> Outcome:
    """The learning rate is 0 after its first rise and before the end, or rises again after it had fallen.

    A warm-up alone, and a fall to 0 at the last steps, are usual.
    """
    import numpy as np

    lr = evidence.need("train/actor/lr")
    top = float(lr.values.max())
    if top <= 0:
        return Outcome.found(lr.name, steps=lr.span(), value=0.0, threshold=0.0, n=len(lr), text="zero")
    least = rule.limit("share") * top
    warm = int((lr.values > 0).argmax())
    zeros = np.flatnonzero(lr.values[warm : len(lr) - max(1, len(lr) // 50)] == 0) + warm
    if len(zeros) and zeros[0] > 0:
        span = lr.span(int(zeros[0]), int(zeros[-1]))
        return Outcome.found(lr.name, steps=span, value=0.0, threshold=0.0, n=len(zeros), text="zero")
    fallen = np.maximum.accumulate(lr.values) - lr.values > least
    if not fallen.any():
        return Outcome.ok()
    begin = int(fallen.argmax())
    lowest = np.minimum.accumulate(lr.values[begin:])
    again = np.flatnonzero(lr.values[begin:] - lowest > least)
    if not len(again):
        return Outcome.ok()
    place = begin + int(lr.values[begin : begin + int(again[0]) + 1].argmin())
    value = float(lr.values[place:].max())
    return Outcome.found(
        lr.name, steps=lr.span(place, begin + int(again[0])), value=value, threshold=least, n=len(again),
        first=number_text(float(lr.values[place])),
    )  # fmt: skip
