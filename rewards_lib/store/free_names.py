"""Names to try one after the other where the wanted one is taken."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from rewards_lib.store.records import NAME_CHARACTERS


def free_names(wanted: str) -> Iterator[str]:
    """The wanted name, then with ``_2``, ``_3`` ... behind it, cut to the length that a name may have; without end."""
    yield wanted
    for number in itertools.count(2):
        end = f"_{number}"
        yield wanted[: NAME_CHARACTERS - len(end)] + end
