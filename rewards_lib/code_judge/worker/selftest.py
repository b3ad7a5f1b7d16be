"""What a confined program must not be able to do, tried for real before the first program runs.

Invariant: a launcher takes no program before the host has read its answer; processes may be started only where a small
harmless count has proved that their number is limited.
"""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rewards_lib.code_judge.worker import child
from rewards_lib.executor.worker import selftest
from rewards_lib.executor.worker.refusals import Words, sentence

if TYPE_CHECKING:
    from rewards_lib.code_judge.worker.launcher import Launcher

_SECONDS = 20
_FEW, _MORE = 6, 12
"""A limit on processes, and how many are tried against it: each only waits a moment."""


def run(launcher: Launcher) -> tuple[list[list[Any]], bool]:
    """Return the failures as JSON, and whether the number of processes is limited."""
    limited = launcher.may_fork and _in_child(launcher, _count_processes, "program") == [True]
    if launcher.tier == "C":
        return [], limited
    return _in_child(launcher, _failures, "lone_program"), limited


def _failures() -> list[Any]:
    return selftest.failures(_tries())


def _tries() -> list[tuple[Words, Callable[[], object]]]:
    return [
        (sentence("open a network socket"), lambda: socket.socket(socket.AF_INET)),
        (sentence("open a unix socket"), lambda: socket.socket(socket.AF_UNIX)),
        (sentence("read /etc/passwd"), lambda: _read("/etc/passwd")),
        (sentence("read another process"), lambda: _read(f"/proc/{os.getppid()}/environ")),
        (sentence("write beside its folder"), lambda: _write("/")),
        (sentence("write beside its folder"), lambda: _write("/var/tmp")),  # noqa: S108
        (sentence("start another program"), lambda: os.execv("/usr/bin/env", ["/usr/bin/env"])),
        (sentence("start a process"), _fork),
    ]


def _read(path: str) -> None:
    with open(path, "rb") as file:
        file.read(1)


def _write(folder: str) -> None:
    os.close(os.open(os.path.join(folder, f"code-judge-{os.getpid()}"), os.O_CREAT | os.O_EXCL | os.O_WRONLY))


def _fork() -> None:
    if os.fork() == 0:
        os._exit(0)


def _count_processes() -> list[Any]:
    """Whether starting a dozen processes fails under a limit of six."""
    started: list[int] = []
    refused = False
    for _ in range(_MORE):
        try:
            pid = os.fork()
        except BlockingIOError:
            refused = True
            break
        if pid == 0:
            time.sleep(5)
            os._exit(0)
        started.append(pid)
    for pid in started:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    return [refused]


def _in_child(launcher: Launcher, task: Callable[[], list[Any]], kind: str) -> list[Any]:
    """Do the task confined as a program, and return what it found."""
    return selftest.run_in_child(lambda: child.confine_program(launcher, _request(kind), 0), task, seconds=_SECONDS)


def _request(kind: str) -> dict[str, Any]:
    limits = {
        "cpu_seconds": 5, "data_bytes": 1 << 30, "processes": _FEW, "output_bytes": 1 << 20, "stack_bytes": 8 << 20,
    }  # fmt: skip
    return {"limits": limits, "command": [], "files": [], "runnable": [], "readable": [], "filter": kind}
