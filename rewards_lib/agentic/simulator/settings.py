"""What a simulated run of rollout workers and a trainer is told; refused before it starts where it could never end.

Invariant: settings that ``checked`` lets through reach their last training step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import StrEnum

from rewards_lib.errors import InputError

MOST_WORKERS = 512
"""A worker generates one group at a time, so that so many groups at once are no limit."""


class Policy(StrEnum):
    """What keeps workers from running too far ahead of the trainer."""

    SYNCHRONOUS = "synchronous"
    """Workers and trainer take turns: a batch is generated, then trained on, then the next begins."""
    DROP_OLDEST = "drop_oldest"
    """Workers never wait; a full buffer drops its oldest. Bounds memory, not staleness."""
    CAPACITY = "capacity"
    """AReaL's rule: no more is started than may be trained on within ``max_staleness`` versions."""
    THRESHOLD = "threshold"
    """verl's rule: between two weight updates at most (1 + threshold) times what is trained on in between."""
    DISCARD = "discard"
    """Workers run on; what is older than ``max_staleness`` versions is thrown away."""


class Order(StrEnum):
    """Which groups the trainer takes, under the two rules that drop nothing."""

    AS_STARTED = "as_started"
    """The oldest first, and if it still runs the trainer waits for it: the staleness limit holds for every group."""
    AS_FINISHED = "as_finished"
    """Of what is finished the oldest: no waiting, but a straggler may be older than the limit when its turn comes."""


@dataclass(frozen=True, slots=True)
class Generation:
    """How long one rollout takes: lognormal, with a share of stragglers."""

    median_seconds: float = 20.0
    sigma: float = 0.5
    """Spread of the logarithm; 0 makes all rollouts equally long."""
    tail_share: float = 0.05
    """Share of rollouts that are stragglers."""
    tail_factor: float = 4.0
    """How many times longer a straggler takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationSettings:
    """One simulated run. A worker generates one group at a time, all its rollouts side by side: the slowest counts."""

    workers: int = 16
    group_size: int = 8
    batch: int = 8
    """Groups in one training step."""
    steps: int = 40
    """Training steps until the end."""
    train_seconds: float = 20.0
    """One training step."""
    sync_seconds: float = 3.0
    """One weight update, during which no worker generates."""
    generation: Generation = field(default_factory=Generation)
    policy: Policy = Policy.CAPACITY
    order: Order = Order.AS_STARTED
    max_staleness: int = 2
    """Versions, under ``capacity`` and ``discard``."""
    max_concurrent: int = MOST_WORKERS
    """Groups generated at once, under ``capacity`` and ``discard``."""
    queue_capacity: int = 64
    """Groups in the buffer, under ``drop_oldest`` and ``discard``."""
    staleness_threshold: float = 0.5
    """Share, under ``threshold``."""
    sync_steps: int = 1
    """Training steps between two weight updates, under ``threshold``; one under all other policies."""
    partial_rollouts: bool = True
    """A weight update pauses running generations, which then go on under the new weights; else it waits for them."""
    seed: int = 0

    @property
    def steps_per_sync(self) -> int:
        """Training steps between two weight updates."""
        return self.sync_steps if self.policy is Policy.THRESHOLD else 1

    @property
    def staleness_limit(self) -> int | None:
        """The most versions a trained group may be old when groups are taken as started; None without a limit."""
        limits = {
            Policy.SYNCHRONOUS: 0, Policy.CAPACITY: self.max_staleness, Policy.DISCARD: self.max_staleness,
            Policy.THRESHOLD: math.ceil(self.staleness_threshold),
        }  # fmt: skip
        return limits.get(self.policy)


_COUNTS = {
    "workers": (1, MOST_WORKERS), "group_size": (1, 64), "batch": (1, 512), "steps": (1, 1000),
    "max_staleness": (0, 1000), "max_concurrent": (1, MOST_WORKERS), "queue_capacity": (1, 100_000),
    "sync_steps": (1, 100), "seed": (0, 2**32 - 1),
}  # fmt: skip
_SECONDS = {"train_seconds": (0.01, 1e6), "sync_seconds": (0.0, 1e6), "staleness_threshold": (0.0, 100.0)}
_GENERATION = {
    "median_seconds": (0.01, 1e6), "sigma": (0.0, 3.0), "tail_share": (0.0, 1.0), "tail_factor": (1.0, 1000.0),
}  # fmt: skip


def checked(settings: SimulationSettings) -> SimulationSettings:
    """Return the settings. Raises InputError for a number out of range, and for a batch that no buffer can hold."""
    for place, bounds in ((settings, _COUNTS | _SECONDS), (settings.generation, _GENERATION)):
        for name, (least, most) in bounds.items():
            value = getattr(place, name)
            if not least <= value <= most:
                raise InputError(
                    "{name} is {value}; it must lie between {least} and {most}.",
                    name=name, value=value, least=least, most=most,
                )  # fmt: skip
    if settings.policy in (Policy.DROP_OLDEST, Policy.DISCARD) and settings.queue_capacity < settings.batch:
        raise InputError(
            "A batch of {batch} groups never fits into a buffer of {capacity}: the trainer would wait for ever.",
            batch=settings.batch,
            capacity=settings.queue_capacity,
            remedy="Make the buffer at least as large as a batch.",
        )
    return settings
