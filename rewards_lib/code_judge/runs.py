"""One confined run: what is asked of a worker, and how it went.

Invariant: limits and outcomes are plain values here; what they mean for a verdict is told in ``run_verdict``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from rewards_lib.code_judge import anonymous_files

OUTPUT_MB, PROCESSES, STACK_MB = 64, 64, 256
_MARGIN_MB = 48
"""Data that a worker holds before the program starts, and what its runtime needs to say that memory is short."""


@dataclass(frozen=True, slots=True)
class RunLimits:
    """How much one run may take."""

    cpu_seconds: float
    """Processor time over the process tree, user and system."""
    memory_mb: int = 1024
    """Resident memory over the process tree."""
    data_slack_mb: int = 0
    """Data that may be reserved beyond the memory limit: stacks of threads, heaps with a limit of their own."""
    output_mb: int = OUTPUT_MB
    """For each stream and each file."""
    processes: int = PROCESSES
    stack_mb: int = STACK_MB
    wall_factor: float = 3.0

    @property
    def wall_seconds(self) -> float:
        """The limit on the clock, for programs that sleep: time without a processor does not count."""
        return max(self.wall_factor * self.cpu_seconds, self.cpu_seconds + 2.0)

    def for_worker(self) -> dict[str, Any]:
        """The limits in the units of the kernel."""
        return {
            "cpu_seconds": self.cpu_seconds, "wall_seconds": self.wall_seconds,
            "memory_bytes": self.memory_mb << 20,
            "data_bytes": (self.memory_mb + self.data_slack_mb + _MARGIN_MB) << 20,
            "output_bytes": self.output_mb << 20, "processes": self.processes, "stack_bytes": self.stack_mb << 20,
        }  # fmt: skip


Profile: TypeAlias = Literal["program", "compiler"]


@dataclass(frozen=True, slots=True)
class RunOrder:
    """What a worker is to do."""

    limits: RunLimits
    command: tuple[str, ...] = ()
    """The program and its arguments; its path is absolute. Empty for Python, which the worker runs itself."""
    python: Mapping[str, Any] | None = None
    files: Mapping[str, int] = field(default_factory=dict)
    """Name in the program's folder to a descriptor with the content; the caller closes it."""
    fetch: tuple[str, ...] = ()
    """Files to bring back after success; ``*.class`` brings all of a kind as one zip."""
    fetch_always: bool = False
    profile: Profile = "program"
    readable: tuple[str, ...] = ()
    runnable: tuple[str, ...] = ()
    """What may be started; ``./main`` is a file of the program's folder."""
    environment: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The request as it crosses to the worker; descriptors travel beside it."""
        return {
            "limits": self.limits.for_worker(), "command": list(self.command),
            "python": dict(self.python) if self.python else None, "files": list(self.files),
            "fetch": list(self.fetch), "only_success": not self.fetch_always, "filter": self.profile,
            "readable": list(self.readable), "runnable": list(self.runnable), "environment": dict(self.environment),
        }  # fmt: skip


EndedBy: TypeAlias = Literal["wall", "cpu", "memory", "starved", "cancelled"]


@dataclass(slots=True)
class RunReport:
    """How a run went. Owns the descriptors of its output: ``close`` it, or use it as a context manager."""

    code: int
    """Exit status; negative numbers are signals."""
    cpu_seconds: float
    wall_seconds: float
    peak_mb: float
    stdout: int
    stderr: int
    ended_by: EndedBy | None = None
    """Why the worker ended it, where it did."""
    fault: str | None = None
    """What kept the program from being started; a fault of the judge."""
    compile_error: bool = False
    """The source is not in the language; standard error says why."""
    fetched: dict[str, int] = field(default_factory=dict)
    """Files that came back, each a descriptor."""

    def stderr_text(self, most: int = 65_536) -> str:
        """The beginning of standard error, bytes that are no UTF-8 escaped."""
        return anonymous_files.read_head(self.stderr, most).decode("utf-8", "backslashreplace")

    def close(self) -> None:
        """Give the output back."""
        for descriptor in (self.stdout, self.stderr, *self.fetched.values()):
            os.close(descriptor)
        self.fetched = {}

    def __enter__(self) -> RunReport:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()
