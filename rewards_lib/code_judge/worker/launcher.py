"""The warm process that runs programs one after another, each in a child that is confined before it starts.

It takes requests over one packet socket, with descriptors: standard input, output, error, a status socket, then the
files to place, then the files to bring back. Invariant: when a request is answered none of its processes is alive and
its folder is empty; where that cannot be had, this process ends and with it everything it started.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import resource
import shutil
import signal
import socket
import stat
import sys
import zipfile
from base64 import b64decode
from collections.abc import Iterator
from typing import Any

from rewards_lib.code_judge.worker import box, child, process_watch, selftest
from rewards_lib.executor.worker import confine

Row = dict[str, Any]
_BIGGEST_PACKET = 1 << 20
_MOST_FDS = 250
_STACK_BYTES = 256 << 20
_OFTEN_USED = (
    "bisect", "collections", "copy", "datetime", "decimal", "fractions", "functools", "heapq", "io", "itertools",
    "math", "operator", "random", "re", "statistics", "string", "threading", "traceback", "typing",
)  # fmt: skip
"""What programs import most: loaded once, each program gets its own copy of the fresh modules."""


class Launcher:
    """The state of the warm process."""

    def __init__(self, control: socket.socket, config: Row) -> None:
        self._control = control
        self.box: str = config["box"]
        self.uid: int | None = config["uid"]
        """The user of the programs; None leaves the own one."""
        self.tier: str = config["tier"]
        self.keeps_reading: bool = config["keep_reading"]
        """An interpreter or compiler lies in a private folder; landlock bounds what is read of it."""
        self.owns_namespace = os.getpid() == 1
        """Every process that is visible here was started by a program."""
        self._limits_processes: bool = self.owns_namespace or self.uid is not None
        self.filters: dict[str, bytes] = {name: b64decode(code) for name, code in config["filters"].items()}

    def prepare(self) -> Row:
        """Load what programs use, prove the confinement, and say what is in force."""
        for name in _OFTEN_USED:
            importlib.import_module(name)
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # no handler: a program could send it to process 1
        if sys.platform == "linux":
            confine.hide_from_debuggers()
            if not self.owns_namespace:
                confine.adopt_orphans()
                confine.die_with_parent(signal.SIGKILL)
        failures, self._limits_processes = selftest.run(self)
        return {"ready": True, "failures": failures, "forks": self._limits_processes}

    @property
    def may_fork(self) -> bool:
        """Whether a program may start processes: only where their number is limited, and their end certain."""
        return self._limits_processes

    def serve(self) -> None:
        """Take requests until the host is gone."""
        while True:
            message, descriptors = _receive(self._control)
            if not message:
                return
            self._take(json.loads(message), descriptors)
            box.empty(self.box)

    def _take(self, request: Row, descriptors: list[int]) -> None:
        stdin, stdout, stderr, status, *files = descriptors
        placed, back = files[: len(request["files"])], files[len(request["files"]) :]
        try:
            answer = self.run(request, (stdin, stdout, stderr), status, placed)
            if answer["code"] == 0 or not request.get("only_success", True):
                answer["fetched"] = [
                    self._bring_back(name, fd) for name, fd in zip(request["fetch"], back, strict=True)
                ]
            with contextlib.suppress(OSError):  # the host has turned away
                os.write(status, json.dumps(answer).encode())
        finally:
            for descriptor in descriptors:
                os.close(descriptor)

    def run(self, request: Row, streams: tuple[int, int, int], status: int, files: list[int]) -> Row:
        """Run one program to its end and return how it went; nothing of it lives afterwards."""
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            child.start(self, request, streams, files, writing)
        os.close(writing)
        watch = process_watch.ProcessWatch(pid, request["limits"], self._processes_of)
        ended_by = watch.wait(status)
        code, usage = self._end(pid, ended_by)
        with os.fdopen(reading, "rb") as setup:
            said = setup.read(65536)
        return {
            "code": code, "cpu": usage.cpu, "wall": watch.elapsed, "peak_kb": usage.peak_kb, "ended_by": ended_by,
            **(json.loads(said) if said else {}),
        }  # fmt: skip

    def _processes_of(self, pid: int) -> list[str]:
        """The ids of a running program's processes, as far as this process can tell them from others."""
        if self.owns_namespace:
            return [name for name in os.listdir("/proc") if name.isdigit() and name != "1"]
        if self.uid is not None:
            return [name for name in os.listdir("/proc") if name.isdigit() and _owner(name) == self.uid]
        return [str(pid)]

    def _end(self, pid: int, ended_by: str | None) -> tuple[int, process_watch.Usage]:
        """Reap the program and kill and reap what it left; negative codes are signals."""
        if ended_by:
            os.kill(pid, signal.SIGKILL)
        _, status, first = os.wait4(pid, 0)
        usage = process_watch.Usage()
        usage.add(first)
        self._kill_others(pid)
        while True:
            try:
                _, _, more = os.wait4(-1, 0 if self._all_are_killed() else os.WNOHANG)
            except ChildProcessError:
                break
            if not more.ru_maxrss and not self._all_are_killed():
                break
            usage.add(more)
        return os.waitstatus_to_exitcode(status), usage

    def _all_are_killed(self) -> bool:
        return self.owns_namespace or self.uid is not None

    def _kill_others(self, pid: int) -> None:
        """Kill whatever the program started and left behind."""
        if self.owns_namespace:
            with contextlib.suppress(ProcessLookupError):
                os.kill(-1, signal.SIGKILL)  # process 1 itself is left out
        elif self.uid is not None:
            _kill_all_of(self.uid)
        else:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(pid, signal.SIGKILL)

    # --- files -----------------------------------------------------------------------------------------------------

    def _bring_back(self, name: str, target: int) -> bool:
        """Copy a file of the box, or as ``*.class`` all of a kind packed as a zip, to the host's descriptor."""
        if name.startswith("*"):
            with os.fdopen(os.dup(target), "wb") as file, zipfile.ZipFile(file, "w") as archive:
                for entry in sorted(self._files()):
                    content = self._open(entry) if entry.endswith(name[1:]) else None
                    if content is not None:
                        with os.fdopen(content, "rb") as source:
                            archive.writestr(entry, source.read())
            return True
        source_fd = self._open(name)
        if source_fd is None:
            return False
        with os.fdopen(source_fd, "rb") as source, os.fdopen(os.dup(target), "wb") as file:
            shutil.copyfileobj(source, file, 1 << 20)
        return True

    def _files(self) -> Iterator[str]:
        """The names of all files, those in folders of the box included."""
        for folder, _, names in os.walk(self.box):
            yield from (os.path.relpath(os.path.join(folder, name), self.box) for name in names)

    def _open(self, name: str) -> int | None:
        """Open a plain file of the box; a link, which could lead out of it, counts as missing."""
        try:
            found = os.open(os.path.join(self.box, name), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return None
        if stat.S_ISREG(os.fstat(found).st_mode):
            return found
        os.close(found)
        return None


def _owner(process: str) -> int | None:
    try:
        return os.stat(f"/proc/{process}").st_uid
    except OSError:
        return None


def _kill_all_of(uid: int) -> None:
    """Kill every process of a user that this launcher has for itself, as that user."""
    killer = os.fork()
    if killer == 0:
        confine.become_nobody(keep_reading=False, user=uid)
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)  # no process but the programs' has this user
        os._exit(0)
    os.waitpid(killer, 0)


def _receive(control: socket.socket) -> tuple[bytes, list[int]]:
    message, descriptors, _flags, _address = socket.recv_fds(control, _BIGGEST_PACKET, _MOST_FDS)
    return message, list(descriptors)


def _with_deep_stack() -> None:
    """Start anew with a large stack limit: the room below the stack is laid out when a program starts."""
    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    wanted = _STACK_BYTES if hard == resource.RLIM_INFINITY else min(_STACK_BYTES, hard)
    if soft != wanted:
        resource.setrlimit(resource.RLIMIT_STACK, (wanted, hard))
        os.execv(sys.executable, sys.orig_argv)


def main() -> None:
    """Greet the host and serve it."""
    _with_deep_stack()
    control = socket.socket(fileno=int(sys.argv[1]))
    control.set_inheritable(False)
    launcher = Launcher(control, json.loads(control.recv(_BIGGEST_PACKET)))
    control.send(json.dumps(launcher.prepare()).encode())
    launcher.serve()
