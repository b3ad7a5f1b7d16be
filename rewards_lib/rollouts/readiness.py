"""Whether rollouts speak for starting RL: a verdict, its reason in words, and the figures behind it.

Invariant: the first verdict of the table that holds is given, and below 30 groups its interval is said to be wide.
Source: the offline evaluation that Ark asks for before RL (n = 8): best of n, all of n, mean of n.
"""

from __future__ import annotations

from dataclasses import dataclass

from rewards_lib.contract import JsonObject, Sentence, sentence
from rewards_lib.rollouts.group_statistics import GroupTable, wilson

MOST_UNSCORED = 0.05
FEWEST_GROUPS = 10
ENOUGH_GROUPS = 30
MASTERED = 0.95
SPARSE = 0.3
HEADROOM = 0.02


@dataclass(frozen=True, slots=True)
class Readiness:
    """What to do next with a model and a reward."""

    verdict: str
    """``too_few``, ``unscored``, ``not_needed``, ``rft_first``, ``no_headroom`` or ``ready``."""
    why: Sentence
    best_of_n: float | None
    """Share of groups with at least one right rollout."""
    all_of_n: float | None
    """Share of groups with right rollouts only."""
    mean_of_n: float | None
    """Mean share of right rollouts."""
    kept_share: float | None
    """Share of groups that dynamic sampling keeps."""
    best_of_n_interval: tuple[float, float]

    def to_json(self) -> JsonObject:
        """The verdict as the command line prints it."""
        return {
            "verdict": self.verdict, "why": str(self.why), "best_of_n": self.best_of_n, "all_of_n": self.all_of_n,
            "mean_of_n": self.mean_of_n, "kept_share": self.kept_share,
            "best_of_n_interval": list(self.best_of_n_interval),
        }  # fmt: skip


def judge_readiness(groups: GroupTable, *, unscored_share: float) -> Readiness:
    """Judge the groups of a scored file."""
    import numpy as np

    count = len(groups.sizes)
    if not count:
        why = sentence("No rollout has a reward.")
        return Readiness("unscored", why, None, None, None, None, (0.0, 1.0))
    best = float((groups.right > 0).mean())
    mean = float((groups.right / groups.sizes).mean())
    kept = float((~groups.has_no_variance).mean())
    size = float(np.median(groups.sizes))
    span = wilson(best * count, count)
    verdict, why = _verdict(count, size, unscored_share, best, mean, kept)
    if verdict not in ("too_few", "unscored") and count < ENOUGH_GROUPS:
        why = sentence(
            "{why} With {count} groups this is uncertain: best of n lies between {low:.0%} and {high:.0%}.",
            why=why, count=count, low=span[0], high=span[1],
        )  # fmt: skip
    return Readiness(verdict, why, best, float((groups.right == groups.sizes).mean()), mean, kept, span)


def _verdict(
    count: int, size: float, unscored_share: float, best: float, mean: float, kept: float
) -> tuple[str, Sentence]:
    if count < FEWEST_GROUPS or size < 2:
        return "too_few", sentence(
            "{count} groups of {size:g} rollouts say nothing yet: score at least {least} groups of two or more.",
            count=count, size=size, least=FEWEST_GROUPS,
        )  # fmt: skip
    if unscored_share > MOST_UNSCORED:
        return "unscored", sentence(
            "{share:.1%} of the rollouts could not be scored: repair the reward first.", share=unscored_share
        )
    if mean > MASTERED:
        return "not_needed", sentence(
            "{mean:.0%} of the rollouts are right: RL has nothing to teach here. Take harder data.", mean=mean
        )
    if best < SPARSE:
        return "rft_first", sentence(
            "Only {best:.0%} of the groups hold a right rollout: the reward is too sparse. Fine-tune on accepted "
            "samples (rejection sampling) first, then GRPO.",
            best=best,
        )
    if best - mean <= HEADROOM:
        return "no_headroom", sentence(
            "The best of n is hardly better than one ({best:.0%} against {mean:.0%}): sampling finds nothing new.",
            best=best, mean=mean,
        )  # fmt: skip
    return "ready", sentence(
        "{best:.0%} of the groups hold a right rollout against {mean:.0%} of the rollouts: GRPO can start directly. "
        "Dynamic sampling would keep {kept:.0%} of the groups.",
        best=best, mean=mean, kept=kept,
    )  # fmt: skip
