"""How much one run may take, and how much of it an author may ask for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

FLOOD_BYTES = 16 << 20
"""Who prints more than this, in one run or for one entry of a batch, is ended."""


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
    """Shown per stream; the rest is counted, up to ``FLOOD_BYTES``."""
    result_bytes: int = 4 << 20

    def for_worker(self) -> dict[str, Any]:
        """The limits that the kernel holds, in whole units."""
        cpu_seconds = self.cpu_seconds or 2 * self.wall_seconds
        return {
            "cpu_seconds": max(1, round(cpu_seconds + 0.49)), "memory_mb": self.memory_mb, "threads": self.threads,
        }  # fmt: skip


RANGES: dict[str, tuple[float, float]] = {
    "wall_seconds": (0.1, 600), "memory_mb": (64, 16_384), "threads": (1, 512), "output_bytes": (1_024, 1 << 20),
}  # fmt: skip
"""What an author may set for a function: least and most."""


def limits_from(content: Mapping[str, Any]) -> Limits:
    """The limits of a stored function: what its ``limits`` name, the defaults for the rest.

    A number outside its range counts as the nearest bound, and what is no number as not set: a text that came from
    elsewhere must not lift a limit, nor keep its function from running.

    >>> limits_from({"limits": {"wall_seconds": 5, "threads": 10_000}})
    Limits(wall_seconds=5.0, cpu_seconds=None, memory_mb=1024, threads=512, output_bytes=65536, result_bytes=4194304)
    """
    wanted = content.get("limits")
    given = {name: _bounded(name, value) for name, value in wanted.items()} if isinstance(wanted, Mapping) else {}
    known = {name: value for name, value in given.items() if value is not None}
    seconds = float(known.pop("wall_seconds", Limits().wall_seconds))
    return Limits(wall_seconds=seconds, **{name: int(value) for name, value in known.items()})


def _bounded(name: str, value: Any) -> float | None:
    if name not in RANGES or isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    least, most = RANGES[name]
    return None if isinstance(value, float) and math.isnan(value) else min(max(value, least), most)
