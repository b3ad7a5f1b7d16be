"""Warm workers: confined processes that run programs for the judge, one at a time each, replaced when worn or broken.

Invariant: a worker is handed out only after its self-test passed; whatever it could not do is told in ``isolation``.
"""

from __future__ import annotations

import array
import contextlib
import itertools
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rewards_lib.code_judge import anonymous_files
from rewards_lib.code_judge.runs import RunOrder, RunReport
from rewards_lib.code_judge.worker import box
from rewards_lib.contract import Isolation, Sentence, Tier, sentence
from rewards_lib.errors import DependencyError
from rewards_lib.executor import places, syscall_filter
from rewards_lib.executor.pool import machine_tiers
from rewards_lib.executor.readiness import readable
from rewards_lib.executor.worker_words import read_words
from rewards_lib.executor.zygotes import starter

WORKER_FOLDER = Path(__file__).resolve().parent / "worker"
MOST_RUNS = 1_000
"""A worker is replaced after so many."""
_BIGGEST_PACKET = 1 << 20
_BOOT_SECONDS = 60.0
_FIRST_USER = 1_900_000_000
"""Users of programs start here, above every range that systems hand out."""
_BOX_BYTES = 256 << 20
_CAPABILITIES = ("CAP_SETUID", "CAP_SETGID", "CAP_KILL", "CAP_DAC_OVERRIDE", "CAP_FOWNER")
_PREPARED_PLACE = "/prepared"
_MOUNTS = (
    "--as-pid-1", "--proc", "/proc", "--symlink", "/proc/self/fd", "/dev/fd", "--symlink", "/proc/self/fd/0",
    "/dev/stdin", "--symlink", "/proc/self/fd/1", "/dev/stdout", "--symlink", "/proc/self/fd/2", "/dev/stderr",
    "--dev-bind", "/dev/random", "/dev/random", "--perms", "0777", "--size", str(_BOX_BYTES), "--tmpfs", "/box",
)  # fmt: skip
_TEMPORARY = "/tmp"  # noqa: S108 -- inside, it is the program's own folder
_BOOT = (
    "import sys,types,importlib\n"
    "for name,folder in (('rewards_lib',None),('rewards_lib.executor',sys.argv.pop(1)),"
    "('rewards_lib.code_judge',sys.argv.pop(1))):\n"
    "    sys.modules[name]=types.ModuleType(name); sys.modules[name].__path__=[folder] if folder else []\n"
    "importlib.import_module('rewards_lib.code_judge.worker.launcher').main()\n"
)
"""Loads two worker folders under their own names, and nothing else of the library."""
_FOR_PROGRAMS = frozenset({"execve", "utimensat", "setrlimit"})
_FOR_COMPILERS = _FOR_PROGRAMS | {"chmod", "fchmod", "fchmodat", "fchmodat2", "link", "linkat", "symlink", "symlinkat"}
_numbers = itertools.count()


@dataclass(frozen=True, slots=True)
class WorkerPlan:
    """How a worker is confined."""

    tier: Tier
    own_namespace: bool = False
    """Tier A: build a user namespace even as root."""
    readable: tuple[str, ...] = ()
    """What any program of any language may read or run, beside the system's libraries."""
    prepared: str = ""
    """A folder with what was compiled before for compilers to read: headers, libraries."""

    @property
    def places(self) -> tuple[str, ...]:
        """All that a worker reads."""
        return (*self.readable, *filter(None, [self.prepared]))

    def seen(self, place: Path) -> str:
        """What a worker calls a place below ``prepared``."""
        return str(Path(_PREPARED_PLACE, place.relative_to(self.prepared)) if self.tier == "A" else place)


class WorkerLostError(Exception):
    """A worker did not start, or is gone. Internal to the judge."""

    def __init__(self, why: Sentence) -> None:
        self.why = why
        super().__init__(str(why))


class RunCancelledError(Exception):
    """Nobody waits for the run any more; the worker is well. Internal to the judge."""


class Worker:
    """One warm process. Not thread-safe: whoever holds it runs one program at a time."""

    def __init__(self, plan: WorkerPlan) -> None:
        self.plan = plan
        self.runs = 0
        self.failures: tuple[Sentence, ...] = ()
        self.may_fork = False
        self._box = "/box" if plan.tier == "A" else tempfile.mkdtemp(prefix="code-judge-")
        near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        near.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BIGGEST_PACKET)
        self._control = near
        with far:
            self._process: subprocess.Popen[bytes] = starter.call(lambda: _spawn(plan, far))
        with contextlib.ExitStack() as undo:
            undo.callback(self.close)
            self._greet()
            undo.pop_all()

    def _greet(self) -> None:
        uid = _own_user(self.plan)
        if self.plan.tier != "A":
            os.chmod(self._box, 0o777 if uid is not None else 0o700)
        config = {
            "tier": self.plan.tier, "box": self._box, "uid": uid, "filters": _filters(self.plan),
            "keep_reading": self.plan.tier == "B" and not places.is_reachable_by_nobody(self.plan.places),
        }  # fmt: skip
        hello = self._exchange_hello(json.dumps(config).encode())
        self.failures = tuple(filter(None, map(read_words, hello["failures"])))
        self.may_fork = bool(hello["forks"])

    def _exchange_hello(self, configuration: bytes) -> dict[str, Any]:
        try:
            self._control.send(configuration)
            message = self._control.recv(_BIGGEST_PACKET) if readable([self._control.fileno()], _BOOT_SECONDS) else b""
        except OSError:
            message = b""
        if not message:
            raise WorkerLostError(self._last_words())
        hello: dict[str, Any] = json.loads(message)
        return hello

    def _last_words(self) -> Sentence:
        self._process.kill()
        _, errors = self._process.communicate()
        lines = errors.decode("utf-8", "replace").strip().splitlines() if errors else []
        return sentence("{text}", text=lines[-1]) if lines else sentence("the worker did not start")

    @property
    def is_worn(self) -> bool:
        """Whether it has served long enough, or has ended."""
        return self.runs >= MOST_RUNS or self._process.poll() is not None

    def run(self, order: RunOrder, stdin: int, cancelled: int | None = None) -> RunReport:
        """Run one program to its end. Raises ``WorkerLostError`` when the worker is gone; it must be closed then.

        ``cancelled`` is a descriptor that becomes readable when nobody wants the answer any more.
        """
        self.runs += 1
        with contextlib.ExitStack() as undo:
            stdout, stderr, *back = (_output_file(undo) for _ in range(2 + len(order.fetch)))
            answer = self._ask(order, (stdin, stdout, stderr), tuple(back), cancelled)
            undo.pop_all()
        fetched = dict(zip(order.fetch, back, strict=True))
        came = answer.get("fetched") or [False] * len(fetched)
        for (name, descriptor), is_there in zip(list(fetched.items()), came, strict=True):
            if not is_there:
                os.close(descriptor)
                del fetched[name]
        return RunReport(
            answer["code"], answer["cpu"], answer["wall"], answer["peak_kb"] / 1024, stdout, stderr,
            answer["ended_by"], answer.get("fault"), bool(answer.get("compile_error")), fetched,
        )  # fmt: skip

    def _ask(
        self, order: RunOrder, streams: tuple[int, int, int], back: tuple[int, ...], cancelled: int | None
    ) -> dict[str, Any]:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with ours:
            with theirs:
                descriptors = array.array("i", [*streams, theirs.fileno(), *order.files.values(), *back])
                try:
                    self._control.sendmsg(
                        [json.dumps(order.to_json()).encode()], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, descriptors)]
                    )
                except OSError as error:
                    raise WorkerLostError(sentence("{text}", text=str(error))) from None
            if cancelled is not None and ours.fileno() not in readable([ours.fileno(), cancelled], None):
                raise RunCancelledError  # closing our end tells the worker
            message = ours.recv(_BIGGEST_PACKET)
        if not message:
            raise WorkerLostError(sentence("the worker ended during a run"))
        answer: dict[str, Any] = json.loads(message)
        return answer

    def close(self) -> None:
        """End the process and everything it started."""
        self._control.close()
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        if self._process.stderr is not None:
            self._process.stderr.close()
        if self._box != "/box":
            with contextlib.suppress(OSError):
                box.empty(self._box)
                os.rmdir(self._box)


def _output_file(undo: contextlib.ExitStack) -> int:
    descriptor = anonymous_files.anonymous_file("output")
    undo.callback(os.close, descriptor)
    return descriptor


def _spawn(plan: WorkerPlan, far: socket.socket) -> subprocess.Popen[bytes]:
    executor = str(places.WORKER_FOLDER.parent)
    command = [
        places.interpreter(), "-I", "-S", "-B", "-c", _BOOT, executor, str(WORKER_FOLDER.parent), str(far.fileno()),
    ]  # fmt: skip
    if plan.tier == "A":
        program = places.bubblewrap()
        if program is None:
            raise WorkerLostError(sentence("bubblewrap is not installed"))
        command = places.bubblewrap_command(
            program, plan.readable, command, own_namespace=plan.own_namespace or os.getuid() != 0,
            capabilities=_CAPABILITIES,
            mounts=_mounts(plan),
        )  # fmt: skip
    return subprocess.Popen(
        command, pass_fds=[far.fileno()], env=places.ENVIRONMENT, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd="/",
    )  # fmt: skip


def _mounts(plan: WorkerPlan) -> tuple[str, ...]:
    """What a worker has beside the binds. Where something is bound below /tmp, that cannot lead to the box as well;
    programs are told of the box by TMPDIR in any case.
    """
    bound = {place for path in plan.readable for place in (path, os.path.realpath(path))}
    free = not any(place.startswith(_TEMPORARY + "/") for place in bound)
    temporary = ("--symlink", "/box", _TEMPORARY) if free else ()
    return (*_MOUNTS, *temporary, *(("--ro-bind", plan.prepared, _PREPARED_PLACE) if plan.prepared else ()))


def _own_user(plan: WorkerPlan) -> int | None:
    """A user that no other process has, where this process may give one away."""
    if os.getuid() != 0 or (plan.tier == "A" and plan.own_namespace):
        return None
    return _FIRST_USER + (os.getpid() % 50_000) * 4_000 + next(_numbers) % 4_000


def _filters(plan: WorkerPlan) -> dict[str, str]:
    if sys.platform != "linux" or plan.tier == "C":
        return {}
    wanted = {
        "program": (_FOR_PROGRAMS, True), "lone_program": (_FOR_PROGRAMS, False), "compiler": (_FOR_COMPILERS, True),
    }  # fmt: skip
    filters = {}
    for name, (allowed, own_processes) in wanted.items():
        compiled = syscall_filter.build_program_filter(allowed, own_processes=own_processes)
        if compiled is None:
            raise WorkerLostError(syscall_filter.missing_reason())
        filters[name] = b64encode(compiled).decode()
    return filters


class WorkerPool:
    """Lends workers, starts them when needed, and replaces them. Thread-safe."""

    def __init__(
        self, readable: Sequence[str], require: Tier | None, plans: Sequence[WorkerPlan] = (), *, prepared: Path
    ) -> None:
        self._readable = tuple(readable)
        self._prepared = str(prepared) if prepared.is_dir() else ""
        self._require = require
        self._plans = tuple(plans) or machine_plans()
        self._lock = threading.Lock()
        self._choosing = threading.Lock()
        self._idle: list[Worker] = []
        self._lent: set[Worker] = set()
        self._best: WorkerPlan | None = None
        self._isolation: Isolation | None = None
        self._closed = False
        self.started = 0
        self.replaced = 0

    def borrow(self) -> Worker:
        """Take an idle worker, or start one. Raises DependencyError where none can be started."""
        with self._lock:
            if self._closed:
                raise DependencyError("The code judge is closed.")
            if self._idle:
                self._lent.add(self._idle[-1])
                return self._idle.pop()
        plan = self._choose()
        try:
            worker = Worker(plan)
        except WorkerLostError as error:
            raise DependencyError("A worker of the code judge cannot be started: {why}.", why=error.why) from None
        with self._lock:
            self.started += 1
            self._lent.add(worker)
        return worker

    def give_back(self, worker: Worker, *, broken: bool = False) -> None:
        """Take a worker back; one that is broken or worn is ended."""
        keep = not broken and not worker.is_worn
        with self._lock:
            self._lent.discard(worker)
            keep = keep and not self._closed
            if keep:
                self._idle.append(worker)
            else:
                self.replaced += 1
        if not keep:
            worker.close()

    def isolation(self) -> Isolation:
        """How programs are confined here. Raises DependencyError where they cannot be run as required."""
        self._choose()
        assert self._isolation is not None  # noqa: S101 -- set together with the plan
        return self._isolation

    def seen(self, place: Path | None) -> str | None:
        """What workers call a place below the prepared folder."""
        return self._choose().seen(place) if place else None

    def close(self) -> None:
        """End every worker, and with them the runs in progress."""
        with self._lock:
            self._closed = True
            lent = list(self._lent)
        self.drain()
        for worker in lent:
            worker.close()

    def drain(self) -> None:
        """End every idle worker; new ones are started when they are needed."""
        with self._lock:
            idle, self._idle = self._idle, []
        for worker in idle:
            with contextlib.suppress(OSError):
                worker.close()

    def _choose(self) -> WorkerPlan:
        """Try the tiers from the best down, once; the first whose self-test passes is this machine's."""
        with self._choosing:
            if self._best is not None:
                return self._best
            lacks: list[Sentence] = []
            for candidate in self._plans:
                if self._require is not None and candidate.tier > self._require:
                    break
                plan = replace(candidate, readable=self._readable, prepared=self._prepared)
                try:
                    worker = Worker(plan)
                except WorkerLostError as error:
                    lacks.append(sentence("tier {tier}: {why}", tier=plan.tier, why=error.why))
                    continue
                if worker.failures:
                    template = "tier {tier}: a confined process could {deed}"
                    lacks += [sentence(template, tier=plan.tier, deed=deed) for deed in worker.failures]
                    worker.close()
                    continue
                self._best, self._isolation = plan, _isolation(worker, lacks)
                self.started += 1
                self.give_back(worker)
                return plan
        reasons = "; ".join(map(str, lacks)) or "-"
        raise DependencyError(
            "Isolation tier {required} is required and this machine does not offer it to programs: {reasons}.",
            required=self._require or "C", reasons=reasons,
            remedy="Install bubblewrap and libseccomp, or require a lower tier.",
        )  # fmt: skip


def _isolation(worker: Worker, lacks: Sequence[Sentence]) -> Isolation:
    tier = worker.plan.tier
    layers = {"A": ("bubblewrap", "landlock", "seccomp"), "B": ("landlock", "seccomp"), "C": ()}[tier]
    more = () if worker.may_fork else (_NO_PROCESSES,)
    return Isolation(tier, (*layers, "rlimits"), (*lacks, *more, *((_LIMITS_ALONE,) if tier == "C" else ())))


_NO_PROCESSES = sentence("The number of processes cannot be limited here, so programs may not start any.")
_LIMITS_ALONE = sentence(
    "Nothing but resource limits keeps programs from files and other programs: judge only your own."
)


def machine_plans() -> tuple[WorkerPlan, ...]:
    """What to try on this machine, best first."""
    return tuple(WorkerPlan(tier, own_namespace) for tier, own_namespace in machine_tiers())
