"""Which method and which settings the figures of a file speak for, each with its reason and where it comes from.

Invariant: advice is never more certain than the data: with few groups, or without the figure that it needs, it says so.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from rewards_lib.contract import JsonObject, Sentence, sentence
from rewards_lib.mix import Mix
from rewards_lib.presets import find_preset
from rewards_lib.quantiles import median, percentile
from rewards_lib.rollouts.group_statistics import GroupTable
from rewards_lib.rollouts.readiness import ENOUGH_GROUPS, FEWEST_GROUPS, Readiness
from rewards_lib.rollouts.survey import Survey

if TYPE_CHECKING:
    from rewards_lib.rollouts.reward_table import Numbers

Certainty = Literal["clear", "likely", "open"]
"""``open``: the file does not settle it."""
GROUP_SIZES = (8, 16, 32)
"""What trainers offer as generations a prompt."""
MANY_FLAT = 0.3
MANY_CUT = 0.05
WORTH_POINTS = 0.1
"""Twice the samples must keep this many more of the groups, or they are not worth their generations."""
_TOKEN_STEP = 256
_ROOM = 1.25


@dataclass(frozen=True, slots=True)
class Advice:
    """One setting."""

    what: str
    """``method``, ``num_samples``, ``max_new_tokens`` or ``kl_coefficient``."""
    value: str
    """What to set; empty when the file does not settle it."""
    why: Sentence
    source: str
    certainty: Certainty

    def to_json(self) -> JsonObject:
        """The advice as the command line prints it."""
        return {
            "what": self.what, "value": self.value, "why": str(self.why), "source": self.source,
            "certainty": self.certainty,
        }  # fmt: skip


def advise(groups: GroupTable, readiness: Readiness, counted: Survey, mix: Mix | None) -> list[Advice]:
    """Say what the figures speak for. ``mix`` tells whether the reward is objective; None leaves that open."""
    is_enough = len(groups.sizes) >= ENOUGH_GROUPS
    kind = reward_kind(mix)
    return [
        _method(groups, readiness, kind, "clear" if is_enough else "likely"),
        _num_samples(groups, "clear" if is_enough else "likely"),
        _max_new_tokens(counted),
        _kl_coefficient(kind),
    ]


def reward_kind(mix: Mix | None) -> str:
    """``objective`` when presets decide that check something, ``preference`` when a model judges, else ``unknown``."""
    if mix is None or not mix.rules:
        return "unknown"
    presets = [rule.preset for rule in mix.rules]
    if any(name == "llm_judge" for name in presets):
        return "preference"
    return "objective" if all(name is not None and find_preset(name) for name in presets) else "unknown"


def _method(groups: GroupTable, readiness: Readiness, kind: str, certainty: Certainty) -> Advice:
    count, size = len(groups.sizes), median(groups.sizes.tolist())
    are_single = size is not None and size < 2
    if readiness.verdict in ("too_few", "unscored") and not (are_single and count >= FEWEST_GROUPS):
        why = sentence("The figures say nothing about a method yet: {why}", why=readiness.why)
        return Advice("method", "", why, "-", "open")
    if are_single:
        why = sentence(
            "There is one completion a prompt, so nothing is compared inside a group. PPO takes a critic instead; with "
            "two or more completions a prompt GRPO needs none."
        )
        return Advice("method", "PPO", why, "arXiv 1707.06347; arXiv 2402.03300", "likely")
    if readiness.verdict == "rft_first":
        why = sentence("Too few groups hold a right rollout for any RL to start from: {why}", why=readiness.why)
        return Advice("method", "RFT, then GRPO", why, "arXiv 2402.03300", certainty)
    if readiness.verdict in ("not_needed", "no_headroom"):
        return Advice("method", "", readiness.why, "arXiv 2504.13837", certainty)
    if kind == "preference":
        why = sentence(
            "A model judges here. With pairs of better and worse completions DPO needs no reward at all while it "
            "trains; GRPO fits where the judge is asked for each completion."
        )
        return Advice("method", "DPO or GRPO", why, "arXiv 2305.18290", "open")
    flat = float(groups.has_no_variance.mean())
    if flat >= MANY_FLAT:
        why = sentence(
            "{flat:.0%} of the groups give no signal: DAPO's dynamic sampling leaves them out and fills the batch up.",
            flat=flat,
        )
        return Advice("method", "DAPO", why, "arXiv 2503.14476, 3.2", certainty)
    why = sentence(
        "Groups carry a signal ({kept:.0%} of them) and the best of n is above one try: a group's own mean is baseline "
        "enough.",
        kept=1 - flat,
    )  # fmt: skip
    return Advice("method", "GRPO", why, "arXiv 2402.03300", certainty if kind == "objective" else "likely")


def kept_share(groups: GroupTable, size: int) -> float:
    """The share of groups of ``size`` that would carry a signal: the mean of 1 - p^size - (1 - p)^size.

    A group's p is its share of right rollouts as it was seen: one that was always right, or never, counts as lost,
    because nothing seen says otherwise. Source: DAPO's dynamic sampling, arXiv 2503.14476.
    """
    p: Numbers = groups.right / groups.sizes
    return float((1 - p**size - (1 - p) ** size).mean()) if len(p) else 0.0


def _num_samples(groups: GroupTable, certainty: Certainty) -> Advice:
    source = "arXiv 2503.14476, 3.2"
    if len(groups.sizes) < FEWEST_GROUPS:
        why = sentence("{count} groups are too few to say how many samples a prompt needs.", count=len(groups.sizes))
        return Advice("num_samples", "", why, source, "open")
    shares = {size: kept_share(groups, size) for size in GROUP_SIZES}
    chosen = GROUP_SIZES[0]
    for size in GROUP_SIZES[1:]:
        if shares[size] - shares[chosen] >= WORTH_POINTS:
            chosen = size
    why = sentence(
        "Groups with a signal, as far as these rollouts show: {eight:.0%} with 8 samples, {sixteen:.0%} with 16, "
        "{many:.0%} with 32. Prompts that were always right, or never, are counted as lost.",
        eight=shares[8], sixteen=shares[16], many=shares[32],
    )  # fmt: skip
    return Advice("num_samples", str(chosen), why, source, certainty)


def _max_new_tokens(counted: Survey) -> Advice:
    source = "arXiv 2503.14476, 3.4"
    if not counted.tokens and not counted.cut_known:
        why = sentence("The file tells neither tokens nor why completions end, so this stays open.")
        return Advice("max_new_tokens", "", why, source, "open")
    longest = max(counted.tokens, default=0)
    high = percentile(counted.tokens, 0.99)
    share = counted.cut / counted.cut_known if counted.cut_known else 0.0
    if share > MANY_CUT:
        value = str(_up(2 * longest)) if longest else ""
        why = sentence(
            "{share:.0%} of the completions were cut by their length: raise the limit, or shape the length so that a "
            "cut costs less.",
            share=share,
        )
        return Advice("max_new_tokens", value, why, source, "likely" if value else "open")
    if not high:
        why = sentence("Hardly any completion was cut; the limit of this file will do, which it does not name.")
        return Advice("max_new_tokens", "", why, source, "open")
    why = sentence(
        "99 % of the completions have at most {high} tokens; a quarter more leaves room for answers that grow in "
        "training.",
        high=high,
    )
    return Advice("max_new_tokens", str(_up(_ROOM * high)), why, source, "likely")


def _kl_coefficient(kind: str) -> Advice:
    if kind == "objective":
        why = sentence(
            "Checked answers leave little to drift towards: 0.001 is the usual start, and DAPO takes none. Watch what "
            "the attacks find before lowering it."
        )
        return Advice("kl_coefficient", "0.001", why, "arXiv 2503.14476, 2.3; verl's GRPO recipe", "likely")
    if kind == "preference":
        why = sentence("A judge can be talked round: hold the policy closer to where it began, 0.01 or more.")
        return Advice("kl_coefficient", "0.01", why, "arXiv 2203.02155; arXiv 2210.10760", "likely")
    why = sentence("Whether the reward can be talked round is not known of a function or a file; begin with 0.001.")
    return Advice("kl_coefficient", "0.001", why, "arXiv 2402.03300", "open")


def _up(tokens: float) -> int:
    return math.ceil(tokens / _TOKEN_STEP) * _TOKEN_STEP
