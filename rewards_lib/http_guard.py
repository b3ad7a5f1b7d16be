"""What a request must bring before a service of ours looks at it: a trusted host, the token, JSON of a bearable size.

Invariant: nothing but loopback is served without a token; no web page gets anything scored or run, since what pages may
send to strangers without being asked is not JSON, and names that they point at this machine are not trusted here.
"""

from __future__ import annotations

import hmac
import ipaddress
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from rewards_lib.contract import JsonObject
from rewards_lib.errors import InputError, RewardConsoleError
from rewards_lib.strict_json import write_json

Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
Application: TypeAlias = Callable[[Message, Receive, Send], Awaitable[None]]

TOKEN_VARIABLE = "REWARD_CONSOLE_TOKEN"  # noqa: S105 -- the name of the variable
LEAST_TOKEN_CHARACTERS = 16
HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
"""Of every answer: they keep it out of caches, frames and guesses."""


class BodyTooLargeError(RewardConsoleError):
    """A body above the limit."""

    code, http_status = "size", 413


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request goes no further."""

    http_status: int
    error: str
    code: str


@dataclass(frozen=True, slots=True)
class HttpGuard:
    """The conditions of one service."""

    host: str
    """Where it listens; its name is trusted."""
    token: str = field(default="", repr=False)
    """What a request must bear; empty: nothing."""
    trusted_hosts: tuple[str, ...] = ()
    """Names that a request's Host may have, besides ``localhost`` and addresses in digits."""
    open_paths: tuple[str, ...] = ()
    """Answered without a token: those who restart services have none."""
    body_bytes: int = 32 << 20
    body_bytes_of: Mapping[str, int] = field(default_factory=dict)
    """Limits of paths that have one of their own."""

    def refusal(self, scope: Message) -> Refusal | None:
        """Why the request of an ASGI scope goes no further; None when it does."""
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}  # ASGI: names are in lower case
        if not self._trusts(headers.get(b"host", "")):
            told = "This name of the host is not trusted here. Start the service with --trusted-host NAME."
            return Refusal(400, told, "host")
        if scope["path"] not in self.open_paths and not self._is_allowed(headers.get(b"authorization", "")):
            return Refusal(401, "The bearer token is missing or wrong. Send Authorization: Bearer TOKEN.", "token")
        if scope["method"] != "POST":
            return None
        kind = headers.get(b"content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            return Refusal(415, "The body must be JSON. Send Content-Type: application/json.", "content_type")
        length, most = headers.get(b"content-length", ""), self.most_bytes(scope["path"])
        if length.isdecimal() and int(length[:20]) > most:
            return Refusal(413, str(_too_large(most)), "size")
        return None

    def most_bytes(self, path: str) -> int:
        """The size that a body sent to a path may have."""
        return self.body_bytes_of.get(path, self.body_bytes)

    def _trusts(self, host: str) -> bool:
        """Names can be pointed at any address by whoever owns them (DNS rebinding); addresses in digits cannot."""
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
        name = name.strip("[]").lower()
        if name == "localhost" or name == self.host.lower():
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return name in {trusted.lower() for trusted in self.trusted_hosts}
        return True

    def _is_allowed(self, authorization: str) -> bool:
        if not self.token:
            return True
        scheme, _, given = authorization.partition(" ")
        return scheme.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), self.token.encode())


def failure_row(error: str, code: str) -> JsonObject:
    """The body of every answer of a service that tells a failure; SandboxFusion's clients look for ``detail``."""
    return {"status": "failure", "error": error, "code": code, "detail": error}


async def send_refusal(send: Send, refusal: Refusal) -> None:
    """Answer a request that goes no further."""
    body = write_json(failure_row(refusal.error, refusal.code)).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if refusal.http_status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    if refusal.http_status in (413, 415):
        headers.append((b"connection", b"close"))  # the body was not read
    await send({"type": "http.response.start", "status": refusal.http_status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def read_body(stream: AsyncIterator[bytes], most_bytes: int) -> bytes:
    """A request's body. Raises BodyTooLargeError as soon as it has more than ``most_bytes``."""
    pieces, size = [], 0
    async for piece in stream:
        size += len(piece)
        if size > most_bytes:
            raise _too_large(most_bytes)
        pieces.append(piece)
    return b"".join(pieces)


def _too_large(most_bytes: int) -> BodyTooLargeError:
    return BodyTooLargeError(
        "The request is larger than {most} MB.", most=most_bytes >> 20, remedy="Send less in one request."
    )


def check_address(host: str, token: str) -> None:
    """Check where a service listens.

    Raises InputError where strangers would get in: beyond loopback without a token, or with a short one.
    """
    if not is_loopback(host) and not token:
        raise InputError(
            "The service listens on {host} only with a token.", where="--host", host=host,
            remedy="Set {variable} to a long secret, or leave --host out to serve this machine alone.",
            variable=TOKEN_VARIABLE,
        )  # fmt: skip
    if token and (len(token) < LEAST_TOKEN_CHARACTERS or not token.isascii()):
        raise InputError(
            "The token needs {least} ASCII characters at least.", where=TOKEN_VARIABLE, least=LEAST_TOKEN_CHARACTERS
        )


def is_loopback(host: str) -> bool:
    """Whether an address, or everything a name resolves to, is this machine's loopback."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        pass
    try:
        found = {info[4][0] for info in socket.getaddrinfo(host, None)}
    except OSError:
        return False
    return bool(found) and all(ipaddress.ip_address(str(address).partition("%")[0]).is_loopback for address in found)
