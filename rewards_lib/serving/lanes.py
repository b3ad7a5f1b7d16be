"""Who scores a request: a thread of its own, or, for mixes of presets, a thread that takes all that wait together.

Requests for presets are short: handing each to a thread of its own costs more than scoring it. Requests for functions
may take seconds, so each has its own thread. Invariant: which lane a request took changes its time and nothing else.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from rewards_lib.serving.handler import Answer, Dialect, RewardHandler

MOST_TOGETHER = 16


@dataclass(frozen=True, slots=True)
class Request:
    """What came in, and where its answer goes."""

    dialect: Dialect
    reference: str
    body: bytes
    answer: asyncio.Future[Answer]


class Lanes:
    """The threads of one service. ``answer`` is for its event loop alone."""

    def __init__(self, handler: RewardHandler, *, single: int, shared: int) -> None:
        self._handler = handler
        self._single = ThreadPoolExecutor(single, thread_name_prefix="single")
        self._waiting: deque[Request] = deque()
        self._arrived = threading.Semaphore(0)
        for number in range(shared):
            threading.Thread(target=self._share, name=f"shared {number}", daemon=True).start()

    async def answer(self, dialect: Dialect, reference: str, body: bytes) -> Answer:
        """Score one request in the lane for it."""
        loop = asyncio.get_running_loop()
        if not self._handler.is_quick(reference):
            return await loop.run_in_executor(self._single, self._handler.answer, dialect, reference, body)
        request = Request(dialect, reference, body, loop.create_future())
        self._waiting.append(request)
        self._arrived.release()
        return await request.answer

    def _share(self) -> None:
        while True:
            self._arrived.acquire()
            taken = [self._waiting.popleft()]
            while len(taken) < MOST_TOGETHER and self._arrived.acquire(blocking=False):
                taken.append(self._waiting.popleft())
            answers = self._handler.answer_many([(one.dialect, one.reference, one.body) for one in taken])
            loop = taken[0].answer.get_loop()
            loop.call_soon_threadsafe(_settle, taken, answers)


def _settle(taken: list[Request], answers: list[Answer]) -> None:
    for request, answer in zip(taken, answers, strict=True):
        if not request.answer.done():  # its client has gone meanwhile
            request.answer.set_result(answer)
