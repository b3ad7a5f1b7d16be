"""A finding about a run: its sentence in both languages, its numbers, where to look, what to try."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from rewards_lib.contract import JsonObject, fill
from rewards_lib.training_metrics.diagnostics.outcomes import Severity

Text = Mapping[str, str]
"""A text by language; ``en`` is always there."""


def in_language(text: Text, language: str) -> str:
    """A text in a language; English where there is none in it."""
    return text.get(language) or text["en"]


@dataclass(frozen=True, slots=True)
class MetricFinding:
    """Something a rule found in a run."""

    rule: str
    title: Text
    """What the rule is called."""
    severity: Severity
    texts: Text
    """The sentence by language, as a template of ``told``."""
    told: Mapping[str, str]
    series: tuple[str, ...]
    """Series it speaks of, under their own names; the first is the one to look at."""
    steps: tuple[float, float]
    value: float | None
    threshold: float | None
    n: int
    """How many points it rests on."""
    meaning: Text = field(default_factory=lambda: {"en": ""})
    advice: Text = field(default_factory=lambda: {"en": ""})
    source: str = ""
    number: int = 0

    def said(self, language: str = "en") -> str:
        """The sentence in a language; English where there is no such text."""
        return fill(in_language(self.texts, language), self.told)

    def advised(self, language: str = "en") -> str:
        """What to try, in a language."""
        return fill(in_language(self.advice, language), self.told)

    def to_json(self, prefix: str = "") -> JsonObject:
        """The finding as the command line prints it; ``prefix`` stands before the names of series."""
        return {
            "rule": self.rule,
            "number": self.number,
            "severity": self.severity,
            "message": self.said(),
            "series": [prefix + name for name in self.series],
            "steps": [int(step) if step % 1 == 0 else step for step in self.steps],
            "value": _finite(self.value),
            "threshold": _finite(self.threshold),
            "n": self.n,
            "meaning": in_language(self.meaning, "en"),
            "advice": self.advised(),
            "source": self.source,
        }


def _finite(value: float | None) -> float | None:
    """A number that JSON knows; a ratio of a number to nothing is none."""
    return value if value is None or math.isfinite(value) else None
