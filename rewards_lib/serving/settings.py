"""How a service runs: where it listens, who may ask, how much it takes on.

Invariant: nothing but loopback is served without a token.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from rewards_lib.data_directory import data_directory
from rewards_lib.errors import InputError
from rewards_lib.http_guard import check_address

DEFAULT_PORT = 8601
PORT_VARIABLE = "REWARD_CONSOLE_SERVICE_PORT"
CODE_JUDGE_PATHS = ("/submit", "/run_code")


@dataclass(frozen=True, slots=True)
class ServiceSettings:
    """The settings of one service; ``checked`` refuses those that would be unsafe."""

    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    token: str = field(default="", repr=False)
    """Every request but those for health needs it as a bearer token; empty: none does."""
    trusted_hosts: tuple[str, ...] = ()
    """Names that a request's Host may have, besides ``localhost`` and addresses in digits."""
    at_once: int = field(default_factory=lambda: max(8, 4 * (os.cpu_count() or 1)))
    """Requests that are scored at the same time."""
    workers: int = field(default_factory=lambda: os.cpu_count() or 1)
    """Workers that stay for mixes of presets."""
    most_waiting: int = 256
    """Requests that wait for their turn; one more is answered 503."""
    wait_seconds: float = 30.0
    """How long a request waits for its turn before it is answered 503."""
    body_bytes: int = 32 << 20
    code_judge_hosts: tuple[str, ...] | None = None
    """Where the code judge's tests may be fetched from; None serves no code judge."""
    drain_seconds: float = 30.0
    """How long requests in progress may take after the service was told to stop."""

    @property
    def url(self) -> str:
        """The address to paste."""
        shown = "127.0.0.1" if self.host in ("0.0.0.0", "::", "") else self.host  # noqa: S104 -- compared, not bound
        return f"http://[{shown}]:{self.port}" if ":" in shown else f"http://{shown}:{self.port}"

    @property
    def folder(self) -> Path:
        """Where this service keeps its log and its whereabouts."""
        return service_folder(self.port)

    def checked(self) -> ServiceSettings:
        """These settings. Raises InputError when they would let strangers in or cannot work."""
        if not 0 < self.port < 65536:
            raise InputError("A port is a number from 1 to 65535.", where="--port")
        check_address(self.host, self.token)
        return self


def usual_port() -> int:
    """The port where nothing else is said: of ``REWARD_CONSOLE_SERVICE_PORT``, else 8601."""
    given = os.environ.get(PORT_VARIABLE, "").strip()
    if not given:
        return DEFAULT_PORT
    if not (given.isascii() and given.isdigit() and 0 < int(given[:6]) < 65536):
        raise InputError("{value} is not a port.", where=PORT_VARIABLE, value=given, remedy="Use 1 to 65535.")
    return int(given)


def service_folder(port: int) -> Path:
    """Where the service of a port keeps its log and its whereabouts."""
    return data_directory() / "service" / str(port)
