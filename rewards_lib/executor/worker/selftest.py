"""What a confined child must not be able to do, tried for real.

Invariant: a zygote takes no run before its own self-test has been read by the host.
"""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable

_MARK = f"reward-console-self-test-{os.getpid()}"

_MARK = f"reward-console-self-test-{os.getpid()}"


def _fork() -> None:
    if os.fork() == 0:
        os._exit(0)


def _read(path: str) -> None:
    with open(path, "rb") as file:
        file.read(1)


def _write(folder: str) -> None:
    os.close(os.open(os.path.join(folder, _MARK), os.O_CREAT | os.O_EXCL | os.O_WRONLY))


def _connect_by_path() -> None:
    with socket.socket(socket.AF_UNIX) as client:
        client.connect("/run/systemd/private")


TRIES: dict[str, Callable[[], object]] = {
    "start a process": _fork,
    "open a network socket": lambda: socket.socket(socket.AF_INET),
    "open a unix socket": lambda: socket.socket(socket.AF_UNIX),
    "connect to a unix socket by path": _connect_by_path,
    "read /etc/passwd": lambda: _read("/etc/passwd"),
    "read another process": lambda: _read(f"/proc/{os.getppid()}/environ"),
    "write to /tmp": lambda: _write("/tmp"),  # noqa: S108
    "write to the working directory": lambda: _write("."),
    "signal another process": lambda: os.kill(os.getppid(), 0),
    "change a file's mode": lambda: os.chmod("/", 0o755),  # noqa: S103
}
"""Each must fail with OSError."""


def failures() -> list[str]:
    """List what a confined process could do although it must not. Call it in a confined child only."""
    possible = []
    for what, attempt in TRIES.items():
        try:
            attempt()
        except OSError:
            continue
        possible.append(what)
    return possible


def run_in_child(confine: Callable[[], None]) -> list[str]:
    """Fork, confine, try everything, and return the failures; a child that dies is a failure too."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            confine()
            os.write(writing, "\n".join(failures()).encode() + b"\n.")
        except BaseException as error:
            os.write(writing, f"be confined: {error}\n.".encode())
        finally:
            os._exit(0)
    os.close(writing)
    signal.alarm(10)
    with os.fdopen(reading, "rb") as pipe:
        report = pipe.read().decode("utf-8", "replace")
    signal.alarm(0)
    os.waitpid(child, 0)
    if not report.endswith("."):
        return ["finish the self-test"]
    return [line for line in report[:-1].splitlines() if line]
