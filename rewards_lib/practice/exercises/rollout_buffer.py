"""Exercise 5: an asynchronous rollout buffer that knows policy versions and counts what it loses."""

from rewards_lib.contract import sentence
from rewards_lib.practice.exercise import Check, Exercise, Level, WrongAnswer, fill_blanks

CODE = '''import asyncio
from collections import deque


class RolloutBuffer:
    """Workers put rollouts, a trainer takes batches; what is lost is counted."""

    def __init__(self, batch_size, capacity, max_staleness):
        self.batch_size, self.capacity = batch_size, capacity
        self.max_staleness = max_staleness
        self.version, self.dropped, self.discarded = 0, 0, 0
        self.rollouts = deque()
        self.changed = asyncio.Condition()

    def is_too_old(self, version):
        return self.version - version ⟦> self.max_staleness⟧

    async def put(self, rollout, version):
        async with self.changed:
            if self.is_too_old(version):
                self.discarded += 1
                return
            if len(self.rollouts) == self.capacity:
                self.rollouts.⟦popleft⟧()
                self.dropped += 1
            self.rollouts.append((rollout, version))
            self.changed.⟦notify_all⟧()

    async def new_weights(self, version):
        async with self.changed:
            self.version = version
            fresh = [one for one in self.rollouts if not self.is_too_old(one[1])]
            self.discarded += len(self.rollouts) - len(fresh)
            self.rollouts = deque(fresh)

    async def get_batch(self):
        async with self.changed:
            await self.changed.wait_for(lambda: len(self.rollouts) ⟦>= self.batch_size⟧)
            return [self.rollouts.popleft()[0] for _ in range(self.batch_size)]
'''

SUPPORT = """
import asyncio


def within_a_second(scene):
    return asyncio.run(asyncio.wait_for(scene, 1))


async def let_others_run():
    for _ in range(5):
        await asyncio.sleep(0)


async def filled(names, batch_size, capacity):
    buffer = RolloutBuffer(batch_size, capacity, 1)
    for name in names:
        await buffer.put(name, 0)
    return buffer


async def waiting_trainer():
    buffer = RolloutBuffer(2, 4, 1)
    trainer = asyncio.create_task(buffer.get_batch())
    for name in "ab":
        await let_others_run()
        await buffer.put(name, 0)
    return await trainer


async def early_trainer():
    buffer = await filled("ab", 3, 4)
    trainer = asyncio.create_task(buffer.get_batch())
    await let_others_run()
    if not trainer.done():
        trainer.cancel()
        return "waits"
    return "took " + str(len(trainer.result()))


async def full_buffer():
    buffer = await filled("abcdef", 2, 4)
    return [await buffer.get_batch(), await buffer.get_batch(), buffer.dropped]


async def old_rollouts():
    buffer = RolloutBuffer(2, 4, 1)
    for version, name in enumerate("abcd"):
        await buffer.new_weights(version)
        await buffer.put(name, version)
    return [await buffer.get_batch(), buffer.discarded]


async def late_arrival():
    buffer = RolloutBuffer(1, 4, 1)
    await buffer.new_weights(2)
    for version, name in enumerate("ab"):
        await buffer.put(name, version)
    return [await buffer.get_batch(), buffer.discarded]
"""

EXERCISE = Exercise(
    place=5,
    title=sentence("Asynchronous rollout buffer"),
    level=Level.HARD,
    minutes=10,
    task=sentence(
        "Generating takes long and its tail is longer: a trainer that waits for every rollout of a batch idles most "
        "of the time. So workers fill a buffer, and the trainer takes a batch as soon as there is one. What was "
        "sampled with old weights fits the present policy less and less, so each rollout carries its version and is "
        "discarded beyond a limit, in the buffer or on arrival. A full buffer drops the **oldest**. Both losses are "
        "counted; a `deque(maxlen=...)` would drop in silence. Fill the four blanks."
    ),
    code=CODE,
    support=SUPPORT,
    checks=(
        Check(
            sentence("a trainer that waits is woken"), "within_a_second(waiting_trainer())", ["a", "b"],
            sentence(
                "The batch was there, but the trainer did not get it: it sleeps until it is notified, and must look "
                "again when it wakes, since one rollout of two may have woken it."
            ),
        ),
        Check(
            sentence("no batch before it is whole"), "within_a_second(early_trainer())", "waits",
            sentence("Two rollouts are no batch of three: the trainer has to wait until there are enough."),
        ),
        Check(
            sentence("a full buffer"), "within_a_second(full_buffer())", [["c", "d"], ["e", "f"], 2],
            sentence("A full buffer drops its oldest rollouts, from the left, and counts them."),
        ),
        Check(
            sentence("rollouts of old weights"), "within_a_second(old_rollouts())", [["c", "d"], 2],
            sentence(
                "With a limit of 1, version 0 is too old at version 2 and version 1 at version 3, while one version "
                "behind still fits; what was discarded adds up."
            ),
        ),
        Check(
            sentence("too old on arrival"), "within_a_second(late_arrival())", [["b"], 1],
            sentence(
                "A long rollout may come in when its weights are already too old: it has to be discarded, and "
                "counted, on arrival as well."
            ),
        ),
    ),
    hints=(
        sentence("A limit of 1 means: one version behind is still fine, two are too old."),
        sentence("Which end of the deque holds the oldest, if `append` puts new ones at the right?"),
        sentence("A Condition has `notify` for one waiter and another method for all of them."),
    ),
    why=sentence(
        "`wait_for` looks at its condition again after each wake-up, so a trainer that was overtaken by another goes "
        "back to sleep. Dropping from the left keeps what fits the present policy best. Counting is the point: a "
        "system that throws away a third of its rollouts looks healthy until somebody counts."
    ),
    question=sentence(
        "Long rollouts are finished late, so a staleness limit discards them more often. What does that do to what "
        "the policy learns, and which rule on the Trajectories page avoids it?"
    ),
    wrong_answers=(
        WrongAnswer(fill_blanks(CODE, {3: "locked"}), fails=0),
        WrongAnswer(fill_blanks(CODE, {}).replace("wait_for(lambda: len(self.rollouts) >= self.batch_size)", "wait()"),
                    fails=0),
        WrongAnswer(fill_blanks(CODE, {4: "> 1"}), fails=1),
        WrongAnswer(fill_blanks(CODE, {2: "pop"}), fails=2),
        WrongAnswer(fill_blanks(CODE, {}).replace("self.dropped += 1", "pass"), fails=2),
        WrongAnswer(fill_blanks(CODE, {1: ">= self.max_staleness"}), fails=3),
        WrongAnswer(fill_blanks(CODE, {}).replace("self.discarded += len", "self.discarded = len"), fails=3),
        WrongAnswer(fill_blanks(CODE, {}).replace("if self.is_too_old(version):", "if False:"), fails=4),
    ),
)  # fmt: skip
