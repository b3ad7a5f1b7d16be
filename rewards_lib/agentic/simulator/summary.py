"""What a simulated run says in numbers: shares, waste, staleness, throughput."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from rewards_lib.agentic.simulator.settings import Policy, SimulationSettings
from rewards_lib.agentic.simulator.simulation import Fate, Phase, SimulatedRun, simulate, simulate_synchronously


@dataclass(frozen=True, slots=True)
class SimulationSummary:
    """One run; shares lie between 0 and 1."""

    groups: dict[Fate, int]
    """How many groups met which fate."""
    staleness: dict[int, int]
    """Versions old when trained on -> how many groups."""
    trainer: dict[Phase, float]
    """Share of the trainer's time by phase."""
    workers_idle: float
    """Share of the workers' time in which they generate nothing."""
    wasted: float
    """Share of the generating time of finished groups that went into groups thrown away."""
    groups_per_minute: float
    """Trained on."""
    mean_staleness: float
    mean_queue: float
    """Groups in the buffer, averaged over time."""

    @property
    def max_staleness(self) -> int:
        """The oldest group that was trained on; 0 when none was."""
        return max(self.staleness, default=0)

    @property
    def trainer_idle(self) -> float:
        """Share of its time in which the trainer waits for rollouts."""
        return self.trainer[Phase.WAITING] + self.trainer[Phase.DRAINING]


@dataclass(frozen=True, slots=True)
class Comparison:
    """A run beside the same run in turns."""

    run: SimulatedRun
    summary: SimulationSummary
    synchronous: SimulationSummary

    @property
    def speedup(self) -> float:
        """Groups trained on in the same time, as a multiple of the synchronous run."""
        base = self.synchronous.groups_per_minute
        return self.summary.groups_per_minute / base if base else 0.0


def compare_with_synchronous(settings: SimulationSettings) -> Comparison:
    """Simulate the settings and the same workers in turns. Raises InputError for settings that cannot work."""
    run = simulate(settings)
    is_synchronous = settings.policy is Policy.SYNCHRONOUS
    return Comparison(run, summarise(run), summarise(run if is_synchronous else simulate_synchronously(settings)))


def summarise(run: SimulatedRun) -> SimulationSummary:
    """Compute the numbers of a run."""
    seconds = run.seconds or 1.0
    fates = Counter(group.fate for group in run.groups)
    staleness = Counter(group.staleness for group in run.groups if group.staleness is not None)
    trained = fates[Fate.TRAINED]
    finished = [group for group in run.groups if group.fate is not Fate.RUNNING]
    worked = sum(group.work_seconds for group in finished)
    lost = sum(group.work_seconds for group in finished if group.fate in (Fate.DROPPED, Fate.DISCARDED))
    phases = dict.fromkeys(Phase, 0.0)
    for span in run.trainer:
        phases[span.phase] += (span.end - span.start) / seconds
    return SimulationSummary(
        groups={fate: fates[fate] for fate in Fate},
        staleness=dict(sorted(staleness.items())),
        trainer=phases,
        workers_idle=max(0.0, 1.0 - run.busy_seconds / (run.settings.workers * seconds)),
        wasted=lost / worked if worked else 0.0,
        groups_per_minute=60.0 * trained / seconds,
        mean_staleness=sum(age * count for age, count in staleness.items()) / max(trained, 1),
        mean_queue=_time_average(run) / seconds,
    )


def _time_average(run: SimulatedRun) -> float:
    """Groups in the buffer times the seconds they stood there."""
    ends = [time for time, _depth in run.queue_depth[1:]] + [run.seconds]
    return sum(depth * (end - time) for (time, depth), end in zip(run.queue_depth, ends, strict=True))
