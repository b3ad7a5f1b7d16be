"""The warm workers of one executor: which tier this machine offers, one zygote for each plan, replaced when it dies.

Invariant: a plan's tier is the best whose self-test passed; it is never lowered without a reason in ``lacks``.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from rewards_lib.contract import Isolation, Tier
from rewards_lib.errors import DependencyError
from rewards_lib.executor.zygotes import WorkerPlan, WorkerUnavailable, ZygoteProcess

_MOST_ZYGOTES = 4
_IDLE_SECONDS = 600.0
_TIERS: tuple[Tier, ...] = ("A", "B", "C")


class ZygotePool:
    """Starts, shares and retires zygotes. Thread-safe."""

    def __init__(self, require: Tier | None, forced: Tier | None) -> None:
        self._require = require
        self._forced = forced
        self._lock = threading.RLock()
        self._zygotes: dict[WorkerPlan, ZygoteProcess] = {}
        self._best: WorkerPlan | None = None
        """The confinement that passed its self-test on this machine: tier and kind of namespace."""
        self._lacks: tuple[str, ...] = ()
        self._isolation: Isolation | None = None
        self._closed = False
        self._pid = os.getpid()

    @contextmanager
    def lease(self, plan: WorkerPlan) -> Iterator[ZygoteProcess]:
        """Lend the zygote of a plan (its tier is filled in here); it is not retired meanwhile."""
        zygote = self._borrow(plan)
        try:
            yield zygote
        finally:
            with self._lock:
                zygote.runs -= 1
                zygote.used_at = time.monotonic()

    def isolation(self, plan: WorkerPlan) -> Isolation:
        """How a run of this plan is confined; starts its zygote when none has been started yet."""
        with self._lock:
            if self._isolation is None:
                with self.lease(plan):
                    pass
            if self._isolation is None:
                raise DependencyError("The worker processes of this machine cannot be started.")
            return self._isolation

    def close(self) -> None:
        """End every zygote."""
        with self._lock:
            self._closed = True
            zygotes = list(self._zygotes.values()) if self._pid == os.getpid() else []
            self._zygotes.clear()
        for zygote in zygotes:
            zygote.close()

    def _borrow(self, plan: WorkerPlan) -> ZygoteProcess:
        with self._lock:
            if self._closed:
                raise DependencyError("The executor is closed.")
            if self._pid != os.getpid():  # a fork of the console: the zygotes are the parent's
                self._pid, self._zygotes = os.getpid(), {}
            full = replace(plan, tier=self._best.tier, own_namespace=self._best.own_namespace) if self._best else plan
            zygote = self._zygotes.get(full) if self._best else None
            if zygote is None or not zygote.is_alive:
                zygote = self._start(plan)
            zygote.runs += 1
            self._retire(keep=zygote)
            return zygote

    def _start(self, plan: WorkerPlan) -> ZygoteProcess:
        if self._best is not None:
            full = replace(plan, tier=self._best.tier, own_namespace=self._best.own_namespace)
            dead = self._zygotes.pop(full, None)
            if dead is not None:
                dead.close()
            try:
                zygote = ZygoteProcess(full)
            except WorkerUnavailable as error:
                raise DependencyError("The worker process cannot be started: {why}.", why=str(error)) from None
        else:
            zygote = self._find_best(plan)
        self._zygotes[zygote.plan] = zygote
        return zygote

    def _find_best(self, plan: WorkerPlan) -> ZygoteProcess:
        """Try the tiers from the best down; the first whose self-test passes is this machine's tier."""
        lacks: list[str] = []
        for tier, own_namespace in self._candidates():
            if self._require is not None and _TIERS.index(tier) > _TIERS.index(self._require):
                break
            try:
                zygote = ZygoteProcess(replace(plan, tier=tier, own_namespace=own_namespace))
            except WorkerUnavailable as error:
                lacks.append(f"tier {tier}: {error}")
                continue
            if zygote.failures:
                lacks.append(f"tier {tier}: a confined process could {', '.join(zygote.failures)}")
                zygote.close()
                continue
            self._best = zygote.plan
            lacks += [f"the worker can {entry}" for entry in zygote.failures]
            self._isolation = Isolation(tier, (*zygote.layers, "language policy"), tuple(lacks))
            return zygote
        raise DependencyError(
            "Isolation tier {required} is required and this machine does not offer it: {reasons}.",
            required=self._require or "C",
            reasons="; ".join(lacks) or "no tier was tried",
            remedy="Install bubblewrap and libseccomp, or require a lower tier.",
        )

    def _candidates(self) -> list[tuple[Tier, bool]]:
        if self._forced is not None:
            return [(self._forced, False)]
        if sys.platform != "linux":
            return [("C", False)]
        return [("A", False), ("A", True), ("B", False), ("C", False)] if os.getuid() == 0 else [
            ("A", True), ("B", False), ("C", False),
        ]  # fmt: skip

    def _retire(self, keep: ZygoteProcess) -> None:
        """Close zygotes that nobody has used for a while, and the oldest idle ones beyond four."""
        now = time.monotonic()
        idle = sorted(
            (zygote for zygote in self._zygotes.values() if zygote.runs == 0 and zygote is not keep),
            key=lambda zygote: zygote.used_at,
        )
        too_many = len(self._zygotes) - _MOST_ZYGOTES
        for place, zygote in enumerate(idle):
            if place < too_many or now - zygote.used_at > _IDLE_SECONDS:
                self._zygotes.pop(zygote.plan, None)
                zygote.close()
