"""Files of rollouts: read whatever wrote them, score them under a mix, analyse, compare and attack.

Invariant: a rollout without a reward is counted as unscored and enters no mean.
"""

from rewards_lib.rollouts.file_scoring import FileScore, ScoreOptions, score_file
from rewards_lib.rollouts.formats import FORMATS
from rewards_lib.rollouts.formats.columns import ColumnMap
from rewards_lib.rollouts.reading import RolloutFile, open_rollouts
from rewards_lib.rollouts.rollout import BadRow, Recorded, Rollout

__all__ = [
    "FORMATS",
    "BadRow",
    "ColumnMap",
    "FileScore",
    "Recorded",
    "Rollout",
    "RolloutFile",
    "ScoreOptions",
    "open_rollouts",
    "score_file",
]
