"""Whose request is scored next: so many at once, so many waiting, and everybody else is told to come back.

Invariant: every place that was given is given back.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from rewards_lib.errors import BusyError


class Admission:
    """Hands out places in the order of asking. For one event loop."""

    def __init__(self, at_once: int, most_waiting: int, wait_seconds: float) -> None:
        self._places = asyncio.Semaphore(at_once)
        self._at_once = at_once
        self._most_waiting = most_waiting
        self._wait_seconds = wait_seconds
        self.running = 0
        """Requests that have a place."""
        self.waiting = 0
        """Requests that have none yet."""

    @asynccontextmanager
    async def place(self) -> AsyncIterator[float]:
        """Wait for a place and hold it; gives the milliseconds that were waited.

        Raises BusyError when too many wait already, or when it takes too long.
        """
        started = time.perf_counter()
        if not self._places.locked():
            await self._places.acquire()  # at once: a timer for each request would cost more than the place
        else:
            await self._wait()
        self.running += 1
        try:
            yield (time.perf_counter() - started) * 1000
        finally:
            self.running -= 1
            self._places.release()

    async def _wait(self) -> None:
        if self.waiting >= self._most_waiting:
            raise self._busy()
        self.waiting += 1
        try:
            await asyncio.wait_for(self._places.acquire(), self._wait_seconds)
        except TimeoutError:
            raise self._busy() from None
        finally:
            self.waiting -= 1

    def _busy(self) -> BusyError:
        return BusyError(
            "The service is busy: {running} requests are being scored and {waiting} wait. Nothing was scored.",
            running=self.running, waiting=self.waiting, remedy="Try again soon; Retry-After says when.",
        )  # fmt: skip
