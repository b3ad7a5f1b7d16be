"""What a confined child must not be able to do, tried for real.

Invariant: a zygote takes no run before its own self-test has been read by the host.
"""

from __future__ import annotations

import json
import os
import signal
import socket
from collections.abc import Callable, Sequence
from typing import Any

from .refusals import Words, sentence

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


TRIES: list[tuple[Words, Callable[[], object]]] = [
    (sentence("start a process"), _fork),
    (sentence("open a network socket"), lambda: socket.socket(socket.AF_INET)),
    (sentence("open a unix socket"), lambda: socket.socket(socket.AF_UNIX)),
    (sentence("connect to a unix socket by path"), _connect_by_path),
    (sentence("read /etc/passwd"), lambda: _read("/etc/passwd")),
    (sentence("read another process"), lambda: _read(f"/proc/{os.getppid()}/environ")),
    (sentence("write to /tmp"), lambda: _write("/tmp")),  # noqa: S108
    (sentence("write to the working directory"), lambda: _write(".")),
    (sentence("signal another process"), lambda: os.kill(os.getppid(), 0)),
    (sentence("change a file's mode"), lambda: os.chmod("/", 0o755)),  # noqa: S103
]
"""Each must fail with OSError."""


Tries = Sequence[tuple[Words, Callable[[], object]]]


def failures(tries: Tries = TRIES) -> list[list[Any]]:
    """List, as JSON, what a confined process could do although it must not. Call it in a confined child only."""
    possible = []
    for what, attempt in tries:
        try:
            attempt()
        except OSError:
            continue
        possible.append(what.to_json())
    return possible


def run_in_child(
    confine: Callable[[], None], task: Callable[[], list[Any]] = failures, *, seconds: int = 10
) -> list[Any]:
    """Fork, confine, do the task, and return what it found; a child that dies is a failure too."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            confine()
            os.write(writing, json.dumps(task()).encode())
        except BaseException as error:
            words = sentence("not be confined: {error}", error=str(error))
            os.write(writing, json.dumps([words.to_json()]).encode())
        finally:
            os._exit(0)
    os.close(writing)
    signal.alarm(seconds)
    with os.fdopen(reading, "rb") as pipe:
        report = pipe.read()
    signal.alarm(0)
    os.waitpid(child, 0)
    try:
        found: list[Any] = json.loads(report)
    except ValueError:
        return [sentence("not finish the self-test").to_json()]
    return found
