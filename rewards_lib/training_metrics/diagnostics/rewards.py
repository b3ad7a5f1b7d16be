"""Conditions on rewards and groups: no signal, saturation, exploration, functions against each other."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING

from rewards_lib.contract import sentence
from rewards_lib.training_metrics.diagnostics.evidence import TEST, TRAIN
from rewards_lib.training_metrics.diagnostics.outcomes import Outcome, number_text
from rewards_lib.training_metrics.diagnostics.trends import stretches, thirds

if TYPE_CHECKING:
    from rewards_lib.training_metrics.diagnostics.evidence import Evidence, Line
    from rewards_lib.training_metrics.diagnostics.rules import Rule

ZERO_VARIANCE = "train/reward/zero_variance"
NO_RANGE = sentence("no function has different values")


def zero_variance(evidence: Evidence, rule: Rule) -> Outcome:
    """At some step no group carried a signal (a fact), or too few do over a window."""
    line = evidence.need(ZERO_VARIANCE)
    dead = (line.values >= 1).nonzero()[0]
    if len(dead):
        span = line.span(int(dead[0]), int(dead[-1]))
        return Outcome.found(
            line.name, steps=span, value=1.0, threshold=1.0, n=len(dead), severity="hard", text="all"
        )  # fmt: skip
    ends, means = line.windows(rule.window)
    hits = stretches(means > rule.limit("limit"), rule.k)
    if not hits:
        return Outcome.ok()
    begin, end = hits[0][0], hits[-1][1]
    return Outcome.found(
        line.name, steps=line.span(int(ends[begin]), int(ends[end])), value=float(means[begin : end + 1].max()),
        threshold=rule.limit("limit"), n=end - begin + 1,
    )  # fmt: skip


def saturated_groups(evidence: Evidence, rule: Rule) -> Outcome:
    """Best and worst of n are equal for every function at the same steps."""
    import numpy as np

    ranges = {name: evidence.range_of(name) for name in evidence.functions_with("bon", "won")}
    functions = {name: lines for name, lines in evidence.functions_with("bon", "won").items() if ranges[name] > 0}
    lengths = {len(lines["bon"]) for lines in functions.values()}
    if len(lengths) != 1:
        return Outcome.abstained(NO_RANGE)
    equal = np.logical_and.reduce(
        [
            lines["bon"].values - lines["won"].values < rule.limit("share") * ranges[name]
            for name, lines in functions.items()
        ]
    )
    hits = stretches(equal, rule.k)
    if not hits:
        return Outcome.ok()
    line = next(iter(functions.values()))["bon"]
    names = [part.name for lines in functions.values() for part in (lines["bon"], lines["won"])]
    return Outcome.found(
        *names, steps=line.span(hits[0][0], hits[-1][1]), value=0.0, threshold=rule.limit("share"),
        n=sum(b - a + 1 for a, b in hits),
    )  # fmt: skip


def exploration_spent(evidence: Evidence, rule: Rule) -> Outcome:
    """For a function, best of n less the mean lost nine tenths of its start while the mean is below the maximum."""
    for name, lines in evidence.functions_with("bon").items():
        mean, best = lines["mean"], lines["bon"]
        gap = best.values - mean.values
        start, value = float(gap[: rule.window].mean()), float(gap[-rule.window :].mean())
        top = evidence.ceiling_of(name) or float(best.values.max())
        low = mean.last(rule.window) < rule.limit("of_maximum") * top
        if start > rule.limit("least") and value < rule.limit("share") * start and low:
            return Outcome.found(
                mean.name, best.name, steps=mean.span(-rule.window), value=value,
                threshold=rule.limit("share") * start, n=len(mean), function=name, first=number_text(start),
            )  # fmt: skip
    return Outcome.ok()


def no_headroom(evidence: Evidence, rule: Rule) -> Outcome:
    """For a function that is neither constant nor near its maximum, best of n starts hardly above the mean."""
    for name, lines in evidence.functions_with("bon").items():
        mean, best = lines["mean"], lines["bon"]
        start = mean.first(rule.window)
        value = best.first(rule.window) - start
        top = evidence.ceiling_of(name) or float(best.values.max())
        if evidence.range_of(name) > 0 and start < 0.9 * top and value <= rule.limit("gap"):
            return Outcome.found(
                mean.name, best.name, steps=mean.span(0, min(rule.window, len(mean)) - 1), value=value,
                threshold=rule.limit("gap"), n=min(rule.window, len(mean)), function=name,
            )  # fmt: skip
    return Outcome.ok()


def worst_of_n(evidence: Evidence, rule: Rule) -> Outcome:
    """For a function, worst of n stays at its minimum while the mean rises; rising with it is a good sign."""
    steadier = False
    for name, lines in evidence.functions_with("won").items():
        mean, worst = lines["mean"], lines["won"]
        if not mean.trend().rises:
            continue
        reach = rule.limit("share") * evidence.range_of(name)
        value = worst.last(rule.window)
        highest = float(worst.windows(rule.window)[1].max(initial=value))
        if highest - float(worst.values.min()) <= reach:
            return Outcome.found(
                worst.name, mean.name, steps=worst.span(), value=value, threshold=reach, n=len(worst), function=name
            )
        steadier = steadier or worst.trend().rises
    return Outcome.ok(sentence("worst of n rises with the mean") if steadier else None)


def diversity_loss(evidence: Evidence, rule: Rule) -> Outcome:
    """For a function, best of n falls while the mean rises, over the last half of the run."""
    for name, lines in evidence.functions_with("bon").items():
        mean, best = lines["mean"], lines["bon"]
        half = len(mean) // 2
        fall = best.trend(half)
        if fall.falls and -fall.change > rule.limit("share") * evidence.range_of(name) and mean.trend(half).rises:
            return Outcome.found(
                best.name, mean.name, steps=best.span(half), value=best.last(rule.window),
                threshold=rule.limit("share"), n=len(best) - half, function=name,
                first=number_text(float(best.values[half : half + rule.window].mean())),
            )  # fmt: skip
    return Outcome.ok()


def reward_saturated(evidence: Evidence, rule: Rule) -> Outcome:
    """Every function earns nearly its maximum, worst of n included; with tests risen it is mastery, a note."""
    functions = evidence.functions_with("bon", "won")
    moving = [name for name in functions if evidence.range_of(name) > 0]
    if not moving:
        return Outcome.abstained(NO_RANGE)
    tops = {name: top for name in moving if (top := evidence.ceiling_of(name)) and top > 0}
    if len(tops) < len(moving):
        return Outcome.ok(sentence("no function reaches a maximum again and again"))
    begins, shares = [], []
    for name, top in tops.items():
        mean, worst = functions[name]["mean"], functions[name]["won"]
        ends, means = mean.windows(rule.window)
        _, worsts = worst.windows(rule.window)
        full = (means >= rule.limit("share") * top) & (means - worsts <= rule.limit("won_gap") * top)
        hits = stretches(full, rule.k)
        if not hits or hits[-1][1] < len(means) - 1:
            return Outcome.ok()
        begins.append(float(mean.steps[ends[hits[-1][0]]]))
        shares.append(float(means[-1] / top))
    first = functions[next(iter(tops))]["mean"]
    test = evidence.find(TEST)
    mastered = test is not None and len(test) >= 3 and (test.trend().rises or _near_its_top(test, evidence))
    return Outcome.found(
        *(functions[name]["mean"].name for name in tops), steps=(max(begins), float(first.steps[-1])),
        value=min(shares), threshold=rule.limit("share"), n=len(first),
        severity="note" if mastered else None, text="mastered" if mastered else "text",
    )  # fmt: skip


def _near_its_top(test: Line, evidence: Evidence) -> bool:
    """Whether the last tests lie within a tenth of the training reward's last value."""
    train = evidence.find(TRAIN)
    return train is not None and test.last(3) >= 0.9 * train.last(20)


def no_learning(evidence: Evidence, rule: Rule) -> Outcome:
    """The final reward has no trend in any part of the run although groups differ and the learning rate is above 0."""
    reward = evidence.need(TRAIN)
    lr = evidence.find("train/actor/lr")
    if lr and not (lr.values > 0).any():
        return Outcome.abstained(sentence("the learning rate is 0"))
    share = evidence.find(ZERO_VARIANCE)
    if share and share.last(rule.window) > rule.limit("share"):
        return Outcome.ok(sentence("few groups differ; another rule says so"))
    parts = thirds(reward.values)
    apart = max(abs(a - b) - 2 * (e**2 + f**2) ** 0.5 for a, e in parts for b, f in parts)
    top = float(reward.values.max())
    if (
        reward.trend().rises
        or reward.trend().falls
        or apart > 0
        or reward.last(rule.window) >= rule.limit("of_maximum") * top
    ):
        return Outcome.ok()
    return Outcome.found(
        reward.name, steps=reward.span(), value=reward.last(rule.window), threshold=0.0, n=len(reward),
        first=number_text(reward.first(rule.window)),
    )  # fmt: skip


def rules_fight(evidence: Evidence, rule: Rule) -> Outcome:
    """One function rises while another falls, smoothed series correlate negatively, and the final reward rises."""
    import numpy as np

    if len(evidence.functions) < 2:
        return Outcome.abstained(sentence("one function only"))
    if not evidence.need(TRAIN).trend().rises:
        return Outcome.ok()
    means = {name: lines["mean"] for name, lines in evidence.functions.items()}
    for up, down in permutations(means, 2):
        a, b = means[up], means[down]
        if len(a) != len(b) or not (a.trend().rises and b.trend().falls):
            continue
        if -b.trend().change < rule.limit("share") * evidence.range_of(down):
            continue
        correlation = float(np.corrcoef(a.windows(rule.window)[1], b.windows(rule.window)[1])[0, 1])
        if correlation < rule.limit("correlation"):
            return Outcome.found(
                a.name, b.name, steps=a.span(), value=correlation, threshold=rule.limit("correlation"), n=len(a),
                function=up, other=down,
            )  # fmt: skip
    return Outcome.ok()


def dead_rule(evidence: Evidence, rule: Rule) -> Outcome:
    """A function has one value over the whole run."""
    for name, lines in evidence.functions.items():
        mean = lines["mean"]
        if len(mean) >= rule.min_steps and float(mean.values.max()) == float(mean.values.min()):
            return Outcome.found(
                mean.name, steps=mean.span(), value=float(mean.values[0]), n=len(mean), function=name
            )  # fmt: skip
    return Outcome.ok()
