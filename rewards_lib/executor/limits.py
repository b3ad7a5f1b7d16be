"""How much one run may take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one run; each is shown beside its result and can be changed."""

    wall_seconds: float = 30.0
    """From the request to the result, as a clock on the wall shows it."""
    cpu_seconds: float | None = None
    """Processor time over all threads; None is twice the wall limit."""
    memory_mb: int = 1024
    """Data the run may allocate beyond what the warm worker already holds."""
    threads: int = 64
    output_bytes: int = 65_536
    """Shown per stream; the rest is counted, and a run that prints more than 16 MB is ended."""
    result_bytes: int = 4 << 20

    def for_worker(self) -> dict[str, Any]:
        """The limits that the kernel holds, in whole units."""
        cpu_seconds = self.cpu_seconds or 2 * self.wall_seconds
        return {
            "cpu_seconds": max(1, round(cpu_seconds + 0.49)), "memory_mb": self.memory_mb, "threads": self.threads,
        }  # fmt: skip
