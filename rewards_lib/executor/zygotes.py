"""Warm worker processes as the host holds them: start, talk to, end.

Every process is started by one long-lived thread, because "die with the parent" means the thread that started it.
Invariant: a zygote ends when it is closed, when this process ends in whatever way, or when it stops answering.
"""

from __future__ import annotations

import array
import json
import os
import queue
import socket
import subprocess
import sys
import threading
import time
import weakref
from base64 import b64encode
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from rewards_lib.contract import Sentence, Tier, sentence
from rewards_lib.errors import boundary
from rewards_lib.executor import places, syscall_filter
from rewards_lib.executor.readiness import readable
from rewards_lib.executor.worker.spare import BIGGEST_PACKET
from rewards_lib.executor.worker_words import read_words

_PACKETS = socket.SOCK_SEQPACKET if sys.platform == "linux" else socket.SOCK_DGRAM
_BOOT_SECONDS = 60.0
_SEND_SECONDS = 5.0
_CHORE_SECONDS = 60.0
_MOST_WARM_MODULES, _MOST_WARM_AT_ONCE = 2_000, 200
_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class WorkerPlan:
    """Which worker: what it can import and how it is confined."""

    tier: Tier
    site: tuple[str, ...] = ()
    """Folders with installed packages, read-only inside."""
    folders: tuple[tuple[str, str], ...] = ()
    """Modules of ours that can be imported by their place: (name, folder of a package or file)."""
    trusted: bool = False
    """Runs our own code: no execution policy."""
    own_namespace: bool = False
    """Tier A: build a user namespace even as root."""
    bare: bool = False
    """Tier C: leave out even what this machine could add; only for tests of the execution policy."""
    preload: tuple[str, ...] = field(default=(), compare=False)


class WorkerUnavailableError(Exception):
    """A zygote did not start, or is gone. Internal to the executor."""

    def __init__(self, why: Sentence) -> None:
        self.why = why
        super().__init__(str(why))


def _quoted(text: str) -> Sentence:
    """Words of the system or of a library, which have no translation."""
    return sentence("{text}", text=text)


class _Starter:
    """The thread from which every worker process is started; it lives as long as this process."""

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[tuple[Callable[[], Any], Future[Any]]] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._pid = 0
        self._chores: list[weakref.WeakMethod[Callable[[], None]]] = []

    def call(self, job: Callable[[], Any]) -> Any:
        """Run a job in the thread and return its result."""
        with self._lock:
            if self._pid != os.getpid():  # first use, or use after a fork, which leaves threads behind
                self._jobs = queue.SimpleQueue()
                threading.Thread(target=self._work, args=(self._jobs,), name="worker starter", daemon=True).start()
                self._pid = os.getpid()  # only now: without a thread to spare the next call must try again
        result: Future[Any] = Future()
        self._jobs.put((job, result))
        return result.result()

    def repeat(self, chore: Callable[[], None]) -> None:
        """Call a bound method about once a minute, as long as its object lives."""
        with self._lock:
            self._chores.append(weakref.WeakMethod(chore))

    def _work(self, jobs: queue.SimpleQueue[tuple[Callable[[], Any], Future[Any]]]) -> None:
        next_chores = time.monotonic() + _CHORE_SECONDS
        while True:
            left = next_chores - time.monotonic()
            if left <= 0:
                self._do_chores()
                next_chores = time.monotonic() + _CHORE_SECONDS
                continue
            try:
                job, result = jobs.get(timeout=left)
            except queue.Empty:
                continue
            try:
                result.set_result(job())
            except BaseException as error:
                result.set_exception(error)

    def _do_chores(self) -> None:
        with self._lock:
            self._chores = [chore for chore in self._chores if chore() is not None]
            calls = [chore() for chore in self._chores]
        for call in calls:
            if call is not None:
                with boundary(lambda _error: None):  # logged; without this thread no worker could be started again
                    call()


starter = _Starter()
"""The one starter of this process."""


class ZygoteProcess:
    """One warm worker process. Thread-safe."""

    def __init__(self, plan: WorkerPlan) -> None:
        self.plan = plan
        self.layers: tuple[str, ...] = ()
        self.failures: tuple[Sentence, ...] = ()
        """What its self-test could do although it must not."""
        self.used_at = time.monotonic()
        self.runs = 0
        """Runs in progress."""
        self._lock = threading.Lock()
        self._preloaded: set[str] = set(plan.preload)
        near, far = socket.socketpair(socket.AF_UNIX, _PACKETS)
        self._control = near
        near.settimeout(_SEND_SECONDS)
        with far:
            self._process: subprocess.Popen[bytes] = starter.call(lambda: _spawn(plan, far))
        try:
            self._greet()
        except BaseException:
            self.close()
            raise

    def _greet(self) -> None:
        hello = self._read_hello(_configuration(self.plan))
        if not hello.get("ready"):
            raise WorkerUnavailableError(_quoted(str(hello.get("why"))))
        bubblewrap = ("bubblewrap",) if self.plan.tier == "A" else ()
        self.layers = (*bubblewrap, *hello["layers"], "rlimits")
        self.failures = tuple(filter(None, map(read_words, hello["failures"])))

    def _read_hello(self, configuration: bytes) -> dict[str, Any]:
        try:
            self._control.send(configuration)
            came = readable([self._control.fileno()], _BOOT_SECONDS)
            message = self._control.recv(BIGGEST_PACKET) if came else b""
        except OSError as error:
            raise WorkerUnavailableError(self._last_words() or _quoted(str(error))) from None
        if not message:
            raise WorkerUnavailableError(self._last_words() or sentence("the worker did not start"))
        hello: dict[str, Any] = json.loads(message)
        return hello

    def _last_words(self) -> Sentence | None:
        """What a process that did not start left on its standard error."""
        self._process.kill()
        _, errors = self._process.communicate()
        lines = errors.decode("utf-8", "replace").strip().splitlines() if errors else []
        return _quoted(lines[-1]) if lines else None

    @property
    def is_alive(self) -> bool:
        """Whether the process has not ended."""
        return self._process.poll() is None

    def ends_within(self, seconds: float) -> bool:
        """Whether the process has ended, or does so in this time."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def send(self, request: dict[str, Any], descriptors: Sequence[int] = ()) -> None:
        """Send one request; raises ``WorkerUnavailableError`` when the zygote is gone or stuck."""
        ancillary = []
        if descriptors:
            ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))]
        try:
            with self._lock:
                self._control.sendmsg([json.dumps(request).encode()], ancillary)
        except OSError as error:
            raise WorkerUnavailableError(_quoted(str(error))) from None

    def keep_warm(self, modules: Sequence[object]) -> None:
        """Import modules once in the zygote, so that later runs find them loaded.

        The names may be a child's word: what is no name is left out, and so is what is too much for one message, or
        for the memory of this process.
        """
        names = [name for name in modules if isinstance(name, str) and len(name) <= _LONGEST_NAME]
        with self._lock:
            room = min(_MOST_WARM_MODULES - len(self._preloaded), _MOST_WARM_AT_ONCE)
            fresh = list(dict.fromkeys(name for name in names if name not in self._preloaded))[: max(room, 0)]
            self._preloaded.update(fresh)
        if fresh:
            self.send({"preload": fresh})

    def kill_run(self, run_id: str) -> None:
        """End one run."""
        self.send({"kill": run_id})

    def close(self) -> None:
        """End the process and with it everything it started."""
        self._control.close()
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        if self._process.stderr is not None:
            self._process.stderr.close()


def _spawn(plan: WorkerPlan, far: socket.socket) -> subprocess.Popen[bytes]:
    command = places.worker_command("zygote", str(far.fileno()))
    if plan.tier == "A":
        program = places.bubblewrap()
        if program is None:
            raise WorkerUnavailableError(sentence("bubblewrap is not installed"))
        readable = _readable(plan)
        command = places.bubblewrap_command(program, readable, command, own_namespace=_needs_namespace(plan))
    return subprocess.Popen(
        command, pass_fds=[far.fileno()], env=places.ENVIRONMENT, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd="/",
    )  # fmt: skip


def _needs_namespace(plan: WorkerPlan) -> bool:
    return plan.own_namespace or os.getuid() != 0


def _readable(plan: WorkerPlan) -> list[str]:
    return places.readable_places([*plan.site, *(folder for _, folder in plan.folders)])


def _configuration(plan: WorkerPlan) -> bytes:
    """The zygote's first packet."""
    readable = _readable(plan)
    is_root = os.getuid() == 0
    becomes_nobody = is_root and (plan.tier == "B" or (plan.tier == "A" and not plan.own_namespace))
    config: dict[str, Any] = {
        "tier": plan.tier, "site": list(plan.site), "folders": dict(plan.folders), "preload": list(plan.preload),
        "trusted": plan.trusted, "readable": readable, "become_nobody": becomes_nobody,
        "keep_reading": plan.tier == "B" and not places.is_reachable_by_nobody(readable),
        "own_user": becomes_nobody or plan.tier == "A", "bare": plan.bare, **_filters(plan),
    }  # fmt: skip
    return json.dumps(config).encode()


def _filters(plan: WorkerPlan) -> dict[str, str]:
    if plan.bare or sys.platform != "linux":
        return {"zygote_filter": "", "child_filter": ""}
    filters = syscall_filter.build_filters()
    if filters is None:
        if plan.tier != "C":
            raise WorkerUnavailableError(syscall_filter.missing_reason())
        return {"zygote_filter": "", "child_filter": ""}
    return {"zygote_filter": b64encode(filters.zygote).decode(), "child_filter": b64encode(filters.child).decode()}
