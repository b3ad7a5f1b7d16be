"""Asynchronous trainers by name: which of the simulated rules each follows, and with which defaults.

Every number was read in the version named beside it (``source``); a later version may have moved. What a system does
not fix (times, workers, sizes, and a buffer where no limit was found) stays the visitor's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from rewards_lib.agentic.simulator.settings import MOST_WORKERS, Order, Policy, SimulationSettings
from rewards_lib.contract import Sentence, sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """One trainer's way of staying near its own policy."""

    name: str
    policy: Policy
    knobs: Sentence
    """What its configuration calls the fields below, with their defaults."""
    source: str
    """Project, version or commit, and the files that were read."""
    fixed: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of ``SimulationSettings`` that its defaults fix."""
    order: Order = Order.AS_FINISHED
    pauses_for_update: bool = True
    """Whether a weight update pauses running generations rather than wait for them."""
    batches_under_way: int | None = None
    """How many batches of groups are generated at once at most; None where it depends on the machines."""
    buffered_rollouts: int | None = None
    """What its buffer holds, in rollouts; None where no limit was found."""


SYSTEMS: dict[str, System] = {
    system.name: system
    for system in (
        System(
            name="synchronous", policy=Policy.SYNCHRONOUS, order=Order.AS_STARTED,
            knobs=sentence("No knob: a batch is generated, trained on, and only then the next begins."),
            source="verl, TRL, OpenRLHF and ms-swift in their default mode",
        ),
        System(
            name="AReaL", policy=Policy.CAPACITY, fixed={"max_staleness": 0}, batches_under_way=1,
            knobs=sentence(
                "max_head_offpolicyness 0: with its default AReaL is on-policy; raise it to let workers run ahead. "
                "max_concurrent_rollouts is one batch unless it is set. What is finished is taken in the order in "
                "which it was started."
            ),
            source="AReaL 1.0.4: areal/api/cli_args.py, areal/infra/staleness_manager.py, "
                   "areal/infra/workflow_executor.py",
        ),
        System(
            name="verl fully async", policy=Policy.THRESHOLD, fixed={"staleness_threshold": 0.1, "sync_steps": 4},
            knobs=sentence(
                "staleness_threshold 0.1 (advised: below 1), trigger_parameter_sync_step 4, require_batches 1, "
                "partial_rollout true; 16 groups at once for each replica, which the number of workers stands for here."
            ),
            source="verl 0.9.1: verl/experimental/fully_async_policy/config/fully_async_ppo_trainer.yaml, "
                   "fully_async_rollouter.py",
        ),
        System(
            name="TRL async GRPO", policy=Policy.DISCARD, fixed={"max_staleness": 4},
            batches_under_way=4, buffered_rollouts=1024,
            knobs=sentence(
                "max_staleness 4: what is older is discarded; queue_maxsize 1024 rollouts, weight_sync_steps 1, "
                "max_inflight_tasks automatic: max_staleness times a batch."
            ),
            source="TRL 1.16.0: trl/experimental/async_grpo/async_grpo_config.py, async_grpo_trainer.py",
        ),
        System(
            name="prime-rl", policy=Policy.DISCARD, fixed={"max_staleness": 8}, batches_under_way=1,
            knobs=sentence(
                "max_off_policy_steps 8: whole groups past it are dropped; max_inflight_rollouts is one batch unless "
                "oversampling_factor raises it. max_async_level 1 and the size of its queue are left out."
            ),
            source="prime-rl 5f6ccf5: packages/prime-rl-configs/src/prime_rl/configs/orchestrator.py",
        ),
        System(
            name="SkyRL", policy=Policy.CAPACITY, fixed={"max_staleness": 4}, batches_under_way=3,
            knobs=sentence(
                "max_staleness_steps 4; num_parallel_generation_workers 768, which is three of its mini batches of "
                "256. A group past the limit is trained on with a warning."
            ),
            source="SkyRL 0.3.0: skyrl/train/config/config.py, skyrl/train/fully_async_trainer.py",
        ),
        System(
            name="PipelineRL", policy=Policy.DROP_OLDEST, buffered_rollouts=128,
            knobs=sentence(
                "ring_buffer_size 128 rollouts with pop_old_data true: the oldest make room; weight_update_interval 1 "
                "in flight, max_lag null: no limit."
            ),
            source="PipelineRL 4c3efeb: conf/base.yaml; 349fa88: conf/finetune/base.yaml; "
                   "0410583: pipelinerl/preprocess.py",
        ),
        System(
            name="slime", policy=Policy.CAPACITY, fixed={"max_staleness": 1}, batches_under_way=1,
            order=Order.AS_STARTED, pauses_for_update=False,
            knobs=sentence(
                "train_async.py generates one batch ahead, and an update waits for it; --update-weights-interval 1, "
                "--partial-rollout off."
            ),
            source="slime d29976d: train_async.py; f4fcce8: slime/utils/arguments.py",
        ),
        System(
            name="ROLL", policy=Policy.CAPACITY, fixed={"max_staleness": 0}, order=Order.AS_STARTED,
            knobs=sentence(
                "async_generation_ratio 0: synchronous until it is raised. What a higher ratio does is read as "
                "AReaL's rule here; that was not checked."
            ),
            source="ROLL 0a6a47e: roll/configs/base_config.py",
        ),
    )
}  # fmt: skip


def settings_of(system: str, base: SimulationSettings) -> SimulationSettings:
    """Put a system's defaults over settings; ``system`` is a key of ``SYSTEMS``.

    Its limits in batches and in rollouts become groups by the sizes of ``base``. A buffer smaller than a batch grows
    to one: PipelineRL's trainer takes rollouts singly, the simulated one takes whole batches.
    """
    one = SYSTEMS[system]
    under_way = MOST_WORKERS if one.batches_under_way is None else one.batches_under_way * base.batch
    buffered = base.queue_capacity
    if one.buffered_rollouts is not None:
        buffered = max(base.batch, one.buffered_rollouts // base.group_size)
    return replace(
        base, policy=one.policy, order=one.order, partial_rollouts=one.pauses_for_update,
        max_concurrent=min(under_way, MOST_WORKERS), queue_capacity=buffered, **one.fixed,
    )  # fmt: skip
