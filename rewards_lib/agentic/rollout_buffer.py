"""An asynchronous rollout buffer: many producers, batches for a trainer, policy versions, and no loss uncounted.

Invariant: it holds at most ``capacity`` rollouts, returns none beyond ``max_staleness``, and at every moment
``offered == taken + dropped + discarded + withdrawn + refused + queued + waiting``.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Generic, Literal, TypeAlias, TypeVar

from rewards_lib.errors import InputError, RewardConsoleError

T = TypeVar("T")
WhenFull: TypeAlias = Literal["drop_oldest", "wait"]


class BufferClosedError(RewardConsoleError):
    """The buffer was closed: nothing can be put in, and no whole batch is left to take."""

    code = "buffer_closed"


@dataclass(frozen=True, slots=True)
class Versioned(Generic[T]):
    """A rollout with the version of the weights that began it."""

    item: T
    version: int


@dataclass(slots=True)
class BufferCounts:
    """What became of every rollout that was ever offered."""

    offered: int = 0
    taken: int = 0
    """Handed to a trainer, in batches or at the end."""
    dropped: int = 0
    """Pushed out of a full buffer by newer ones."""
    discarded: int = 0
    """Older than the staleness limit, on arrival or while waiting in the buffer."""
    withdrawn: int = 0
    """Their producer was cancelled while it waited for room."""
    refused: int = 0
    """Offered after the buffer was closed, or waiting for room when it was."""


class AsyncRolloutBuffer(Generic[T]):
    """Between rollout workers and a trainer, in one event loop; not for several threads.

    A ``deque(maxlen=...)`` would do the dropping in silence; here each loss is counted by its cause, and each rollout
    carries the policy version it was sampled with. Compare AReaL's ``WorkflowExecutor``, verl's ``MessageQueue``.

    Raises InputError when the batch is larger than the capacity (the trainer would wait for ever) or a number is
    out of range.
    """

    def __init__(
        self, *, batch_size: int, capacity: int, max_staleness: int | None = None, when_full: WhenFull = "drop_oldest"
    ) -> None:
        """Make an empty buffer at version 0. ``max_staleness`` counts policy versions; None sets no limit."""
        if batch_size < 1:
            raise InputError("A batch holds at least one rollout, not {size}.", size=batch_size)
        if capacity < batch_size:
            raise InputError(
                "A batch of {batch} never fits into a buffer of {capacity}: the trainer would wait for ever.",
                batch=batch_size, capacity=capacity, remedy="Give the buffer at least the size of a batch.",
            )  # fmt: skip
        if max_staleness is not None and max_staleness < 0:
            raise InputError("A staleness limit is 0 or more, not {value}.", value=max_staleness)
        self.batch_size, self.capacity, self.max_staleness = batch_size, capacity, max_staleness
        self.counts = BufferCounts()
        self._when_full = when_full
        self._queue: deque[Versioned[T]] = deque()
        self._version, self._waiting, self._closed = 0, 0, False
        lock = asyncio.Lock()
        # Two conditions over one lock: a put wakes trainers only, a take wakes no more producers than there is room.
        self._batch_ready, self._room = asyncio.Condition(lock), asyncio.Condition(lock)

    @property
    def version(self) -> int:
        """The trainer's policy version."""
        return self._version

    @property
    def queued(self) -> int:
        """Rollouts in the buffer."""
        return len(self._queue)

    @property
    def waiting(self) -> int:
        """Producers that wait for room."""
        return self._waiting

    async def put(self, item: T, *, version: int) -> bool:
        """Offer a rollout sampled with the weights of ``version``; tell whether it was kept.

        A full buffer drops its oldest rollout or makes the producer wait, as it was made to. A rollout that is older
        than the limit, on arrival or after the wait, is discarded and False comes back. Raises BufferClosedError, and
        InputError for a version that the trainer has not reached.
        """
        async with self._room:
            if version > self._version:
                raise InputError(
                    "This rollout names policy version {version}; the trainer is at {current}.",
                    version=version, current=self._version, remedy="Call advance_to before new weights are used.",
                )  # fmt: skip
            self.counts.offered += 1
            await self._wait_for_room()
            if self._is_stale(version):
                self.counts.discarded += 1
                self._room.notify()  # the room this producer was woken for is still there
                return False
            if len(self._queue) == self.capacity:
                self._queue.popleft()
                self.counts.dropped += 1
            self._queue.append(Versioned(item, version))
            if len(self._queue) >= self.batch_size:
                self._batch_ready.notify()
            return True

    async def _wait_for_room(self) -> None:
        """Return when the buffer may take one more; count the producer out when it closes or the producer goes."""
        self._waiting += 1
        try:
            if self._when_full == "wait":
                await self._room.wait_for(lambda: self._closed or len(self._queue) < self.capacity)
        except asyncio.CancelledError:
            self.counts.withdrawn += 1
            self._room.notify()  # a wake-up that arrived together with the cancellation belongs to the next in line
            raise
        finally:
            self._waiting -= 1
        if self._closed:
            self.counts.refused += 1
            raise BufferClosedError("The rollout buffer is closed; this rollout was not kept.")

    async def get_batch(self) -> list[Versioned[T]]:
        """Wait for ``batch_size`` rollouts and return the oldest, in the order in which they arrived.

        A cancelled trainer takes nothing. Raises BufferClosedError when the buffer is closed and holds no whole batch.
        """
        async with self._batch_ready:
            try:
                await self._batch_ready.wait_for(lambda: self._closed or len(self._queue) >= self.batch_size)
            except asyncio.CancelledError:
                self._batch_ready.notify()
                raise
            if len(self._queue) < self.batch_size:
                raise BufferClosedError("The rollout buffer is closed; no whole batch is left.")
            return self._take(self.batch_size)

    async def advance_to(self, version: int) -> int:
        """Note that the trainer's weights are now of ``version``; return how many rollouts that made too stale.

        Raises InputError when the version goes back.
        """
        async with self._room:
            if version < self._version:
                raise InputError(
                    "The policy version goes up; {version} comes after {current}.",
                    version=version, current=self._version,
                )  # fmt: skip
            self._version = version
            kept = [entry for entry in self._queue if not self._is_stale(entry.version)]
            gone = len(self._queue) - len(kept)
            self._queue = deque(kept)
            self.counts.discarded += gone
            self._room.notify(gone)
            return gone

    async def close(self) -> None:
        """Refuse what is offered from now on; waiting producers and trainers wake up. Closing twice is no fault."""
        async with self._room:
            self._closed = True
            self._room.notify_all()
            self._batch_ready.notify_all()

    async def take_rest(self) -> list[Versioned[T]]:
        """Take everything that is left, which may be less than a batch."""
        async with self._room:
            return self._take(len(self._queue))

    async def __aiter__(self) -> AsyncIterator[list[Versioned[T]]]:
        """Yield batches until the buffer is closed and holds no whole batch."""
        while True:
            try:
                batch = await self.get_batch()
            except BufferClosedError:
                return
            yield batch

    def _take(self, count: int) -> list[Versioned[T]]:
        batch = [self._queue.popleft() for _ in range(count)]
        self.counts.taken += count
        self._room.notify(count)
        if len(self._queue) >= self.batch_size:
            self._batch_ready.notify()  # another trainer may have slept through the puts in between
        return batch

    def _is_stale(self, version: int) -> bool:
        return self.max_staleness is not None and self._version - version > self.max_staleness
