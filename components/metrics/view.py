"""What is looked at: the opened runs, what they are judged, how they are looked at, and keys to keep results under.

Invariant: a key names everything that what is kept under it was made of.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from itertools import chain

from components import theme
from components.i18n import language
from components.metrics.drawing import Limits, Look
from rewards_lib.training_metrics import Diagnosis, MetricFinding, Run


@dataclass(frozen=True)
class View:
    """The opened runs as they are looked at."""

    runs: Mapping[str, Run]
    judged: Mapping[str, Diagnosis]
    look: Look
    limits: Limits
    read: str
    """A key of what was read: the files and what counts their steps."""

    @property
    def findings(self) -> list[MetricFinding]:
        """Those of all runs."""
        return list(chain.from_iterable(one.findings for one in self.judged.values()))

    @property
    def within(self) -> str:
        """A key of the values that are looked at."""
        return json.dumps([self.read, self.look.step_range])

    @property
    def drawn(self) -> str:
        """A key of all that a chart of these runs depends on."""
        return json.dumps([self.read, astuple(self.look), astuple(self.limits), language(), theme.is_dark()])
