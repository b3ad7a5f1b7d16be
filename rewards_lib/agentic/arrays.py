"""One entry for lists, numpy arrays and torch tensors alike, so that nothing here imports torch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from rewards_lib.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Numbers = npt.NDArray[np.float64]
    Mask = npt.NDArray[np.int64]


class Tensor(Protocol):
    """What is asked of a torch tensor: to leave its graph and its device and to come as 64-bit numbers."""

    def detach(self) -> Any:
        """The tensor without its graph."""


Values: TypeAlias = "Sequence[float] | Sequence[Sequence[float]] | npt.NDArray[Any] | Tensor"
"""Numbers in any of the accepted shapes."""


def as_numbers(values: Values) -> Numbers:
    """Read numbers as a float64 array of the same shape.

    A torch tensor may need gradients, lie on a GPU or be bfloat16, none of which numpy reads by itself. Raises
    InputError for what is no rectangle of numbers.
    """
    import numpy as np

    if hasattr(values, "detach"):
        values = values.detach().cpu().double().numpy()
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError("These are not numbers in rows of equal length: {reason}.", reason=str(error)) from error


def as_mask(values: Values) -> Mask:
    """Read a mask as an integer array of 0 and 1 of the same shape.

    Raises InputError for any other value: labels in which -100 means *not trained* are read by ``mask_from_labels``.
    """
    import numpy as np

    found = as_numbers(values)
    strange = found[(found != 0) & (found != 1)]
    if strange.size:
        raise InputError(
            "A loss mask holds 0 and 1; this one holds {value}.",
            value=f"{strange.flat[0]:g}",
            remedy="Labels with -100 for tokens that are not trained are read with mask_from_labels.",
        )
    return found.astype(np.int64)
