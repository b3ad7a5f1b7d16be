"""Files of rollouts: read whatever wrote them, score them under a mix, analyse, compare and attack.

Invariant: a rollout without a reward is counted as unscored and enters no mean.
"""

from rewards_lib.rollouts.analysis import analyze
from rewards_lib.rollouts.attacks import AttackOptions, attack_mix
from rewards_lib.rollouts.comparison import compare
from rewards_lib.rollouts.file_scoring import FileScore, ScoreOptions, score_file
from rewards_lib.rollouts.formats import FORMATS
from rewards_lib.rollouts.formats.columns import ColumnMap
from rewards_lib.rollouts.reading import RolloutFile, open_rollouts
from rewards_lib.rollouts.reward_table import RewardTable, read_table, reweigh
from rewards_lib.rollouts.rollout import BadRow, Recorded, Rollout

__all__ = [
    "FORMATS",
    "AttackOptions",
    "BadRow",
    "ColumnMap",
    "FileScore",
    "Recorded",
    "RewardTable",
    "Rollout",
    "RolloutFile",
    "ScoreOptions",
    "analyze",
    "attack_mix",
    "compare",
    "open_rollouts",
    "read_table",
    "reweigh",
    "score_file",
]
