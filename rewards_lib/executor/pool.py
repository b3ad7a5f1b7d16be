"""The warm workers of one executor: which tier this machine offers, one zygote for each plan, replaced when it dies.

Invariant: a plan's tier is the best whose self-test passed; it is never lowered without a reason in ``lacks``.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import reduce

from rewards_lib.contract import Isolation, Sentence, Tier, sentence
from rewards_lib.errors import DependencyError
from rewards_lib.executor.zygotes import WorkerPlan, WorkerUnavailableError, ZygoteProcess, starter

_MOST_ZYGOTES = 4
_IDLE_SECONDS = 600.0
_TIERS: tuple[Tier, ...] = ("A", "B", "C")


class ZygotePool:
    """Starts, shares and retires zygotes. Thread-safe."""

    def __init__(self, require: Tier | None, candidates: tuple[WorkerPlan, ...] | None = None) -> None:
        self._require = require
        self._candidates = candidates or _machine_candidates()
        self._lock = threading.Lock()
        self._starting: dict[WorkerPlan, threading.Lock] = {}
        self._choosing = threading.Lock()
        self._reset()

    def _reset(self) -> None:
        self._zygotes: dict[WorkerPlan, ZygoteProcess] = {}
        self._best: WorkerPlan | None = None
        """The confinement that passed its self-test on this machine: tier and kind of namespace."""
        self._isolation: Isolation | None = None
        self._closed = False
        self._pid = os.getpid()

    @contextmanager
    def lease(self, plan: WorkerPlan) -> Iterator[ZygoteProcess]:
        """Lend the zygote of a plan (its confinement is filled in here); it is not retired meanwhile."""
        zygote = self._borrow(plan)
        try:
            yield zygote
        finally:
            with self._lock:
                zygote.runs -= 1
                zygote.used_at = time.monotonic()
                too_many = len(self._zygotes) > _MOST_ZYGOTES
            if too_many:
                self.retire()

    def isolation(self, plan: WorkerPlan) -> Isolation:
        """How a run of this plan is confined; starts its zygote when none has been started yet."""
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

    def retire(self, now: float | None = None) -> None:
        """Close zygotes that nobody has used for ten minutes, and the oldest idle ones beyond four.

        A zygote with a run in progress stays, so that more than four live while more than four are in use. ``now`` is a
        reading of ``time.monotonic``.
        """
        now = time.monotonic() if now is None else now
        with self._lock:
            idle = [zygote for zygote in self._zygotes.values() if zygote.runs == 0]
            idle.sort(key=lambda zygote: zygote.used_at)
            too_many = len(self._zygotes) - _MOST_ZYGOTES
            old = [
                zygote for place, zygote in enumerate(idle) if place < too_many or now - zygote.used_at > _IDLE_SECONDS
            ]
            for zygote in old:
                self._zygotes.pop(zygote.plan, None)
        for zygote in old:
            zygote.close()

    def _borrow(self, plan: WorkerPlan) -> ZygoteProcess:
        with self._lock:
            if self._closed:
                raise DependencyError("The executor is closed.")
            if self._pid != os.getpid():  # a fork of the console: the zygotes are the parent's
                self._reset()
        full = self._confined(plan)
        with self._lock:
            own_lock = self._starting.setdefault(full, threading.Lock())
        with own_lock:
            with self._lock:
                zygote = self._zygotes.get(full)
                if zygote is not None and zygote.is_alive:
                    zygote.runs += 1
                    zygote.used_at = time.monotonic()
                    return zygote
            return self._replace(full, zygote)

    def _replace(self, full: WorkerPlan, dead: ZygoteProcess | None) -> ZygoteProcess:
        if dead is not None:
            dead.close()
        try:
            zygote = ZygoteProcess(full)
        except WorkerUnavailableError as error:
            raise DependencyError("The worker process cannot be started: {why}.", why=error.why) from None
        self._keep(zygote, runs=1)
        self.retire()
        return zygote

    def _keep(self, zygote: ZygoteProcess, *, runs: int) -> None:
        with self._lock:
            zygote.runs = runs
            self._zygotes[zygote.plan] = zygote
            closed = self._closed
        if closed:
            zygote.close()

    def _confined(self, plan: WorkerPlan) -> WorkerPlan:
        """Fill in the confinement, finding out the machine's best when this is the first use."""
        with self._choosing:
            if self._best is None:
                self._choose(plan)
            best = self._best
        if best is None:
            raise DependencyError("The worker processes of this machine cannot be started.")
        return replace(plan, tier=best.tier, own_namespace=best.own_namespace, bare=best.bare)

    def _choose(self, plan: WorkerPlan) -> None:
        """Try the tiers from the best down; the first whose self-test passes is this machine's tier."""
        lacks: list[Sentence] = []
        for candidate in self._candidates:
            if self._require is not None and _TIERS.index(candidate.tier) > _TIERS.index(self._require):
                break
            full = replace(plan, tier=candidate.tier, own_namespace=candidate.own_namespace, bare=candidate.bare)
            try:
                zygote = ZygoteProcess(full)
            except WorkerUnavailableError as error:
                lacks.append(sentence("tier {tier}: {why}", tier=candidate.tier, why=error.why))
                continue
            if zygote.failures:
                template = "tier {tier}: a confined process could {deed}"
                lacks += [sentence(template, tier=candidate.tier, deed=deed) for deed in zygote.failures]
                zygote.close()
                continue
            if candidate.tier == "C":
                lacks.append(_POLICY_ALONE)
            self._isolation = Isolation(candidate.tier, (*zygote.layers, "execution policy"), tuple(lacks))
            self._best = full
            self._keep(zygote, runs=0)
            starter.repeat(self.retire)
            return
        raise DependencyError(
            "Isolation tier {required} is required and this machine does not offer it: {reasons}.",
            required=self._require or "C", reasons=_joined(lacks) if lacks else sentence("no tier was tried"),
            remedy="Install bubblewrap and libseccomp, or require a lower tier.",
        )  # fmt: skip


_POLICY_ALONE = sentence("Nothing but the execution policy keeps code from files and programs: run only your own.")


def _joined(reasons: Sequence[Sentence]) -> Sentence:
    return reduce(lambda first, more: sentence("{first}; {more}", first=first, more=more), reasons)


def machine_tiers() -> tuple[tuple[Tier, bool], ...]:
    """What to try, best first: tiers, and whether in a user namespace of its own.

    Real root builds the namespaces itself; where it may not, a user namespace might do.
    """
    if sys.platform != "linux":
        return (("C", False),)
    by_root: tuple[tuple[Tier, bool], ...] = (("A", False),) if os.getuid() == 0 else ()
    return (*by_root, ("A", True), ("B", False), ("C", False))


def _machine_candidates() -> tuple[WorkerPlan, ...]:
    return tuple(WorkerPlan(tier, own_namespace=own_namespace) for tier, own_namespace in machine_tiers())
