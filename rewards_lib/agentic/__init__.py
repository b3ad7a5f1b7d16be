"""Agent RL in small: loss masks, credit, advantages, loss aggregation, the asynchronous buffer and its simulator.

Invariant: a token that the policy did not write gets no reward. Everything takes lists, numpy arrays and torch
tensors and gives numpy arrays; nothing imports torch, and numpy comes with the first call.
"""

from rewards_lib.agentic.credit import (
    assign_advantage,
    assign_reward_kl_weighted,
    assign_reward_last_token,
    assign_reward_uniform,
)
from rewards_lib.agentic.group_advantage import ALGORITHMS, Algorithm, group_advantages
from rewards_lib.agentic.loss_aggregation import LossMode, aggregate_loss
from rewards_lib.agentic.masks import build_loss_mask, mask_from_labels, shift_mask_for_clm
from rewards_lib.agentic.rollout_buffer import AsyncRolloutBuffer, BufferClosedError, BufferCounts, Versioned
from rewards_lib.agentic.simulator.admission import areal_capacity, verl_new_rollouts
from rewards_lib.agentic.simulator.settings import MOST_WORKERS, Generation, Order, Policy, SimulationSettings
from rewards_lib.agentic.simulator.simulation import Fate, Group, Phase, SimulatedRun, simulate
from rewards_lib.agentic.simulator.summary import Comparison, SimulationSummary, compare_with_synchronous, summarise
from rewards_lib.agentic.simulator.systems import SYSTEMS, System, settings_of
from rewards_lib.agentic.trajectories.files import read_trajectories
from rewards_lib.agentic.trajectories.token_credit import Strategy, credit_tokens
from rewards_lib.agentic.trajectories.token_track import Stretch, TokenTrack, lay_out
from rewards_lib.agentic.trajectories.tokenizers import (
    BUILT_IN,
    SplitTexts,
    TokenPiece,
    pieces_from,
    split_by_bytes,
    split_by_words,
)
from rewards_lib.agentic.trajectories.trajectory import WRITTEN, LoadedTrajectories, Part, TokenRecord, Trajectory
from rewards_lib.agentic.trajectories.traps import find_group_traps, find_traps

__all__ = [
    "ALGORITHMS",
    "BUILT_IN",
    "MOST_WORKERS",
    "SYSTEMS",
    "WRITTEN",
    "Algorithm",
    "AsyncRolloutBuffer",
    "BufferClosedError",
    "BufferCounts",
    "Comparison",
    "Fate",
    "Generation",
    "Group",
    "LoadedTrajectories",
    "LossMode",
    "Order",
    "Part",
    "Phase",
    "Policy",
    "SimulatedRun",
    "SimulationSettings",
    "SimulationSummary",
    "SplitTexts",
    "Strategy",
    "Stretch",
    "System",
    "TokenPiece",
    "TokenRecord",
    "TokenTrack",
    "Trajectory",
    "Versioned",
    "aggregate_loss",
    "areal_capacity",
    "assign_advantage",
    "assign_reward_kl_weighted",
    "assign_reward_last_token",
    "assign_reward_uniform",
    "build_loss_mask",
    "compare_with_synchronous",
    "credit_tokens",
    "find_group_traps",
    "find_traps",
    "group_advantages",
    "lay_out",
    "mask_from_labels",
    "pieces_from",
    "read_trajectories",
    "settings_of",
    "shift_mask_for_clm",
    "simulate",
    "split_by_bytes",
    "split_by_words",
    "summarise",
    "verl_new_rollouts",
]
