"""How long each group takes to generate: drawn by its number, so that two policies meet the same groups."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rewards_lib.agentic.simulator.settings import Generation

_CHUNK = 1024


class GenerationTimes:
    """Seconds by the number of the group; a group takes as long as its slowest rollout."""

    def __init__(self, generation: Generation, group_size: int, seed: int) -> None:
        import numpy as np

        self._generation, self._group_size = generation, group_size
        self._random = np.random.default_rng(seed)
        self._drawn: list[float] = []

    def of(self, number: int) -> float:
        """The seconds that group ``number`` (from 0) takes."""
        while number >= len(self._drawn):
            self._draw()
        return self._drawn[number]

    def _draw(self) -> None:
        import numpy as np

        shape = (_CHUNK, self._group_size)
        seconds = self._random.lognormal(math.log(self._generation.median_seconds), self._generation.sigma, shape)
        is_straggler = self._random.random(shape) < self._generation.tail_share
        slowest = np.where(is_straggler, seconds * self._generation.tail_factor, seconds).max(axis=1)
        self._drawn += slowest.tolist()
