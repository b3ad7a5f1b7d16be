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

    async def put(self, rollout, version):
        async with self.changed:
            if len(self.rollouts) == self.capacity:
                self.rollouts.⟦popleft⟧()
                self.dropped += 1
            self.rollouts.append((rollout, version))
            self.changed.⟦notify_all⟧()

    async def new_weights(self, version):
        async with self.changed:
            self.version = version
            limit = self.max_staleness
            fresh = [one for one in self.rollouts if version - one[1] ⟦<=⟧ limit]
            self.discarded += len(self.rollouts) - len(fresh)
            self.rollouts = deque(fresh)

    async def get_batch(self):
        async with self.changed:
            await self.changed.wait_for(lambda: len(self.rollouts) ⟦>= self.batch_size⟧)
            return [self.rollouts.popleft()[0] for _ in range(self.batch_size)]
'''

SUPPORT = """
import asyncio


async def waiting_trainer():
    buffer = RolloutBuffer(2, 4, 1)
    trainer = asyncio.create_task(buffer.get_batch())
    await asyncio.sleep(0)
    for name in "ab":
        await buffer.put(name, 0)
    return await asyncio.wait_for(trainer, 1)


async def early_trainer():
    buffer = RolloutBuffer(3, 4, 1)
    await buffer.put("a", 0)
    await buffer.put("b", 0)
    trainer = asyncio.create_task(buffer.get_batch())
    for _ in range(5):
        await asyncio.sleep(0)
    return "waits" if not trainer.done() else "took " + str(len(trainer.result()))


async def full_buffer():
    buffer = RolloutBuffer(2, 3, 1)
    for name in "abcde":
        await buffer.put(name, 0)
    return [await buffer.get_batch(), buffer.dropped, len(buffer.rollouts)]


async def old_rollouts():
    buffer = RolloutBuffer(1, 4, 1)
    for version, name in enumerate("abc"):
        await buffer.new_weights(version)
        await buffer.put(name, version)
    return [buffer.discarded, [one[0] for one in buffer.rollouts]]
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
        "discarded beyond a limit. A full buffer drops the **oldest**. Both losses are counted; a "
        "`deque(maxlen=...)` would drop in silence. Fill the four blanks."
    ),
    code=CODE,
    support=SUPPORT,
    checks=(
        Check(
            sentence("a trainer that waits is woken"), "asyncio.run(waiting_trainer())", ["a", "b"],
            sentence("The batch was there, but nobody told the trainer: it sleeps until it is notified."),
        ),
        Check(
            sentence("no batch before it is whole"), "asyncio.run(early_trainer())", "waits",
            sentence("Two rollouts are no batch of three: the trainer has to wait until there are enough."),
        ),
        Check(
            sentence("a full buffer"), "asyncio.run(full_buffer())", [["c", "d"], 2, 1],
            sentence("A full buffer drops its oldest rollouts, from the left, and counts them."),
        ),
        Check(
            sentence("rollouts of old weights"), "asyncio.run(old_rollouts())", [1, ["b", "c"]],
            sentence("With a limit of 1 version, version 0 is too old at 2, and version 1 still fits."),
        ),
    ),
    hints=(
        sentence("Which end of the deque holds the oldest, if `append` puts new ones at the right?"),
        sentence("A Condition has `notify` for one waiter and another method for all of them."),
        sentence("A limit of 1 means: one version behind is still fine."),
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
        WrongAnswer(fill_blanks(CODE, {2: "locked"}), fails=0),
        WrongAnswer(fill_blanks(CODE, {4: "> 1"}), fails=1),
        WrongAnswer(fill_blanks(CODE, {1: "pop"}), fails=2),
        WrongAnswer(fill_blanks(CODE, {3: "<"}), fails=3),
    ),
)  # fmt: skip
