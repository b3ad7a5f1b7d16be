"""One run seen from the host: descriptors out, bytes in, a deadline, and a kill that always comes.

Invariant: when ``RunChannel`` is closed no descriptor of the run is open here and its child is dead or being killed.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import selectors
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from rewards_lib.executor.feed import Feed
from rewards_lib.executor.limits import FLOOD_BYTES, Limits
from rewards_lib.executor.printed import STREAMS, Printed
from rewards_lib.executor.readiness import readable
from rewards_lib.executor.redaction import NO_SECRETS, Redaction
from rewards_lib.executor.zygotes import WorkerUnavailableError, ZygoteProcess

_KILL_GRACE_SECONDS = 2.0
_PIECE_BYTES = 1 << 16
_COMMON_END_SECONDS = 0.3
"""Who kills a whole container may reach the child first, and its zygote lives just long enough to tell of it."""
_PLACES = {"stdout": 1, "stderr": 2, "result": 3, "gateway": 4, "feed": 5}
"""Where a child finds its descriptors."""
_run_ids = itertools.count()

Killer = str
"""Why the host ended a run: ``wall``, ``output``, ``result`` or ``stopped``."""


@dataclass
class RunEnd:
    """How a run ended."""

    status: int | None = None
    """As waitpid gives it; None when it is not known."""
    memory_mb: float | None = None
    cpu_seconds: float | None = None
    killed_for: Killer | None = None
    worker_gone: bool = False
    """The zygote died, or its child before it began: the run may be tried again."""
    no_process: str = ""
    """Why the system had no process for the run, in its own words; the run may be tried again as well."""

    @property
    def is_killed(self) -> bool:
        """Whether SIGKILL ended the run, from whomever it came."""
        return self.status is not None and os.WIFSIGNALED(self.status) and os.WTERMSIG(self.status) == signal.SIGKILL


class Companion(Protocol):
    """Who a child talks to beside its pipes: the gateway of its network, for one."""

    control: socket.socket
    """The host's end."""
    worker_end: socket.socket

    def take_call(self) -> bool:
        """Take what the child sent; False when it will send no more."""
        ...

    def close(self) -> None:
        """End the talk."""
        ...


class RunChannel:
    """The pipes of one run. Use as a context manager; iterate over ``lines``."""

    def __init__(
        self, zygote: ZygoteProcess, kind: str, payload: dict[str, Any], limits: Limits, *,
        gateway: Companion | None = None, entries: Iterator[bytes] | None = None, redaction: Redaction = NO_SECRETS,
    ) -> None:  # fmt: skip
        self.printed = Printed(FLOOD_BYTES if entries is not None else limits.output_bytes, redaction.text)
        self.end = RunEnd()
        self._zygote = zygote
        self._limits = limits
        self._run_id = str(next(_run_ids))
        self._gateway = gateway
        self._redaction = redaction
        self._feed: Feed | None = None
        self._tail = b""
        self._has_begun = False
        """Whether the child has said anything."""
        self._is_zygote_gone = False
        self._selector = selectors.DefaultSelector()
        self._ends: dict[str, int] = {}
        self.pause_seconds = 0.0
        """Wait this long before looking again: many small lines are cheaper to read together."""
        self.deadline = time.monotonic() + limits.wall_seconds
        self._start(kind, payload, entries)

    def _start(self, kind: str, payload: dict[str, Any], entries: Iterator[bytes] | None) -> None:
        theirs: dict[str, int] = {}
        try:
            theirs["payload"] = _payload_file(json.dumps(payload).encode())
            for name in ("status", *STREAMS, "result"):
                ours, theirs[name] = os.pipe()
                os.set_blocking(ours, False)
                self._ends[name] = ours
                self._selector.register(ours, selectors.EVENT_READ, name)
            if self._gateway is not None:
                theirs["gateway"] = self._gateway.worker_end.detach()
                self._selector.register(self._gateway.control, selectors.EVENT_READ, "gateway")
            if entries is not None:
                self._feed = Feed(entries)
                theirs["feed"] = self._feed.reader
                self._selector.register(self._feed, selectors.EVENT_WRITE, "feed")
            places = [_PLACES[name] for name in theirs if name in _PLACES]
            request = {"run": self._run_id, "kind": kind, "limits": self._limits.for_worker(), "places": places}
            self._zygote.send(request, list(theirs.values()))
        except BaseException:
            self.close()
            raise
        finally:
            for number in theirs.values():
                os.close(number)

    def lines(self) -> Iterator[dict[str, Any]]:
        """Yield the lines of the result pipe until the run is over.

        The deadline and the pause may be changed while iterating. After the loop ``end`` and ``printed`` are complete.
        """
        while "status" in self._ends:
            left = self.deadline - time.monotonic()
            if left <= 0 and not self._pass_deadline():
                break
            ready = [key.data for key, _ in self._selector.select(max(left, 0.0))]
            if "feed" in ready:
                self._pump()
                ready.remove("feed")
            elif self.pause_seconds:
                time.sleep(self.pause_seconds)
            for name in ready:
                yield from self._read(name)
        for name in (*STREAMS, "result"):
            while name in self._ends and self._has_more(name):
                yield from self._read(name)
        self._doubt_kill()

    def _doubt_kill(self) -> None:
        """Tell a kill that was aimed at the worker, or met a child that had not begun, from one of the run."""
        if self.end.is_killed and self.end.killed_for is None:
            self._is_zygote_gone = self._zygote.ends_within(_COMMON_END_SECONDS)
            self.end.worker_gone = self._is_zygote_gone or not self._has_begun
        if self._is_zygote_gone:
            self._zygote.close()  # it may be dying still, and must not be lent to the next try

    def _pump(self) -> None:
        """Hand over more entries; making them takes nothing from the child's time."""
        if self._feed is not None:
            before = self._feed.making_seconds
            if not self._feed.pump():
                self._close_feed()
                return
            if self.end.killed_for is None:
                self.deadline += self._feed.making_seconds - before

    def _close_feed(self) -> None:
        if self._feed is not None:
            self._selector.unregister(self._feed)
            self._feed.close()
            self._feed = None

    def printed_until(self, places: Sequence[int]) -> str:
        """Take what was printed up to a place in each stream, which the child has reached."""
        upto = dict(zip(STREAMS, places, strict=False))
        for name, place in upto.items():
            while name in self._ends and self.printed.received[name] < place and self._has_more(name):
                for _ in self._read(name):
                    pass
        return self.printed.take(self._limits.output_bytes, upto)

    def _has_more(self, name: str) -> bool:
        """Whether a pipe of an ended run still holds bytes; left-over writers must not make us wait."""
        return bool(readable([self._ends[name]], 0))

    def _pass_deadline(self) -> bool:
        """Kill at the deadline; False when even the kill's grace is over and the zygote must go."""
        if self.end.killed_for is None:
            self.kill("wall")
            return True
        self._zygote.close()
        return False

    def move_deadline(self, seconds: float) -> None:
        """Give the run this long from now, unless it is being killed."""
        if self.end.killed_for is None:
            self.deadline = time.monotonic() + seconds

    def stop(self) -> None:
        """End the run because nobody wants it any more."""
        self.kill("stopped")

    def kill(self, why: Killer) -> None:
        """End the run, once."""
        if self.end.killed_for is None:
            self.end.killed_for = why
            self.deadline = time.monotonic() + _KILL_GRACE_SECONDS
            try:
                self._zygote.kill_run(self._run_id)
            except WorkerUnavailableError:
                self._zygote.close()

    def _read(self, name: str) -> Iterator[dict[str, Any]]:
        if name == "gateway":
            if self._gateway is not None and not self._gateway.take_call():
                self._selector.unregister(self._gateway.control)
            return
        try:
            data = os.read(self._ends[name], _PIECE_BYTES)
        except BlockingIOError:
            return
        if not data:
            self._drop(name)
        if name == "status":
            self._finish(data)
        elif name == "result":
            yield from self._split(data)
        elif data:
            self.printed.add(name, data)
            if self.printed.waiting(name) > FLOOD_BYTES:
                self.kill("output")

    def _finish(self, data: bytes) -> None:
        """Read what the zygote tells at the end of the run; it tells nothing when it has gone itself."""
        self._drop("status")
        report = _decode(data)
        if report is None:
            self._is_zygote_gone = self.end.worker_gone = self.end.killed_for is None
        elif "no_process" in report:
            self.end.no_process, self.end.worker_gone = str(report["no_process"]), self.end.killed_for is None
        else:
            self.end.status, self.end.memory_mb = report["status"], report["memory_kb"] / 1024
            self.end.cpu_seconds = report["cpu"]

    def _split(self, data: bytes) -> Iterator[dict[str, Any]]:
        """Cut the result pipe into lines; what is no line of ours is ignored."""
        *whole, rest = (self._tail + data).split(b"\n")
        self._tail = rest
        if max(map(len, [rest, *whole])) > self._limits.result_bytes:
            self.kill("result")
            self._tail = b""
            return
        for line in whole:
            row = _decode(line)
            if row is not None:
                self._has_begun = True
                yield self._redaction.json(row)

    def _drop(self, name: str) -> None:
        number = self._ends.pop(name, None)
        if number is not None:
            self._selector.unregister(number)
            os.close(number)

    def close(self) -> None:
        """Release everything; a child that is still there is killed."""
        if "status" in self._ends and self.end.status is None and self.end.killed_for is None:
            with contextlib.suppress(WorkerUnavailableError):
                self._zygote.kill_run(self._run_id)
        for name in list(self._ends):
            self._drop(name)
        self._close_feed()
        self._selector.close()
        if self._gateway is not None:
            self._gateway.close()

    def __enter__(self) -> RunChannel:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


def _decode(line: bytes) -> dict[str, Any] | None:
    try:
        row = json.loads(line.decode())  # of bytes it would guess the encoding first
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None


def _payload_file(data: bytes) -> int:
    """An anonymous file that holds the payload, positioned anywhere: it is read by offset."""
    if sys.platform == "linux":
        number = os.memfd_create("payload")
    else:
        with tempfile.TemporaryFile() as file:
            number = os.dup(file.fileno())
    view = memoryview(data)
    while view:
        view = view[os.write(number, view) :]
    return number
