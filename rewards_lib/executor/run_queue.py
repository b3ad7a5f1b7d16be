"""Whose run starts next: so many at once, so many waiting, and nobody waits behind one greedy caller.

Invariant: every turn that was given is given back; of the callers that wait, the one with the fewest runs in progress
goes first, and among those the one that was served longest ago.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from rewards_lib.errors import BusyError
from rewards_lib.executor.stopping import StopSwitch

LEAST_AT_ONCE = 8
"""Runs that only wait (for a judge, for a lock) take no processor: a small machine may hold this many."""
MOST_WAITING = 64
MOST_WAIT_SECONDS = 120.0
_LOOK_SECONDS = 0.2


class RunQueue:
    """Hands out turns. Thread-safe.

    One caller may hold all turns but those kept free and half of the waiting places, so that another always gets in.
    """

    def __init__(
        self, *, at_once: int | None = None, most_waiting: int = MOST_WAITING, wait_seconds: float = MOST_WAIT_SECONDS,
        kept_free: int = 1,
    ) -> None:  # fmt: skip
        """``kept_free`` turns are out of reach for a caller that is alone."""
        self._at_once = at_once or max(LEAST_AT_ONCE, 2 * (os.cpu_count() or 1))
        self._most_waiting = most_waiting
        self._wait_seconds = wait_seconds
        self._most_for_one = max(self._at_once - kept_free, 1)
        self._reset()

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._running: dict[str, int] = {}
        self._waiting: dict[str, deque[threading.Event]] = {}
        """By caller, the one that was served longest ago first."""
        self._pid = os.getpid()

    @property
    def running(self) -> int:
        """Turns that are out."""
        with self._lock:
            return sum(self._running.values())

    @property
    def waiting(self) -> int:
        """Callers' runs that have no turn yet."""
        with self._lock:
            return sum(map(len, self._waiting.values()))

    @contextmanager
    def turn(self, caller: str, stop: StopSwitch | None = None) -> Iterator[None]:
        """Wait for a turn and hold it.

        Raises BusyError when the queue is full, the wait too long, or ``stop`` pressed meanwhile.
        """
        if self._pid != os.getpid():  # a fork of the console: the runs in progress are the parent's
            self._reset()
        ticket = self._enter(caller)
        try:
            if not self._wait(ticket, stop):
                with self._lock:
                    if not ticket.is_set():
                        raise BusyError("The run was stopped.") if stop and stop.is_pressed else self._busy()
            yield
        finally:
            self._leave(caller, ticket)

    def _wait(self, ticket: threading.Event, stop: StopSwitch | None) -> bool:
        deadline = time.monotonic() + self._wait_seconds
        while not ticket.is_set():
            left = deadline - time.monotonic()
            if left <= 0 or (stop is not None and stop.is_pressed):
                return False
            ticket.wait(min(left, _LOOK_SECONDS) if stop is not None else left)
        return True

    def _enter(self, caller: str) -> threading.Event:
        """Take a waiting place, or a turn at once when there is one."""
        ticket = threading.Event()
        with self._lock:
            line = self._waiting.setdefault(caller, deque())
            line.append(ticket)
            self._give_turns()
            waiting = sum(map(len, self._waiting.values()))
            if not ticket.is_set() and (waiting > self._most_waiting or len(line) > max(self._most_waiting // 2, 1)):
                self._withdraw(caller, ticket)
                raise self._busy()
        return ticket

    def _leave(self, caller: str, ticket: threading.Event) -> None:
        with self._lock:
            if not ticket.is_set():
                self._withdraw(caller, ticket)
                return
            self._running[caller] -= 1
            if not self._running[caller]:
                del self._running[caller]
            self._give_turns()

    def _give_turns(self) -> None:
        while sum(self._running.values()) < self._at_once:
            ready = [caller for caller in self._waiting if self._running.get(caller, 0) < self._most_for_one]
            if not ready:
                return
            caller = min(ready, key=lambda name: self._running.get(name, 0))
            line = self._waiting.pop(caller)
            line.popleft().set()
            self._running[caller] = self._running.get(caller, 0) + 1
            if line:
                self._waiting[caller] = line

    def _withdraw(self, caller: str, ticket: threading.Event) -> None:
        line = self._waiting[caller]
        line.remove(ticket)
        if not line:
            del self._waiting[caller]

    def _busy(self) -> BusyError:
        return BusyError(
            "The executor is busy: {running} runs are in progress and {waiting} wait. Nothing was run; try again soon.",
            running=sum(self._running.values()), waiting=sum(map(len, self._waiting.values())),
        )  # fmt: skip
