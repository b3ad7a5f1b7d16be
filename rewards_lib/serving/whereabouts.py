"""Where a service is: its process and address in a small file beside its log, and whether it still answers.

Invariant: a file left behind by a process that is gone is not taken for a service.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from rewards_lib.serving.settings import ServiceSettings, service_folder
from rewards_lib.strict_json import write_json
from rewards_lib.whole_files import write_whole

FILE_NAME = "service.json"
START_LOG = "start.log"
_ASK_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """A service that was started and its process lives."""

    pid: int
    host: str
    port: int
    started_at: str
    """UTC, ISO 8601."""

    @property
    def started(self) -> datetime:
        """The moment it was started."""
        return datetime.fromisoformat(self.started_at)


@contextmanager
def announced(settings: ServiceSettings) -> Iterator[None]:
    """Keep the file while the block runs."""
    path = settings.folder / FILE_NAME
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    own = Whereabouts(os.getpid(), settings.host, settings.port, datetime.now(UTC).isoformat(timespec="seconds"))
    with write_whole(path) as file:
        file.write(write_json(asdict(own)).encode())
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            path.unlink()


def find_service(port: int) -> Whereabouts | None:
    """The service of this user that listens on a port; None when there is none, or its process is gone."""
    try:
        row = json.loads((service_folder(port) / FILE_NAME).read_text(encoding="utf-8"))
        found = Whereabouts(int(row["pid"]), str(row["host"]), int(row["port"]), str(row["started_at"]))
        found.started  # noqa: B018 -- an unreadable time makes the file unreadable
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found if _is_service(found.pid) else None


def _is_service(pid: int) -> bool:
    """Whether a process lives and is no later one that was given the same number."""
    try:
        with contextlib.suppress(PermissionError):  # another user's: what it is can be read all the same
            os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:  # no /proc here
        return True
    return b"rewards_lib" in command and b"serve" in command


def answers(host: str, port: int) -> bool:
    """Whether something at an address says that it is healthy."""
    connection = http.client.HTTPConnection(host or "127.0.0.1", port, timeout=_ASK_SECONDS)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def start_service(port: int) -> subprocess.Popen[bytes]:
    """Start a service on loopback that ends with this process; it is ready when ``answers`` says so."""
    folder = service_folder(port)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (folder / START_LOG).open("wb") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "rewards_lib", "serve", "--port", str(port), "--with-parent"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log, cwd=Path(__file__).resolve().parents[2],
        )  # fmt: skip


def last_words(port: int) -> str:
    """The last line that a service which was started from here said; empty when it said nothing."""
    try:
        text = (service_folder(port) / START_LOG).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return (text.strip().splitlines() or [""])[-1]


def stop_service(found: Whereabouts, *, seconds: float = 35.0) -> bool:
    """Ask a service to finish what it is doing and end; True when it has ended within the time."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(found.pid, signal.SIGTERM)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            os.waitpid(found.pid, os.WNOHANG)  # our own child would otherwise stay as a zombie
        if not _is_service(found.pid):
            return True
        time.sleep(0.05)
    return False
