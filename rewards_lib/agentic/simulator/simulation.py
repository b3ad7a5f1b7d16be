"""A discrete-event simulation of rollout workers, a buffer and a trainer.

Invariant: groups produced are trained, dropped, discarded or queued, and none is counted twice; the same settings give
the same run, since generation times are drawn by the number of the group and no clock is read.
"""

from __future__ import annotations

import heapq
from collections import deque
from dataclasses import dataclass, field, replace
from enum import StrEnum

from rewards_lib.agentic.simulator.admission import areal_capacity, verl_new_rollouts
from rewards_lib.agentic.simulator.generation_times import GenerationTimes
from rewards_lib.agentic.simulator.settings import Order, Policy, SimulationSettings, checked

MAX_GROUPS = 30_000
"""A run is ended after so many groups: workers that drop nearly everything could go on for minutes."""


class Fate(StrEnum):
    """What became of a group."""

    RUNNING = "running"
    QUEUED = "queued"
    TRAINED = "trained"
    DROPPED = "dropped"
    DISCARDED = "discarded"


class Phase(StrEnum):
    """What the trainer does."""

    WAITING = "waiting"
    TRAINING = "training"
    DRAINING = "draining"
    """Waits for running generations before it updates their weights."""
    SYNCING = "syncing"


@dataclass(slots=True)
class Group:
    """One group of rollouts, from its start to its fate."""

    number: int
    worker: int
    version: int
    """Of the weights that began it."""
    started: float
    finished: float
    """When it is, or was, to end; moved by weight updates that pause it."""
    work_seconds: float
    fate: Fate = Fate.RUNNING
    trained_version: int | None = None
    """The trainer's version when it was trained on."""

    @property
    def staleness(self) -> int | None:
        """Versions between the weights that began it and those it trained; None if it was not trained on."""
        return None if self.trained_version is None else self.trained_version - self.version


@dataclass(frozen=True, slots=True)
class TrainerSpan:
    """A stretch of the trainer's time."""

    phase: Phase
    start: float
    end: float


@dataclass(slots=True)
class SimulatedRun:
    """Everything that happened, in simulated seconds."""

    settings: SimulationSettings
    groups: list[Group] = field(default_factory=list)
    """In the order in which they were started."""
    trainer: list[TrainerSpan] = field(default_factory=list)
    queue_depth: list[tuple[float, int]] = field(default_factory=list)
    """(time, groups in the buffer) at every change."""
    seconds: float = 0.0
    steps: int = 0
    """Training steps done; fewer than asked for when the run was ended early."""
    busy_seconds: float = 0.0
    """Of all workers together."""
    version: int = 0

    @property
    def ended_early(self) -> bool:
        """Whether ``MAX_GROUPS`` came before the last step."""
        return self.steps < self.settings.steps


def simulate(settings: SimulationSettings) -> SimulatedRun:
    """Run the simulation to its last training step. Raises InputError for settings that cannot work."""
    return _Simulation(checked(settings)).run()


def simulate_synchronously(settings: SimulationSettings) -> SimulatedRun:
    """Run the same workers, generation times and trainer in turns: what the policy is compared with."""
    return simulate(replace(settings, policy=Policy.SYNCHRONOUS, order=Order.AS_STARTED, sync_steps=1))


class _Simulation:
    """The state of one run. Events are the ends of generations and of the trainer's phases."""

    def __init__(self, settings: SimulationSettings) -> None:
        self._set = settings
        self._run = SimulatedRun(settings)
        self._times = GenerationTimes(settings.generation, settings.group_size, settings.seed)
        self._now = 0.0
        self._idle = list(range(settings.workers))
        self._running: list[tuple[float, int]] = []  # a heap of (end, number of the group)
        self._queue: deque[Group] = deque()
        self._first_untaken, self._first_unfinished = 0, 0  # numbers of groups, when they are taken as started
        self._finished = 0
        self._allowance = self._new_allowance()
        self._phase, self._phase_start, self._phase_end = Phase.WAITING, 0.0, float("inf")
        self._batch: list[Group] = []

    def run(self) -> SimulatedRun:
        run = self._run
        while run.steps < self._set.steps and len(run.groups) < MAX_GROUPS:
            if self._phase is Phase.WAITING and self._has_batch():
                self._begin_training()
            self._start_groups()
            self._advance()
        self._enter(Phase.WAITING, float("inf"))
        run.seconds = self._now
        return run

    # --- workers ---------------------------------------------------------------------------------------------------

    def _start_groups(self) -> None:
        while self._idle and self._may_start():
            number, worker = len(self._run.groups), heapq.heappop(self._idle)
            seconds = self._times.of(number)
            group = Group(number, worker, self._run.version, self._now, self._now + seconds, seconds)
            self._run.groups.append(group)
            heapq.heappush(self._running, (group.finished, number))
            self._allowance -= 1

    def _may_start(self) -> bool:
        if self._phase in (Phase.DRAINING, Phase.SYNCING):
            return False
        settings, policy = self._set, self._set.policy
        if policy in (Policy.SYNCHRONOUS, Policy.CAPACITY):
            is_synchronous = policy is Policy.SYNCHRONOUS
            return areal_capacity(
                max_concurrent=settings.workers if is_synchronous else settings.max_concurrent,
                running=len(self._running), max_staleness=0 if is_synchronous else settings.max_staleness,
                version=self._run.version, batch=settings.batch, accepted=self._finished,
            ) > 0  # fmt: skip
        if policy is Policy.THRESHOLD:
            return self._allowance > 0
        if policy is Policy.DISCARD:
            running = len(self._running)
            return running < settings.max_concurrent and len(self._queue) + running < settings.queue_capacity
        return True

    def _new_allowance(self) -> int:
        """What verl's rule lets start until the next weight update."""
        return verl_new_rollouts(
            staleness_threshold=self._set.staleness_threshold, sync_steps=self._set.sync_steps,
            mini_batch=self._set.batch, stale=len(self._queue) + len(self._running),
        )  # fmt: skip

    def _finish_group(self) -> None:
        group = self._run.groups[heapq.heappop(self._running)[1]]
        heapq.heappush(self._idle, group.worker)
        self._finished += 1
        group.fate = Fate.QUEUED
        self._queue.append(group)
        if self._set.policy is Policy.DROP_OLDEST and len(self._queue) > self._set.queue_capacity:
            self._queue.popleft().fate = Fate.DROPPED
        elif self._is_stale(group):
            self._queue.pop().fate = Fate.DISCARDED
        self._note_depth()

    def _is_stale(self, group: Group) -> bool:
        age = self._run.version - group.version
        return self._set.policy is Policy.DISCARD and age > self._set.max_staleness

    def _discard_stale(self) -> None:
        for group in self._queue:
            if self._is_stale(group):
                group.fate = Fate.DISCARDED
        self._queue = deque(group for group in self._queue if group.fate is Fate.QUEUED)

    def _note_depth(self) -> None:
        self._run.queue_depth.append((self._now, len(self._queue)))

    # --- the trainer -----------------------------------------------------------------------------------------------

    def _has_batch(self) -> bool:
        if not self._is_in_order():
            return len(self._queue) >= self._set.batch
        groups = self._run.groups
        while self._first_unfinished < len(groups) and groups[self._first_unfinished].fate is not Fate.RUNNING:
            self._first_unfinished += 1
        return self._first_unfinished >= self._first_untaken + self._set.batch

    def _is_in_order(self) -> bool:
        """Under policies that throw groups away the buffer's own order counts."""
        return self._set.order is Order.AS_STARTED and self._set.policy not in (Policy.DROP_OLDEST, Policy.DISCARD)

    def _begin_training(self) -> None:
        if self._set.policy not in (Policy.DROP_OLDEST, Policy.DISCARD):
            self._queue = deque(sorted(self._queue, key=lambda group: group.number))
        batch = [self._queue.popleft() for _ in range(self._set.batch)]
        self._first_untaken += self._set.batch
        for group in batch:
            group.fate, group.trained_version = Fate.TRAINED, self._run.version
        self._note_depth()
        self._enter(Phase.TRAINING, self._now + self._set.train_seconds)

    def _end_phase(self) -> None:
        if self._phase is Phase.TRAINING:
            self._run.steps += 1
            if self._run.steps % self._set.steps_per_sync:
                self._enter(Phase.WAITING, float("inf"))
            elif self._running and not self._set.partial_rollouts:
                self._enter(Phase.DRAINING, float("inf"))
            else:
                self._begin_sync()
        elif self._phase is Phase.SYNCING:
            self._run.version += 1
            self._allowance = self._new_allowance()
            self._discard_stale()
            self._note_depth()
            self._enter(Phase.WAITING, float("inf"))

    def _begin_sync(self) -> None:
        """Pause what runs: every end moves by the length of the update, which keeps the heap in order."""
        self._running = [(end + self._set.sync_seconds, number) for end, number in self._running]
        for end, number in self._running:
            self._run.groups[number].finished = end
        self._enter(Phase.SYNCING, self._now + self._set.sync_seconds)

    def _enter(self, phase: Phase, end: float) -> None:
        if self._now > self._phase_start:
            self._run.trainer.append(TrainerSpan(self._phase, self._phase_start, self._now))
        self._phase, self._phase_start, self._phase_end = phase, self._now, end

    # --- time ------------------------------------------------------------------------------------------------------

    def _advance(self) -> None:
        """Go to the next event. Generations that end with a phase end first, so that the phase sees them."""
        next_end = self._running[0][0] if self._running else float("inf")
        then = min(next_end, self._phase_end)
        if self._phase is not Phase.SYNCING:
            self._run.busy_seconds += len(self._running) * (then - self._now)
        self._now = then
        if next_end <= self._phase_end:
            self._finish_group()
            if self._phase is Phase.DRAINING and not self._running:
                self._begin_sync()
        else:
            self._end_phase()
