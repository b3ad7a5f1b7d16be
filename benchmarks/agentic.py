"""The simulator and the rollout buffer: how long a run takes, and what counting costs beside a bare queue.

    python benchmarks/agentic.py [--small]

Prints one line a measure with its goal; both sides of a ratio are measured in the same run, in processor time.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from rewards_lib.agentic import (
    SYSTEMS,
    AsyncRolloutBuffer,
    Order,
    Policy,
    SimulationSettings,
    compare_with_synchronous,
    settings_of,
)

BATCH = 32


def cpu_seconds(work: Callable[[], object]) -> float:
    """The least processor time of three goes."""
    times = []
    for _ in range(3):
        begun = time.process_time()
        work()
        times.append(time.process_time() - begun)
    return min(times)


async def through_buffer(count: int) -> None:
    """Put and take ``count`` rollouts, one producer and one trainer."""
    buffer: AsyncRolloutBuffer[int] = AsyncRolloutBuffer(
        batch_size=BATCH, capacity=4 * BATCH, max_staleness=2, when_full="wait"
    )

    async def produce() -> None:
        for number in range(count):
            await buffer.put(number, version=0)

    async def train() -> None:
        for _ in range(count // BATCH):
            await buffer.get_batch()

    await asyncio.gather(produce(), train())


async def through_queue(count: int) -> None:
    """The same with asyncio.Queue, which knows neither batches nor versions and counts nothing."""
    queue: asyncio.Queue[int] = asyncio.Queue(4 * BATCH)

    async def produce() -> None:
        for number in range(count):
            await queue.put(number)

    async def train() -> None:
        for _ in range(count // BATCH):
            [await queue.get() for _ in range(BATCH)]

    await asyncio.gather(produce(), train())


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="a tenth of the rollouts and steps")
    scale = 10 if parser.parse_args().small else 1
    usual = SimulationSettings(steps=400 // scale)
    for name in SYSTEMS:
        seconds = cpu_seconds(lambda name=name: compare_with_synchronous(settings_of(name, usual)))
        print(f"simulate {name}, {usual.steps} steps, and in turns: {seconds * 1e3:.0f} ms (goal: under 1000)")
    large = SimulationSettings(
        workers=512, batch=512, steps=1000 // scale, max_staleness=100, policy=Policy.CAPACITY, order=Order.AS_FINISHED
    )
    for policy in (Policy.CAPACITY, Policy.DISCARD, Policy.DROP_OLDEST):
        settings = replace(large, policy=policy, queue_capacity=1024)
        seconds = cpu_seconds(lambda settings=settings: compare_with_synchronous(settings))
        print(f"simulate the largest run, {policy}: {seconds * 1e3:.0f} ms (goal: under 2000)")
    count = 64_000 // scale
    works: tuple[Callable[[int], Awaitable[None]], ...] = (through_buffer, through_queue)
    ours, bare = (cpu_seconds(lambda work=work: asyncio.run(work(count))) for work in works)
    print(f"buffer against asyncio.Queue, {count} rollouts: {ours / bare:.2f} x (goal: at most 4)")


if __name__ == "__main__":
    main()
