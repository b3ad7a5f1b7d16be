"""Ending what is in progress: a run, a batch, an installation.

Invariant: what is attached to a switch is told at most once, and at once when the switch was pressed before.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class StopSwitch:
    """Pressed once by whoever no longer wants the work. Thread-safe."""

    def __init__(self) -> None:
        self._pressed = threading.Event()
        self._lock = threading.Lock()
        self._ends: list[Callable[[], None]] = []

    @property
    def is_pressed(self) -> bool:
        """Whether somebody wants the work to end."""
        return self._pressed.is_set()

    def press(self) -> None:
        """Ask everything that is in progress to end."""
        with self._lock:
            self._pressed.set()
            ends, self._ends = self._ends, []
        for end in ends:
            end()

    @contextmanager
    def ending(self, end: Callable[[], None]) -> Iterator[None]:
        """Call ``end`` when the switch is pressed while the block runs."""
        with self._lock:
            is_late = self._pressed.is_set()
            if not is_late:
                self._ends.append(end)
        if is_late:
            end()
        try:
            yield
        finally:
            with self._lock:
                if end in self._ends:
                    self._ends.remove(end)
