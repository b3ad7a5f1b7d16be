"""How many rollouts may be started: the rules of AReaL and of verl, as numbers.

Invariant: what these rules let in can be trained on within the staleness they name, if it is taken in the order in
which it was started.
"""

from __future__ import annotations

import math

from rewards_lib.errors import InputError


def areal_capacity(
    *, max_concurrent: int, running: int, max_staleness: int, version: int, batch: int, accepted: int
) -> int:
    """Compute AReaL's capacity: how many more rollouts may start; 0 or less means none.

    ``min(max_concurrent - running, (max_staleness + version + 1) * batch - (accepted + running))``, where ``accepted``
    counts all rollouts finished since the beginning, trained on or not. ``max_staleness`` is AReaL's
    ``max_head_offpolicyness``. Source: AReaL ``areal/core/staleness_manager.py``; arXiv 2505.24298, section 5.

    >>> areal_capacity(max_concurrent=64, running=8, max_staleness=2, version=1, batch=4, accepted=4)
    4
    """
    by_staleness = (max_staleness + version + 1) * max(1, batch) - (accepted + running)
    return min(max(1, max_concurrent) - running, by_staleness)


def verl_new_rollouts(
    *, staleness_threshold: float, sync_steps: int, require_batches: int = 1, mini_batch: int, stale: int = 0
) -> int:
    """Compute how many rollouts verl starts between two weight updates.

    ``(1 + staleness_threshold) * sync_steps * require_batches * mini_batch - stale``, where ``stale`` counts what is
    still queued or running from older weights. A threshold of 0 is on-policy; verl advises less than 1. Raises
    InputError for a negative threshold. Source: verl ``experimental/fully_async_policy`` (``staleness_threshold``,
    ``trigger_parameter_sync_step``, ``require_batches``).

    >>> verl_new_rollouts(staleness_threshold=0.5, sync_steps=4, mini_batch=32)
    192
    """
    if not staleness_threshold >= 0:
        raise InputError("A staleness threshold is 0 or more, not {value}.", value=staleness_threshold)
    # (1 + 0.1) * 10 is 11.000000000000002 in floats, 0.7 * 10 is 6.999...: neither may gain or lose a rollout.
    allowed = math.floor(round((1 + staleness_threshold) * sync_steps * require_batches * mini_batch, 6))
    return allowed - stale
