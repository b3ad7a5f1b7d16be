"""Which computation each condition of rules.yaml names: a function of the evidence and the rule, giving an outcome.

Invariant: what a rule needs is there and long enough before its condition is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rewards_lib.training_metrics.diagnostics import generalisation, levels, policy, rewards
from rewards_lib.training_metrics.diagnostics.evidence import Evidence
from rewards_lib.training_metrics.diagnostics.outcomes import Outcome
from rewards_lib.training_metrics.diagnostics.rules import Rule

Condition = Callable[[Evidence, Rule], Outcome]

CONDITIONS: Mapping[str, Condition] = {
    "outside": levels.outside,
    "rising_between": levels.rising_between,
    "spike": levels.spike,
    "times_its_baseline": levels.times_its_baseline,
    "zero_at_a_step": levels.zero_at_a_step,
    "always_zero": levels.always_zero,
    "non_finite": levels.non_finite,
    "restart": levels.restart,
    "too_short": levels.too_short,
    "service_slow": levels.service_slow,
    "truncation_artefact": levels.truncation_artefact,
    "clip_high_side": policy.clip_high_side,
    "entropy_collapse": policy.entropy_collapse,
    "entropy_high": policy.entropy_high,
    "kl_without_gain": policy.kl_without_gain,
    "unstable_update": policy.unstable_update,
    "lr_odd": policy.lr_odd,
    "zero_variance": rewards.zero_variance,
    "saturated_groups": rewards.saturated_groups,
    "exploration_spent": rewards.exploration_spent,
    "no_headroom": rewards.no_headroom,
    "worst_of_n": rewards.worst_of_n,
    "diversity_loss": rewards.diversity_loss,
    "reward_saturated": rewards.reward_saturated,
    "no_learning": rewards.no_learning,
    "rules_fight": rewards.rules_fight,
    "dead_rule": rewards.dead_rule,
    "overfit_or_hacked": generalisation.overfit_or_hacked,
    "gap_widens": generalisation.gap_widens,
    "test_peak": generalisation.test_peak,
    "length_hacking": generalisation.length_hacking,
    "length_collapse": generalisation.length_collapse,
}
"""By the name in rules.yaml."""
