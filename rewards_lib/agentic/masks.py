"""Which tokens are trained on, and at which position their loss stands.

Invariant: 1 marks a token that the policy wrote; prompts, tool output, padding and the generation prompt are 0.
The same thing elsewhere: verl ``response_mask``, TRL ``completion_mask`` times ``tool_mask``, slime ``loss_mask``,
OpenRLHF ``action_mask`` (already shifted), Atropos ``masks`` (-100 where not trained).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from rewards_lib.agentic.arrays import Values, as_mask, as_numbers
from rewards_lib.errors import InputError

if TYPE_CHECKING:
    from rewards_lib.agentic.arrays import Mask

NOT_TRAINED = -100
"""The label that PyTorch's cross entropy leaves out, and that Atropos writes into its masks."""
RoleSpan = tuple[str, int, int]
"""Role, start and end: the tokens ``start`` to ``end - 1`` belong to the role."""


def build_loss_mask(
    token_ids: Sequence[Any], role_spans: Sequence[RoleSpan], *, trained: Collection[str] = ("assistant",)
) -> Mask:
    """Build the loss mask of one trajectory: 1 for tokens of a trained role, one entry a token.

    Tokens that no span names are 0. Raises InputError for a span outside the tokens, and for spans that overlap: a
    token has one author.

    >>> build_loss_mask(range(6), [("user", 0, 2), ("assistant", 2, 4), ("tool", 4, 5), ("assistant", 5, 6)]).tolist()
    [0, 0, 1, 1, 0, 1]
    """
    import numpy as np

    mask = np.zeros(len(token_ids), dtype=np.int64)
    end_before = 0
    for role, start, end in sorted(role_spans, key=lambda span: (span[1], span[2])):
        if not 0 <= start <= end <= len(token_ids):
            raise InputError(
                "The {role} span {start} to {end} does not lie within the {count} tokens.",
                role=role, start=start, end=end, count=len(token_ids),
            )  # fmt: skip
        if start < end_before:
            raise InputError(
                "The {role} span {start} to {end} begins before the span in front of it ends (at {before}).",
                role=role, start=start, end=end, before=end_before,
            )  # fmt: skip
        end_before = max(end_before, end)
        mask[start:end] = role in trained
    return mask


def shift_mask_for_clm(mask: Values) -> Mask:
    """Move a mask to the positions whose logits carry the loss: ``shifted[t] = mask[t + 1]``.

    A causal model predicts token t + 1 at position t, so the last position predicts nothing and the answer is one
    shorter; the last axis is shifted, whatever stands in front of it. A 1 on the very first token is lost: nothing
    predicts that token.

    >>> shift_mask_for_clm([0, 0, 1, 1, 0, 1]).tolist()
    [0, 1, 1, 0, 1]
    """
    shifted: Mask = as_mask(mask)[..., 1:]
    return shifted


def mask_from_labels(labels: Values) -> Mask:
    """Read a mask out of labels: 0 where the label is -100, 1 elsewhere; the same shape.

    >>> mask_from_labels([-100, -100, 318, 0]).tolist()
    [0, 0, 1, 1]
    """
    import numpy as np

    mask: Mask = (as_numbers(labels) != NOT_TRAINED).astype(np.int64)
    return mask
