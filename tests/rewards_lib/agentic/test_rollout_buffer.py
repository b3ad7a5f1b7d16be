"""The buffer keeps its promises under every order of puts, takes, advances, cancellations and closing."""

import asyncio
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rewards_lib.agentic import AsyncRolloutBuffer, BufferClosedError
from rewards_lib.errors import InputError


def balance(buffer):
    """Offered rollouts that no counter knows."""
    counts = buffer.counts
    known = counts.taken + counts.dropped + counts.discarded + counts.withdrawn + counts.refused
    return counts.offered - known - buffer.queued - buffer.waiting


def run(work):
    return asyncio.run(asyncio.wait_for(work, 20))


async def settle():
    """Let every task go as far as it can."""
    for _ in range(20):
        await asyncio.sleep(0)


def test_a_full_buffer_drops_the_oldest_and_counts_it():
    async def work():
        buffer = AsyncRolloutBuffer(batch_size=2, capacity=3)
        for number in range(5):
            assert await buffer.put(number, version=0)
        assert [entry.item for entry in await buffer.get_batch()] == [2, 3]
        assert (buffer.counts.dropped, buffer.counts.taken, buffer.queued) == (2, 2, 1)

    run(work())


def test_the_trainer_waits_for_a_whole_batch():
    async def work():
        buffer = AsyncRolloutBuffer(batch_size=2, capacity=4)
        taking = asyncio.create_task(buffer.get_batch())
        await buffer.put("a", version=0)
        await settle()
        assert not taking.done()
        await buffer.put("b", version=0)
        assert [entry.item for entry in await taking] == ["a", "b"]

    run(work())


def test_a_buffer_told_to_wait_makes_producers_wait_and_drops_nothing():
    async def work():
        buffer = AsyncRolloutBuffer(batch_size=1, capacity=1, when_full="wait")
        puts = [asyncio.create_task(buffer.put(number, version=0)) for number in range(3)]
        await settle()
        assert (buffer.queued, buffer.waiting) == (1, 2)
        taken = [(await buffer.get_batch())[0].item for _ in range(3)]
        assert (taken, await asyncio.gather(*puts), buffer.counts.dropped) == ([0, 1, 2], [True] * 3, 0)

    run(work())


def test_new_weights_discard_what_has_become_too_old():
    async def work():
        buffer = AsyncRolloutBuffer(batch_size=1, capacity=4, max_staleness=1)
        await buffer.put("old", version=0)
        await buffer.advance_to(1)
        await buffer.put("newer", version=1)
        assert await buffer.advance_to(2) == 1
        assert not await buffer.put("late", version=0)
        assert [entry.item for entry in await buffer.get_batch()] == ["newer"]
        assert buffer.counts.discarded == 2

    run(work())


def test_a_producer_that_gives_up_its_place_leaves_it_to_the_next():
    async def work():
        buffer = AsyncRolloutBuffer(batch_size=1, capacity=1, when_full="wait")
        await buffer.put(0, version=0)
        first, second = (asyncio.create_task(buffer.put(number, version=0)) for number in (1, 2))
        await settle()
        await buffer.get_batch()  # wakes the first ...
        first.cancel()  # ... which is cancelled before it runs
        assert await second
        assert (buffer.counts.withdrawn, [entry.item for entry in await buffer.get_batch()]) == (1, [2])

    run(work())


def test_a_trainer_that_is_cancelled_takes_nothing_along():
    async def work():
        buffer = AsyncRolloutBuffer(batch_size=2, capacity=4)
        first, second = (asyncio.create_task(buffer.get_batch()) for _ in range(2))
        await settle()
        await buffer.put(1, version=0)
        await buffer.put(2, version=0)
        first.cancel()
        assert [entry.item for entry in await second] == [1, 2]
        assert balance(buffer) == 0

    run(work())


def test_closing_wakes_everybody_and_leaves_the_rest_to_be_taken():
    async def work():
        buffer = AsyncRolloutBuffer(batch_size=2, capacity=3, when_full="wait")
        for number in range(3):
            await buffer.put(number, version=0)
        waiting = asyncio.create_task(buffer.put("late", version=0))
        await settle()
        await buffer.close()
        await buffer.close()
        with pytest.raises(BufferClosedError):
            await waiting
        with pytest.raises(BufferClosedError):
            await buffer.put("later", version=0)
        assert [[entry.item for entry in batch] async for batch in buffer] == [[0, 1]]
        with pytest.raises(BufferClosedError):
            await buffer.get_batch()
        assert [entry.item for entry in await buffer.take_rest()] == [2]
        assert (buffer.counts.refused, balance(buffer)) == (2, 0)

    run(work())


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"batch_size": 5, "capacity": 4}, "never fits"),
        ({"batch_size": 0, "capacity": 4}, "at least one"),
        ({"batch_size": 1, "capacity": 4, "max_staleness": -1}, "0 or more"),
    ],
)
def test_a_buffer_that_could_never_work_is_refused(options, says):
    async def work():
        with pytest.raises(InputError, match=says):
            AsyncRolloutBuffer(**options)

    run(work())


def test_versions_neither_run_ahead_of_the_trainer_nor_back():
    async def work():
        buffer = AsyncRolloutBuffer(batch_size=1, capacity=1)
        with pytest.raises(InputError, match="trainer is at 0"):
            await buffer.put("from the future", version=1)
        await buffer.advance_to(2)
        with pytest.raises(InputError, match="goes up"):
            await buffer.advance_to(1)
        assert buffer.counts.offered == 0

    run(work())


deeds = st.lists(st.sampled_from(["put", "take", "advance", "cancel", "settle"]), max_size=60)


@settings(max_examples=60, deadline=None)
@given(
    deeds, st.integers(1, 3), st.integers(0, 3), st.one_of(st.none(), st.integers(0, 2)), st.booleans(), st.randoms()
)
def test_no_order_of_deeds_breaks_a_promise(story, batch, spare, limit, waits, chance):
    async def work():
        buffer = AsyncRolloutBuffer(
            batch_size=batch, capacity=batch + spare, max_staleness=limit, when_full="wait" if waits else "drop_oldest"
        )
        tasks, taken = [], []

        async def take():
            batch_now = await buffer.get_batch()
            assert len(batch_now) == batch
            assert limit is None or all(buffer.version - entry.version <= limit for entry in batch_now)
            taken.extend(entry.item for entry in batch_now)

        for number, deed in enumerate(story):
            if deed == "put":
                version = chance.randint(0, buffer.version)
                tasks.append(asyncio.create_task(buffer.put(number, version=version)))
            elif deed == "take":
                tasks.append(asyncio.create_task(take()))
            elif deed == "advance":
                await buffer.advance_to(buffer.version + 1)
            elif deed == "cancel" and tasks:
                chance.choice(tasks).cancel()
            else:
                await settle()
            assert buffer.queued <= buffer.capacity
            assert balance(buffer) == 0
        await settle()
        for task in tasks:
            task.cancel()
        for end in await asyncio.gather(*tasks, return_exceptions=True):
            assert end is None or isinstance(end, (bool, asyncio.CancelledError)), end
        assert len(taken) == len(set(taken)) == buffer.counts.taken
        assert (balance(buffer), buffer.waiting) == (0, 0)

    run(work())


@pytest.mark.parametrize("waits", [False, True], ids=["dropping", "waiting"])
def test_a_thousand_producers_lose_nothing_uncounted(waits):
    async def work():
        chance = random.Random(1)
        buffer = AsyncRolloutBuffer(
            batch_size=16, capacity=64, max_staleness=2, when_full="wait" if waits else "drop_oldest"
        )
        taken = []

        async def produce(number):
            for turn in range(3):
                await asyncio.sleep(0)
                await buffer.put((number, turn), version=max(0, buffer.version - chance.randint(0, 3)))

        async def train():
            async for batch in buffer:
                assert all(buffer.version - entry.version <= 2 for entry in batch)
                assert buffer.queued <= buffer.capacity
                taken.extend(entry.item for entry in batch)
                if len(taken) % 64 == 0:
                    await buffer.advance_to(buffer.version + 1)
                await asyncio.sleep(0)

        producers = [asyncio.create_task(produce(number)) for number in range(1000)]
        trainers = [asyncio.create_task(train()) for _ in range(3)]
        for _ in range(5):
            await asyncio.sleep(0)
            for task in chance.sample(producers, 60):
                task.cancel()
        await asyncio.wait(producers)
        await buffer.close()
        await asyncio.gather(*trainers)
        taken += [entry.item for entry in await buffer.take_rest()]
        assert len(taken) == len(set(taken)) == buffer.counts.taken
        assert (balance(buffer), buffer.queued, buffer.waiting) == (0, 0, 0)
        assert buffer.counts.offered > 1500
        assert (buffer.counts.withdrawn > 0) == waits
        assert (buffer.counts.dropped > 0) != waits

    run(work())
