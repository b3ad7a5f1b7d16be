"""Filling one folder with requirements by pip or uv: watched for time and size, told line by line, ended when asked.

Invariant: only wheels are installed, so no setup code runs here; everything the installer writes but its own cache is
below the one folder that its caller throws away.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import selectors
import shutil
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rewards_lib.contract import Sentence, sentence
from rewards_lib.errors import DependencyError
from rewards_lib.executor.stopping import StopSwitch

if TYPE_CHECKING:
    from packaging.requirements import Requirement

INSTALL_SECONDS = 600.0
MOST_BYTES = 4 << 30
LEAST_FREE_BYTES = 256 << 20
"""What an installation must leave on the disk."""
_LOOK_SECONDS = 0.2
_WEIGH_SECONDS = 1.0
_MOST_LINE_BYTES = 2_000
_MOST_LINES = 400
_CAUSES = ("cause:", "╰─▶")


def _say_nothing(_line: Sentence) -> None:
    """Nobody watches."""


@dataclass(frozen=True)
class InstallWatch:
    """Who watches an installation, and may end it."""

    report: Callable[[Sentence], None] = _say_nothing
    """Called with each line of the installer, and with what is waited for."""
    stop: StopSwitch = field(default_factory=StopSwitch)
    seconds: float = INSTALL_SECONDS
    most_bytes: int = MOST_BYTES


@contextmanager
def alone(path: Path, watch: InstallWatch) -> Iterator[None]:
    """Hold a lock among processes and threads while one of them installs; others are told that they wait."""
    with path.open("w") as file:
        told = False
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if not told:
                    watch.report(sentence("Waiting for another installation …"))
                    told = True
                if watch.stop.is_pressed:
                    raise _cancelled() from None
                time.sleep(_LOOK_SECONDS)
        yield


def install_wheels(requirements: Sequence[Requirement], building: Path, watch: InstallWatch) -> Path:
    """Install into ``site`` below a folder and return it.

    Raises DependencyError when the installer fails, reaches a limit or is cancelled; the folder is the caller's to
    throw away then.
    """
    site, scratch = building / "site", building / "scratch"
    site.mkdir(mode=0o755)
    scratch.mkdir()
    lines: deque[str] = deque(maxlen=_MOST_LINES)
    with _started(_command(requirements, site), scratch) as process:
        for line in _lines(process, building, watch):
            lines.append(line)
            watch.report(sentence("{text}", text=line))
        status = process.wait()
    shutil.rmtree(scratch, ignore_errors=True)
    if status != 0:
        raise DependencyError("The requirements cannot be installed: {why}.", why=_reason(lines))
    _refuse_too_large(building, watch)
    _make_readable(site)
    return site


def _command(requirements: Sequence[Requirement], site: Path) -> list[str]:
    uv = shutil.which("uv")
    if uv:
        command = [uv, "pip", "install", "--python", sys.executable, "--no-progress", "--color", "never"]
    else:
        command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--no-compile"]
        command += ["--progress-bar", "off", "--no-color"]
    lines = [str(requirement) for requirement in requirements]
    return [*command, "--only-binary", ":all:", "--target", str(site), "--", *lines]


@contextmanager
def _started(command: Sequence[str], scratch: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run the installer in a process group of its own, which ends with the block."""
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
        env={**os.environ, "TMPDIR": str(scratch), "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def _lines(process: subprocess.Popen[bytes], building: Path, watch: InstallWatch) -> Iterator[str]:
    """Yield what the installer prints until it ends; raises DependencyError at a limit or when it is cancelled."""
    deadline, weighed, rest = time.monotonic() + watch.seconds, time.monotonic(), b""
    if process.stdout is None:
        raise ValueError("the process has no pipe")
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while True:
            now = time.monotonic()
            if watch.stop.is_pressed:
                raise _cancelled()
            if now > deadline:
                raise DependencyError("Installing the requirements took more than {limit:g} s.", limit=watch.seconds)
            if now - weighed > _WEIGH_SECONDS:
                weighed = now
                _refuse_too_large(building, watch)
            if not selector.select(_LOOK_SECONDS):
                continue
            data = os.read(process.stdout.fileno(), 1 << 16)
            *whole, rest = (rest + data).split(b"\n")
            rest = rest[-_MOST_LINE_BYTES:]
            for line in whole if data else [rest]:
                text = line[:_MOST_LINE_BYTES].decode("utf-8", "replace").strip()
                if text:
                    yield text
            if not data:
                return


def _refuse_too_large(building: Path, watch: InstallWatch) -> None:
    size = 0
    for folder, _, files in os.walk(building):
        for name in files:
            with contextlib.suppress(OSError):  # the installer moves files meanwhile
                size += os.lstat(os.path.join(folder, name)).st_size
    if size > watch.most_bytes:
        raise DependencyError("The requirements take more than {limit} MB.", limit=watch.most_bytes >> 20)
    if shutil.disk_usage(building).free < LEAST_FREE_BYTES:
        raise DependencyError("The disk is nearly full: {folder}.", folder=str(building.parent))


def _cancelled() -> DependencyError:
    return DependencyError("Installing was cancelled; nothing of it is left.")


def _reason(printed: Sequence[str]) -> str:
    """The installer's own words: the cause that uv gives, else the first error line, else the last line."""
    lines = [line.strip() for line in printed if line.strip()]
    causes = [line for line in lines if line.startswith(_CAUSES)]
    telling = [line for line in lines if line.lower().startswith(("error", "x ", "×"))]
    line = (causes or telling or lines[-1:] or ["the installer failed"])[0]
    for prefix in (*_CAUSES, "ERROR: ", "error: "):
        line = line.removeprefix(prefix).strip()
    return line.rstrip(".")


def _make_readable(site: Path) -> None:
    """Let the worker's user read the files whatever this process's umask is."""
    for folder, _, files in os.walk(site):
        os.chmod(folder, 0o755)  # noqa: S103  # the worker runs as another user
        for name in files:
            path = os.path.join(folder, name)
            if not os.path.islink(path):
                os.chmod(path, 0o755 if os.access(path, os.X_OK) else 0o644)
