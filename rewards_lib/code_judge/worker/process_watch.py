"""How a running program is watched from outside: time, waiting for a processor, memory, and the host's patience.

Invariant: time that a program spent ready but without a processor is never held against it: a busy machine delays a
verdict and does not change it.
"""

from __future__ import annotations

import contextlib
import os
import resource
import select
import time
from collections.abc import Callable
from typing import Any

_LOOK_SECONDS = 0.02
_TICK = 1 / os.sysconf("SC_CLK_TCK")
_PAGE = resource.getpagesize()
_LONGEST_FACTOR = 20
"""A program that got next to no processor time for this many wall limits is given up, without a verdict."""


class Usage:
    """Processor seconds and peak memory over the processes of one run."""

    def __init__(self) -> None:
        self.cpu = 0.0
        self.peak_kb = 0

    def add(self, usage: resource.struct_rusage) -> None:
        """Count one reaped process, its own reaped children included."""
        self.cpu += usage.ru_utime + usage.ru_stime
        self.peak_kb = max(self.peak_kb, usage.ru_maxrss)


class ProcessWatch:
    """Watches one program and says why it must be ended; None when it ended by itself."""

    def __init__(self, pid: int, limits: dict[str, Any], processes_of: Callable[[int], list[str]]) -> None:
        self._pid = pid
        self._wall_seconds: float = limits["wall_seconds"]
        self._cpu_seconds: float = limits["cpu_seconds"]
        self._memory_bytes: int = limits["memory_bytes"]
        self._processes_of = processes_of
        self._start = time.monotonic()
        self._waited = 0.0
        """Seconds that its threads were ready and had no processor, as far as it has been seen."""

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._start

    def wait(self, host: int) -> str | None:
        """Wait for the end. ``host`` is a socket that closes when nobody wants the answer any more."""
        poll = select.poll()
        ended = os.pidfd_open(self._pid)
        poll.register(ended, select.POLLIN)
        poll.register(host, 0)  # hang-up alone
        try:
            while True:
                for descriptor, _event in poll.poll(_LOOK_SECONDS * 1000):
                    return None if descriptor == ended else "cancelled"
                reason = self._over()
                if reason:
                    return reason
        finally:
            os.close(ended)

    def _over(self) -> str | None:
        if self._memory() > self._memory_bytes:
            return "memory"
        elapsed = self.elapsed
        if elapsed > self._cpu_seconds and self._processor_time() > self._cpu_seconds + _TICK:
            return "cpu"  # one process alone is ended by the kernel; a tree of them is not
        if elapsed > self._wall_seconds:
            self._waited = max(self._waited, self._time_without_processor())
            if elapsed - self._waited > self._wall_seconds:
                return "wall"
            if elapsed > _LONGEST_FACTOR * self._wall_seconds:
                return "starved"
        return None

    def _processor_time(self) -> float:
        """Seconds over all processes, those that they have reaped included."""
        total = 0
        for process in self._processes():
            fields = _read(f"/proc/{process}/stat").rpartition(")")[2].split()
            total += sum(map(int, fields[11:15]))
        return total * _TICK

    def _processes(self) -> list[str]:
        return self._processes_of(self._pid)

    def _memory(self) -> int:
        """Resident bytes; pages that processes share count once where it matters."""
        processes = self._processes()
        total = sum(_resident_pages(name) for name in processes) * _PAGE
        if total > self._memory_bytes and len(processes) > 1:
            return sum(_own_share_bytes(name) for name in processes)
        return total

    def _time_without_processor(self) -> float:
        total = 0
        for process in self._processes():
            with contextlib.suppress(OSError):
                for task in os.listdir(f"/proc/{process}/task"):
                    text = _read(f"/proc/{process}/task/{task}/schedstat").split()
                    total += int(text[1]) if len(text) > 1 else 0
        return total / 1e9


def _resident_pages(process: str) -> int:
    fields = _read(f"/proc/{process}/statm").split()
    return int(fields[1]) if len(fields) > 1 else 0


def _own_share_bytes(process: str) -> int:
    for line in _read(f"/proc/{process}/smaps_rollup").splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    return _resident_pages(process) * _PAGE


def _read(path: str) -> str:
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.read()
    except OSError:
        return ""  # the process has ended
