"""From a loss a token to the loss of a batch: four ways, which weigh long answers differently."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from rewards_lib.agentic.arrays import Values, as_mask, as_numbers
from rewards_lib.errors import InputError

if TYPE_CHECKING:
    from rewards_lib.agentic.arrays import Mask, Numbers


class LossMode(StrEnum):
    """How the losses of tokens become one number; the names are verl's ``loss_agg_mode``."""

    MEAN_OVER_TOKENS = "token-mean"
    """Every token counts the same, so long trajectories weigh more. verl's default, DAPO."""
    MEAN_OF_SEQUENCE_MEANS = "seq-mean-token-mean"
    """Every trajectory counts the same, so tokens of long ones weigh less. GRPO's paper; GSPO needs it."""
    MEAN_OF_SEQUENCE_SUMS = "seq-mean-token-sum"
    """Tokens are added up within a trajectory."""
    MEAN_OF_SEQUENCE_SUMS_OVER_HORIZON = "seq-mean-token-sum-norm"
    """The same over a constant, the longest possible trajectory: no weight depends on a length. Dr. GRPO."""


def aggregate_loss(losses: Values, loss_mask: Values, mode: LossMode | str, *, horizon: int | None = None) -> float:
    """Aggregate a batch of token losses, both arguments of shape (trajectories, tokens).

    Trajectories without a trained token are left out of means over trajectories. ``horizon`` is the constant of
    ``seq-mean-token-sum-norm``, by default the width of the batch. Raises InputError for shapes that differ, an
    unknown mode, and a batch without a trained token: its loss is not 0, there is none.
    Source: verl ``trainer/ppo/core_algos.py``, ``agg_loss``.

    >>> [aggregate_loss([[-1, -1, 0, 0], [1, 1, 1, 1]], [[1, 1, 0, 0], [1, 1, 1, 1]], mode) for mode in LossMode]
    [0.3333333333333333, 0.0, 1.0, 0.25]
    """
    import numpy as np

    values, mask = as_numbers(losses), as_mask(loss_mask)
    if values.shape != mask.shape or values.ndim != 2:
        raise InputError(
            "Losses and mask must both have the shape (trajectories, tokens); they have {losses} and {mask}.",
            losses=str(values.shape), mask=str(mask.shape),
        )  # fmt: skip
    if not mask.any():
        raise InputError("No token of this batch is trained, so it has no loss.")
    mode = _known(mode)
    sums = np.where(mask == 1, values, 0.0).sum(axis=-1)
    if mode is LossMode.MEAN_OVER_TOKENS:
        return float(sums.sum() / mask.sum())
    return _over_trajectories(sums, mask, mode, horizon or mask.shape[-1])


def _over_trajectories(sums: Numbers, mask: Mask, mode: LossMode, horizon: int) -> float:
    import numpy as np

    counts = mask.sum(axis=-1)
    if mode is LossMode.MEAN_OF_SEQUENCE_MEANS:
        sums = sums / np.maximum(counts, 1)
    mean = sums[counts > 0].mean()
    return float(mean / horizon if mode is LossMode.MEAN_OF_SEQUENCE_SUMS_OVER_HORIZON else mean)


def _known(mode: LossMode | str) -> LossMode:
    try:
        return LossMode(mode)
    except ValueError:
        raise InputError(
            "{mode} is no way to aggregate a loss.",
            mode=repr(mode), remedy="Use one of {known}.", known=", ".join(LossMode),
        ) from None  # fmt: skip
