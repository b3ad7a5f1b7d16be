"""What each trajectory of one group is worth against the others, by algorithm.

Invariant: an unscored trajectory has no advantage and enters nobody's mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from rewards_lib.errors import InputError

if TYPE_CHECKING:
    from rewards_lib.agentic.arrays import Numbers

Algorithm: TypeAlias = Literal["grpo", "grpo_trl", "grpo_openrlhf", "dr_grpo", "rloo"]
"""``grpo`` is verl's: the reward minus the mean, over the unbiased standard deviation plus 1e-6."""
ALGORITHMS: tuple[Algorithm, ...] = get_args(Algorithm)


def group_advantages(rewards: Sequence[float | None], *, algorithm: Algorithm = "grpo") -> Numbers:
    """Compute the advantages of one group, in order; NaN where the reward is None.

    They add up to 0, but for a group of one under ``grpo`` and ``rloo``, where the reward itself is the advantage, as
    in verl. Sources: see ``rewards_lib.rollouts.advantages``, which does this for whole files. Raises InputError for
    an unknown algorithm.

    >>> group_advantages([1, 0, 0, 1], algorithm="rloo").round(6).tolist()
    [0.666667, -0.666667, -0.666667, 0.666667]
    """
    import numpy as np

    from rewards_lib.rollouts.advantages import advantages

    if algorithm not in ALGORITHMS:
        raise InputError(
            "{name} is no algorithm of group advantages.",
            name=repr(algorithm),
            remedy="Use one of {known}.",
            known=", ".join(ALGORITHMS),
        )
    scores = np.array([np.nan if reward is None else float(reward) for reward in rewards])
    return advantages(scores, np.zeros(len(scores), dtype=np.int64))[algorithm]
