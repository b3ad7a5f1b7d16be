"""Workers that stay between runs of our own code: a service cannot pay a fork for each request.

Invariant: there is exactly one ``ItemRun`` for each item, in order; a child that hung, died or did its share is
replaced by a fresh one, and an item that was in its hands has an error, never a value.
"""

from __future__ import annotations

import contextlib
import json
import math
import queue
import socket
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from rewards_lib.contract import Json
from rewards_lib.executor.batch import Lease
from rewards_lib.executor.items import item_run, over_time, stopped, worker_died
from rewards_lib.executor.limits import Limits
from rewards_lib.executor.results import ItemRun
from rewards_lib.executor.run_channel import RunChannel
from rewards_lib.executor.stopping import StopSwitch
from rewards_lib.executor.zygotes import WorkerUnavailableError

ENTRY = "rewards_lib.executor.item_loop:answer_items"
MOST_ITEMS = 5_000
"""After so many a child is replaced: whatever it may have gathered goes with it."""
MOST_BUSY_SECONDS = 300.0
"""So is one that worked this long; its processor time is limited."""
_IMPORT_SECONDS = 60.0
_LIMITS = Limits(wall_seconds=_IMPORT_SECONDS, cpu_seconds=2 * MOST_BUSY_SECONDS)
_LOOK_SECONDS = 0.2
_PIECE_BYTES = 1 << 16
_AHEAD_BYTES = 1 << 16
"""So much fits into a socket's buffer on every system: sending it never waits for the child."""


def holds(limits: Limits) -> bool:
    """Whether these children have the limits that a run asks for; those of time on the wall are each item's own."""
    return (
        replace(limits, wall_seconds=_LIMITS.wall_seconds, cpu_seconds=limits.cpu_seconds or _LIMITS.cpu_seconds)
        == _LIMITS
    )


class StandingWorkers:
    """A few children that take turns with the runs. Thread-safe."""

    def __init__(self, count: int, lease: Lease) -> None:
        self._free: queue.LifoQueue[_StandingWorker] = queue.LifoQueue()
        self._all = [_StandingWorker(lease) for _ in range(count)]
        for worker in self._all:
            self._free.put(worker)

    def run(
        self, entry: str, items: Sequence[Json], seconds: Sequence[float], preload: Sequence[str], stop: StopSwitch
    ) -> list[ItemRun]:
        """Call the entry on every item; waits for a child that is free."""
        worker = self._take(stop)
        if worker is None:
            return [ItemRun(None, stopped()) for _ in items]
        try:
            return worker.run(entry, items, seconds, preload, stop)
        finally:
            self._free.put(worker)

    def _take(self, stop: StopSwitch) -> _StandingWorker | None:
        """Wait for a child that is free; None when nobody wants it any more."""
        while not stop.is_pressed:
            with contextlib.suppress(queue.Empty):
                return self._free.get(timeout=_LOOK_SECONDS)
        return None

    def close(self) -> None:
        """End every child, at work or not; the items in its hands and those behind them have errors."""
        for worker in self._all:
            worker.interrupt()
        for worker in self._all:
            worker.close()


class _Companion:
    """The socket to a child, in the place where a run's gateway goes."""

    def __init__(self) -> None:
        self.control, self.worker_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)

    def take_call(self) -> bool:
        return False

    def close(self) -> None:
        self.control.close()


class _StandingWorker:
    """One child and how much it has done. One caller at a time."""

    def __init__(self, lease: Lease) -> None:
        self._lease = lease
        self._lock = threading.Lock()
        self._is_closed = False
        self._stack = ExitStack()
        self._socket: socket.socket | None = None
        self._channel: RunChannel | None = None
        self._imported: set[str] = set()
        self._items = 0
        self._busy_seconds = 0.0
        self._rest = b""
        """What arrived behind the last whole line."""

    def run(
        self, entry: str, items: Sequence[Json], seconds: Sequence[float], preload: Sequence[str], stop: StopSwitch
    ) -> list[ItemRun]:
        """Call the entry on the items in order; a worker that was lost while it was idle is replaced first."""
        runs: list[ItemRun] = []
        with self._lock:
            while len(runs) < len(items):
                if stop.is_pressed or self._is_closed:
                    runs.append(ItemRun(None, stopped()))
                    continue
                try:
                    if self._items >= MOST_ITEMS or self._busy_seconds >= MOST_BUSY_SECONDS or self._is_lost():
                        self._end()
                    self._prepare(entry, preload)
                    with stop.ending(self._stop_child):  # a switch pressed before tells it at once
                        runs += self._run_some(entry, items[len(runs) :], seconds[len(runs) :])
                except WorkerUnavailableError:
                    self._end()
                    runs.append(ItemRun(None, stopped() if stop.is_pressed else worker_died()))
        return runs

    def _run_some(self, entry: str, items: Sequence[Json], seconds: Sequence[float]) -> list[ItemRun]:
        """Send as many items as surely fit on the way, and take their answers: one run at least.

        An item that gets no answer ends the child, and those behind it are left for the next.
        """
        lines: list[bytes] = []
        size = 0
        for item in items:
            line = json.dumps({"entry": entry, "item": item}).encode() + b"\n"
            size += len(line)
            if lines and size > _AHEAD_BYTES:
                break
            lines.append(line)
        runs: list[ItemRun] = []
        for number, limit in zip(range(len(lines)), seconds, strict=False):
            row = self._ask(b"".join(lines) if number == 0 else b"", limit)
            if row is None:
                killed_for = self._channel.end.killed_for if self._channel is not None else None
                self._end()
                return [*runs, _lost(limit, killed_for)]
            self._items += 1
            self._busy_seconds += float(row.get("ms") or 0.0) / 1e3
            runs.append(item_run(row, _LIMITS))
            if row.get("memory"):
                self._end()
                break
        return runs

    def interrupt(self) -> None:
        """End the work in progress for good, from another thread than its own."""
        self._is_closed = True
        self._stop_child()

    def _stop_child(self) -> None:
        """End the child that is at work, from the thread of whoever pressed the switch."""
        channel = self._channel
        if channel is not None:
            channel.stop()

    def _is_lost(self) -> bool:
        """Whether a child that should wait has gone, or is going: its end of the socket is closed."""
        if self._socket is None or self._channel is None:
            return False
        if self._channel.end.killed_for is not None:  # by a stop that came when the work was done
            return True
        self._socket.setblocking(False)
        try:
            return self._socket.recv(1, socket.MSG_PEEK) == b""
        except BlockingIOError:
            return False
        except OSError:
            return True
        finally:
            self._socket.setblocking(True)

    def _prepare(self, entry: str, preload: Sequence[str]) -> None:
        """Start a child where there is none, and import what is new; what fails to import fails again when called."""
        module = entry.partition(":")[0]
        if self._socket is None:
            self._start([*preload, module])
        fresh = [name for name in (*preload, module) if name not in self._imported]
        if fresh:
            self._imported.update(fresh)
            if self._ask(json.dumps({"import": fresh}).encode() + b"\n", _IMPORT_SECONDS) is None:
                raise WorkerUnavailableError(worker_died().message)

    def _start(self, preload: Sequence[str]) -> None:
        zygote = self._stack.enter_context(self._lease())
        zygote.keep_warm([*preload, ENTRY.partition(":")[0]])
        companion = _Companion()
        channel = RunChannel(
            zygote, "items", {"entry": ENTRY, "first": 0}, _LIMITS, gateway=companion, entries=iter([b"null"])
        )
        self._channel = self._stack.enter_context(channel)
        if not any(row.get("ready") for row in channel.lines()):  # which also hands the one entry over
            raise WorkerUnavailableError(worker_died().message)
        channel.deadline = math.inf  # from here on each item has its own
        self._socket = companion.control

    def _ask(self, lines: bytes, seconds: float) -> dict[str, Any] | None:
        """Send what there is to send and wait for one answer; None when there is none in time: the child is ended."""
        assert self._socket is not None  # noqa: S101 -- ``_prepare`` came first
        deadline = time.monotonic() + seconds
        try:
            if lines:
                self._socket.settimeout(seconds)
                self._socket.sendall(lines)
            answer = self._line(deadline)
        except TimeoutError:
            if self._channel is not None:
                self._channel.kill("wall")
            return None
        except OSError:
            return None
        if answer is None:
            return None
        row: dict[str, Any] = json.loads(answer)
        return row

    def _line(self, deadline: float) -> bytes | None:
        """The next line of the child; None when it is gone or says too much. Raises TimeoutError."""
        while b"\n" not in self._rest:
            left = deadline - time.monotonic()
            if left <= 0 or self._socket is None:
                raise TimeoutError
            self._socket.settimeout(left)
            piece = self._socket.recv(_PIECE_BYTES)
            self._rest += piece
            if not piece or len(self._rest) > _LIMITS.result_bytes:
                return None
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def _end(self) -> None:
        """Let the child go; the next item finds a fresh one."""
        with contextlib.suppress(WorkerUnavailableError):
            self._stack.close()
        self._stack = ExitStack()
        self._socket = self._channel = None
        self._rest = b""
        self._imported, self._items, self._busy_seconds = set(), 0, 0.0

    def close(self) -> None:
        """End the child; waits for the work in progress."""
        with self._lock:
            self._end()


def _lost(seconds: float, killed_for: str | None) -> ItemRun:
    """What becomes of an item whose child ended without an answer."""
    if killed_for == "wall":
        return ItemRun(None, over_time(seconds), seconds * 1e3)
    return ItemRun(None, stopped() if killed_for == "stopped" else worker_died())
