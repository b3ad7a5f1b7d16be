"""What a rule says of a run: a finding with its numbers, ok, or abstained with the reason.

Invariant: a rule that lacks what it needs abstains; missing is never ok.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from rewards_lib.contract import Sentence

State = Literal["finding", "ok", "abstained"]
Severity = Literal["hard", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("hard", "warning", "note")
"""Worst first."""

Steps = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One rule over one run."""

    state: State
    why: Sentence | None = None
    """Why it abstained; what ok rests on where that is worth a word."""
    series: tuple[str, ...] = ()
    """The series it speaks of, under their own names; the first is the one to look at."""
    steps: Steps = (0.0, 0.0)
    """First and last step of what was found."""
    value: float | None = None
    threshold: float | None = None
    n: int = 0
    """How many points it rests on."""
    told: Mapping[str, str] = field(default_factory=dict)
    """Further words for the rule's sentence."""
    severity: Severity | None = None
    """Where it differs from the rule's own."""
    text: str = "text"
    """Which of the rule's sentences says it."""

    @classmethod
    def found(
        cls,
        *series: str,
        steps: Steps,
        value: float | None = None,
        threshold: float | None = None,
        n: int = 0,
        severity: Severity | None = None,
        text: str = "text",
        **told: str,
    ) -> Outcome:
        """Something is to be told."""
        return cls("finding", None, series, steps, value, threshold, n, told, severity, text)

    @classmethod
    def ok(cls, why: Sentence | None = None) -> Outcome:
        """Looked at, nothing to tell."""
        return cls("ok", why)

    @classmethod
    def abstained(cls, why: Sentence) -> Outcome:
        """Could not be judged, and why."""
        return cls("abstained", why)


def number_text(value: float | None) -> str:
    """A number with three significant digits.

    >>> number_text(0.30000001), number_text(12345.6), number_text(7.9e-06)
    ('0.3', '12346', '7.9e-06')
    """
    if value is None:
        return "—"
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def share_text(value: float | None) -> str:
    """A share as percent, small ones with a decimal."""
    if value is None:
        return "—"
    percent = value * 100
    return f"{percent:.0f}\u202f%" if percent == 0 or abs(percent) >= 1.95 else f"{percent:.2g}\u202f%"


def step_text(step: float) -> str:
    """A step as it is logged: whole ones without a point."""
    return f"{step:.0f}" if step % 1 == 0 else f"{step:.4g}"
