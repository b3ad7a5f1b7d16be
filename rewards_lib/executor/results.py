"""What goes into the executor and what comes out of it, as values.

Invariant: a fault of the author's code is a value here, never an exception.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from rewards_lib.contract import Finding, Isolation, NetworkCall, Score, Sentence, Status
from rewards_lib.errors import ExecutionError


@dataclass(frozen=True, slots=True)
class FunctionSource:
    """A custom function and what it needs."""

    source: str
    requirements: str = ""
    """The text of its requirements.txt."""
    allow_hosts: tuple[str, ...] = ()
    """Entries ``host`` (ports 80 and 443), ``host:port`` (exactly that) or ``*.suffix``."""
    secrets: tuple[tuple[str, str | None], ...] = field(default=(), repr=False)
    """Names and values that ``os.environ`` holds in a run; None for a value that is not set, which fails the run."""

    @property
    def unset_secrets(self) -> tuple[str, ...]:
        """The names without a value."""
        return tuple(name for name, value in self.secrets if value is None)

    @property
    def environ(self) -> dict[str, str]:
        """The variables of a run."""
        return {name: value for name, value in self.secrets if value is not None}


@dataclass(frozen=True, slots=True)
class FunctionRun:
    """One call of ``reward_fn``."""

    scores: tuple[Score, ...]
    """One for each completion, in order; failed with a reason where there is no number."""
    status: Status
    isolation: Isolation
    error: Sentence | None = None
    """Why the status is failure."""
    error_line: int | None = None
    """The author's line, from 1."""
    metrics: dict[str, float] = field(default_factory=dict)
    logs: str = ""
    """What was printed, both streams as they arrived; says how much was cut."""
    traceback: str = ""
    """The author's frames only."""
    findings: tuple[Finding, ...] = ()
    """Refusals of the execution policy, and hints."""
    duration_ms: float | None = None
    """None where the call was not timed: it never began, or its worker was lost."""
    memory_mb: float | None = None
    """The most memory the run held; None when it is not known."""
    network_calls: tuple[NetworkCall, ...] = ()


@dataclass(frozen=True, slots=True)
class ItemRun:
    """One item of ``Executor.run_items``: a JSON value or why there is none."""

    value: Any | None
    error: ExecutionError | None
    duration_ms: float | None = None
    """None where the item was not timed."""
