"""What happens in the child between the fork and the program: streams, files, limits, confinement, start.

Invariant: the program starts behind every layer or not at all; a step that fails is told to the launcher as a fault of
the judge, never left to look like a fault of the program.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import resource
import signal
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from rewards_lib.code_judge.worker import python_program
from rewards_lib.executor.worker import confine

if TYPE_CHECKING:
    from rewards_lib.code_judge.worker.launcher import Launcher

Row = dict[str, Any]
_ABOVE = 512
"""Above every descriptor that the launcher holds; with the most that come with a request still below 1,024."""
_DEVICES = ("/dev/null", "/dev/urandom", "/dev/random")
_SYSTEM_FACTS = ("/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/sys/vm", "/proc/sys/kernel/random")


def start(launcher: Launcher, request: Row, streams: tuple[int, int, int], files: list[int], setup: int) -> NoReturn:
    """Become the program of a request. ``setup`` takes a JSON row when there is something to say before it runs."""
    try:
        setup = _take_streams(streams, files, setup)
        confine_program(launcher, request, setup + 1)
        if request["python"]:
            code = _compiled(request["python"]["file"], setup)
            os.close(setup)
            if request["python"].get("only_compile"):
                os._exit(0)
            python_program.run(code, request["python"], _environment(launcher, request))
        os.execve(request["command"][0], request["command"], _environment(launcher, request))
    except BaseException as error:
        with contextlib.suppress(OSError):
            _tell(setup, {"fault": f"{type(error).__name__}: {error}"})
    finally:
        os._exit(1)


def _take_streams(streams: tuple[int, int, int], files: list[int], setup: int) -> int:
    """Put the streams to 0, 1, 2, the setup pipe to 3 and the files after it, and close everything else."""
    os.setsid()
    wanted = (*streams, setup, *files)
    moved = [os.dup2(fd, _ABOVE + place, inheritable=False) for place, fd in enumerate(wanted)]
    for place, fd in enumerate(moved):
        os.dup2(fd, place, inheritable=place < 3)
    os.closerange(len(wanted), _ABOVE + len(wanted))
    return 3


def confine_program(launcher: Launcher, request: Row, first_file: int) -> None:
    """Set the limits, change the user, place the files, and load landlock and the system call filter."""
    _limit(request["limits"])
    if launcher.uid is not None:
        confine.become_nobody(
            keep_reading=launcher.keeps_reading, user=launcher.uid, hands_on=_lies_outside(request["command"])
        )
    os.chdir(launcher.box)
    os.umask(0o077)
    for place, name in enumerate(request["files"]):
        _place(first_file + place, name)
    if sys.platform != "linux":
        return
    if not launcher.owns_namespace:
        confine.die_with_parent(signal.SIGKILL)  # after the change of user, which would clear it
    confine.forbid_new_privileges()
    own = [name if not name.startswith("./") else os.path.join(launcher.box, name[2:]) for name in request["runnable"]]
    if launcher.tier != "C":
        readable = [*request["readable"], *_SYSTEM_FACTS, f"/proc/{os.getpid()}"]
        confine.restrict_files(readable, _DEVICES, runnable=own, writable=[launcher.box])
    if launcher.filters:
        kind = request["filter"] if launcher.may_fork or request["filter"] == "compiler" else "lone_program"
        confine.load_filter(launcher.filters[kind])


def _lies_outside(command: list[str]) -> bool:
    """Whether a command is the system's, which may lie in a private folder; a program's own binary reads none."""
    return bool(command) and not command[0].startswith("./")


def _environment(launcher: Launcher, request: Row) -> dict[str, str]:
    return {name: value.replace("{box}", launcher.box) for name, value in request["environment"].items()}


def _limit(limits: Row) -> None:
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    confine.limit_resources(
        cpu_seconds=math.ceil(limits["cpu_seconds"]), memory_bytes=limits["data_bytes"],
        processes=limits["processes"], descriptors=256, file_bytes=limits["output_bytes"],
    )  # fmt: skip
    hard = resource.getrlimit(resource.RLIMIT_STACK)[1]
    stack = limits["stack_bytes"]
    resource.setrlimit(resource.RLIMIT_STACK, (stack if hard == resource.RLIM_INFINITY else min(stack, hard), hard))


def _place(source: int, name: str) -> None:
    if "/" in name:
        os.makedirs(os.path.dirname(name), exist_ok=True)
    target = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o700)
    size, offset = os.fstat(source).st_size, 0
    while offset < size:
        offset += os.sendfile(target, source, offset, size - offset)
    os.close(target)
    os.close(source)


def _compiled(file: str, setup: int) -> Any:
    """Compile a Python program; what is no Python is told as the compiler's message, and the child ends."""
    with open(file, "rb") as source:
        text = source.read()
    try:
        return compile(text, file, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError) as error:
        python_program.print_error(error)
        _tell(setup, {"compile_error": True})
        os._exit(1)


def _tell(setup: int, row: Row) -> None:
    os.write(setup, json.dumps(row).encode()[:65536])
