"""Asynchronous trainers by name: which of the simulated rules each follows, and with which defaults.

Defaults were compared with the system's own configuration for verl 0.9.1 (all four), AReaL (0) and prime-rl (8); those
of the others are as their documentation describes them and may have moved since. The source stands beside each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from rewards_lib.agentic.simulator.settings import Order, Policy, SimulationSettings
from rewards_lib.contract import Sentence, sentence


@dataclass(frozen=True, slots=True)
class System:
    """One trainer's way of staying near its own policy."""

    name: str
    settings: Mapping[str, Any]
    """Fields of ``SimulationSettings`` that its defaults fix; all others are the visitor's."""
    knobs: Sentence
    """The names of these fields in its configuration, with their defaults."""
    source: str


SYSTEMS: dict[str, System] = {
    system.name: system
    for system in (
        System(
            "synchronous", {"policy": Policy.SYNCHRONOUS},
            sentence("No knob: a batch is generated, trained on, and only then the next begins."),
            "verl, TRL, OpenRLHF and ms-swift in their default mode",
        ),
        System(
            "AReaL",
            {"policy": Policy.CAPACITY, "max_staleness": 0, "order": Order.AS_FINISHED, "partial_rollouts": True},
            sentence(
                "max_head_offpolicyness 0: with its default AReaL is on-policy; raise it to let workers run ahead. "
                "What is finished is taken in the order in which it was started."
            ),
            "AReaL areal/core/staleness_manager.py, workflow_executor.py",
        ),
        System(
            "verl fully async",
            {"policy": Policy.THRESHOLD, "staleness_threshold": 0.1, "sync_steps": 4, "order": Order.AS_FINISHED},
            sentence(
                "staleness_threshold 0.1 (advised: below 1), trigger_parameter_sync_step 4, require_batches 1, "
                "partial_rollout."
            ),
            "verl 0.9.1 experimental/fully_async_policy/config/fully_async_ppo_trainer.yaml",
        ),
        System(
            "TRL async GRPO",
            {"policy": Policy.DISCARD, "max_staleness": 4, "queue_capacity": 1024, "partial_rollouts": True},
            sentence("max_staleness 4, queue 1024, weight_sync_steps 1: what is older is discarded."),
            "TRL trl/experimental/async_grpo",
        ),
        System(
            "prime-rl",
            {"policy": Policy.DISCARD, "max_staleness": 8, "queue_capacity": 1024, "partial_rollouts": True},
            sentence("max_off_policy_steps 8: whole groups past it are dropped."),
            "prime-rl orchestrator configuration",
        ),
        System(
            "SkyRL", {"policy": Policy.CAPACITY, "max_staleness": 4, "partial_rollouts": True},
            sentence("max_staleness_steps 4; at most mini batch times (staleness + 1) groups are under way."),
            "SkyRL fully asynchronous trainer",
        ),
        System(
            "PipelineRL", {"policy": Policy.DROP_OLDEST, "queue_capacity": 128, "partial_rollouts": True},
            sentence("A ring buffer of 128; weights are updated in flight (max_lag, weight_update_interval)."),
            "PipelineRL configuration",
        ),
        System(
            "slime", {"policy": Policy.CAPACITY, "max_staleness": 1, "partial_rollouts": False},
            sentence("update-weights-interval 1: one step ahead, and an update waits for what is running."),
            "slime train_async.py",
        ),
        System(
            "ROLL", {"policy": Policy.CAPACITY, "max_staleness": 0, "partial_rollouts": True},
            sentence("async_generation_ratio 0: on-policy until it is raised."),
            "ROLL configuration",
        ),
    )
}  # fmt: skip


def settings_of(system: str, base: SimulationSettings) -> SimulationSettings:
    """Put a system's defaults over settings; ``system`` is a key of ``SYSTEMS``."""
    return replace(base, **SYSTEMS[system].settings)
