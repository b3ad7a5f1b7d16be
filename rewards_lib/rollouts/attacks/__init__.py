"""Attacks: completions that must not earn, built from real rollouts, and the controls that must.

Importing the package registers every attack. Invariant: an attack says for each rule that it concerns how much an
honest grader pays at most; a rule that it does not concern counts with what it gives.
"""

from rewards_lib.rollouts.attacks import (  # noqa: F401
    answer_attacks,
    format_attacks,
    length_attacks,
    program_attacks,
    special_attacks,
)
from rewards_lib.rollouts.attacks.suite import AttackOptions, attack_mix

__all__ = ["AttackOptions", "attack_mix"]
