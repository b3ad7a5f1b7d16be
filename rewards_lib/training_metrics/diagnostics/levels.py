"""Conditions on the level of single series: bounds, spikes, zeros, what is not a number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rewards_lib.contract import sentence
from rewards_lib.training_metrics.diagnostics.outcomes import Outcome, number_text, share_text, step_text
from rewards_lib.training_metrics.diagnostics.trends import robust_deviations, stretches

if TYPE_CHECKING:
    from rewards_lib.training_metrics.diagnostics.evidence import Evidence, Line
    from rewards_lib.training_metrics.diagnostics.rules import Rule
    from rewards_lib.training_metrics.series import Floats


ROUNDING = 1e-9
"""Means of equal numbers differ in their last digits; by less than this share of a limit nothing lies beyond it."""


def alternatives(rule: Rule) -> list[str]:
    """Every canonical name the rule's needs speak of."""
    return [one.strip() for need in rule.needs for one in need.split("|")]


def text_of(value: float | None, rule: Rule) -> str:
    """A value in the rule's unit."""
    return share_text(value) if rule.unit == "share" else number_text(value)


def outside(evidence: Evidence, rule: Rule) -> Outcome:
    """The mean of the last ``window`` points of a series lies beyond one of its bounds, ``k`` times running.

    A series with fewer points than a window is judged by ``min_steps`` alone: its points are the window.
    """
    worst: Outcome | None = None
    for canonical, bounds in rule.bounds.items():
        line = evidence.find(canonical)
        for side, name in bounds.items():
            if line is None:
                continue
            found = _beyond(line, rule, rule.limit(name), side)
            if found and (worst is None or found.n > worst.n):
                worst = found
    return worst or Outcome.ok()


def _beyond(line: Line, rule: Rule, limit: float, side: str) -> Outcome | None:
    ends, means = line.windows(rule.window)
    sign = -1 if side == "below" else 1
    reach = ROUNDING * abs(limit)
    hits = stretches(sign * (means - limit) > (-reach if side == "from" else reach), rule.k)
    if not hits:
        return None
    begin, end = hits[0][0], hits[-1][1]
    worst = begin + int((sign * means[begin : end + 1]).argmax())
    value = float(means[worst])
    strong = "strong" in rule.thresholds and sign * (value - rule.thresholds["strong"]) > -reach
    return Outcome.found(
        line.name,
        steps=line.span(int(ends[begin]), int(ends[end])),
        value=value,
        threshold=limit,
        n=sum(b - a + 1 for a, b in hits),
        severity=rule.strong if strong else None,
        first=text_of(float(means[0]), rule),
        limit_side=side,
    )


def rising_between(evidence: Evidence, rule: Rule) -> Outcome:
    """The mean of the last window lies between two thresholds, and the series has risen over its last half."""
    line = evidence.need(alternatives(rule)[0])
    value, half = line.last(rule.window), len(line) // 2
    if not (rule.limit("low") <= value <= rule.limit("high") and line.trend(half).rises):
        return Outcome.ok()
    return Outcome.found(
        line.name, steps=line.span(half), value=value, threshold=rule.limit("low"), n=len(line) - half,
        first=text_of(line.first(rule.window), rule),
    )  # fmt: skip


def spike(evidence: Evidence, rule: Rule) -> Outcome:
    """A point lies more than ``z`` robust deviations above the median of the points before it.

    Several within ``near`` points, or one beyond ``strong``, are worse than one.
    """
    line = evidence.need(alternatives(rule)[0])
    values = evidence.peaks(line)
    z, medians = robust_deviations(values, rule.window, line.starts)
    places = (z > rule.limit("z")).nonzero()[0]
    if not len(places):
        return Outcome.ok()
    top = int(places[values[places].argmax()])
    close = bool(len(places) > 1 and (places[1:] - places[:-1]).min() < rule.limit("near"))
    first, last = (int(places[0]), int(places[-1])) if close else (top, top)
    return Outcome.found(
        line.name,
        steps=line.span(first, last),
        value=float(values[top]),
        threshold=float(medians[top]),
        n=len(places),
        severity=rule.strong if close or z.max() > rule.limit("strong") else None,
        at=step_text(float(line.steps[top])),
        times=number_text(float(values[top] / medians[top])) if medians[top] else "—",
    )


def times_its_baseline(evidence: Evidence, rule: Rule) -> Outcome:
    """``k`` points in a row lie beyond so many times the mean of the window before the first of them."""
    line = evidence.need(alternatives(rule)[0])
    ends, means = line.windows(rule.window)
    import numpy as np

    baseline = np.full(len(line), np.inf)
    kept = ends < len(line) - 1
    baseline[ends[kept] + 1] = means[kept]
    # once a jump has begun, its baseline stays that of the point before it
    hits = line.values > rule.limit("times") * baseline
    for place in hits.nonzero()[0].tolist():
        reach = place + 1
        while reach < len(line) and line.values[reach] > rule.limit("times") * baseline[place] > 0:
            reach += 1
        if reach - place >= rule.k and baseline[place] > 0:
            value = float(line.values[place:reach].max())
            return Outcome.found(
                line.name, steps=line.span(place, reach - 1), value=value,
                threshold=float(rule.limit("times") * baseline[place]), n=reach - place,
                times=number_text(value / float(baseline[place])),
            )  # fmt: skip
    return Outcome.ok()


def zero_at_a_step(evidence: Evidence, rule: Rule) -> Outcome:
    """The first series there is of those needed is exactly 0 somewhere."""
    line = next(found for name in alternatives(rule) if (found := evidence.find(name)))
    places = (line.values == 0).nonzero()[0]
    if not len(places):
        return Outcome.ok()
    return Outcome.found(
        line.name, steps=line.span(int(places[0]), int(places[-1])), value=0.0, threshold=0.0, n=len(places)
    )


def always_zero(evidence: Evidence, rule: Rule) -> Outcome:
    """The series is 0 at every step."""
    line = evidence.need(alternatives(rule)[0])
    if line.values.any():
        return Outcome.ok()
    return Outcome.found(line.name, steps=line.span(), value=0.0, threshold=0.0, n=len(line))


def non_finite(evidence: Evidence, rule: Rule) -> Outcome:
    """A value of one of the series is NaN or an infinity."""
    found: list[tuple[str, Floats]] = []
    for canonical in alternatives(rule):
        if lost := evidence.wholly_lost(canonical):
            span = (float(lost[1].min()), float(lost[1].max()))
            return Outcome.found(steps=span, n=len(lost[1]), series=lost[0])
        name = evidence.name_of(canonical)
        steps = evidence.run.non_finite(name) if name else None
        if name and steps is not None and len(steps):
            found.append((name, steps))
    if not found:
        return Outcome.ok()
    name, steps = max(found, key=lambda pair: len(pair[1]))
    return Outcome.found(
        name, *(other for other, _ in found if other != name),
        steps=(float(steps.min()), float(steps.max())), n=len(steps),
    )  # fmt: skip


def restart(evidence: Evidence, _: Rule) -> Outcome:
    """The steps of the file go back and come again."""
    restarts = evidence.run.restarts
    if not restarts:
        return Outcome.ok()
    last = float(evidence.run.steps[-1])
    first = next(iter(evidence.run.names), "")
    return Outcome.found(first, steps=(restarts[0].step, last), n=sum(one.repeated for one in restarts))


def too_short(evidence: Evidence, rule: Rule) -> Outcome:
    """There are fewer points than trends need."""
    if evidence.steps >= rule.limit("steps"):
        return Outcome.ok()
    steps = evidence.run.steps
    span = (float(steps[0]), float(steps[-1])) if len(steps) else (0.0, 0.0)
    return Outcome.found(
        *evidence.run.names[:1], steps=span, value=float(evidence.steps), threshold=rule.limit("steps"),
        n=evidence.steps,
    )  # fmt: skip


def service_slow(evidence: Evidence, rule: Rule) -> Outcome:
    """A time or cost stays beyond so many times its median, or timeouts rise."""
    import numpy as np

    for line in evidence.service_lines:
        if len(line) < rule.min_steps:
            continue
        if "timeout" in line.name.lower():
            if line.trend().rises and line.last(rule.window) > line.first(rule.window):
                return Outcome.found(
                    line.name, steps=line.span(), value=line.last(rule.window), threshold=line.first(rule.window),
                    n=len(line), text="timeouts", first=number_text(line.first(rule.window)),
                )  # fmt: skip
            continue
        median = float(np.median(line.values))
        slow = stretches(line.values > rule.limit("times") * median, rule.k) if median > 0 else []
        hits = [stretch for stretch in slow if stretch[0] > 0]  # the first steps of a run fill caches: no rise
        if hits:
            begin, end = hits[0][0], hits[-1][1]
            value = float(line.values[begin : end + 1].max())
            return Outcome.found(
                line.name, steps=line.span(begin, end), value=value, threshold=rule.limit("times") * median,
                n=sum(b - a + 1 for a, b in hits), times=number_text(value / median),
            )  # fmt: skip
    return Outcome.ok()


def truncation_artefact(evidence: Evidence, rule: Rule) -> Outcome:
    """Truncation as verl counts it is above 0 at nearly every step although the longest answer is below the cap."""
    share, longest = (evidence.need(name) for name in alternatives(rule))
    if not share.name.endswith("response_length/clip_ratio") or len(share) != len(longest):
        return Outcome.ok(sentence("only verl counts that way"))
    below = longest.values < 0.99 * longest.values.max()
    odd = below & (share.values > 0)
    value = float(odd.mean())
    if value <= rule.limit("share") or (share.values > 0).mean() < 0.95:
        return Outcome.ok()
    return Outcome.found(
        share.name, longest.name, steps=share.span(), value=value, threshold=rule.limit("share"), n=int(odd.sum())
    )
