"""What a request must bring before anything looks at it: a trusted host, the token, JSON of a bearable size.

An ASGI middleware; it also gives every answer the headers that keep it out of caches, frames and guesses. Invariant: a
request that is refused here costs no scoring and is logged like any other.
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
import time
from collections.abc import Awaitable, Callable, MutableMapping
from datetime import UTC, datetime
from typing import Any, TypeAlias

from rewards_lib.contract import JsonObject, write_json
from rewards_lib.serving.handler import Facts
from rewards_lib.serving.metrics import ServiceMetrics
from rewards_lib.serving.request_log import RequestLog
from rewards_lib.serving.settings import ServiceSettings

Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
Application: TypeAlias = Callable[[Message, Receive, Send], Awaitable[None]]

FACTS = "reward_facts"
"""The key of an ASGI scope under which a route leaves what the log tells."""
OPEN_PATHS = ("/healthz", "/readyz")
"""Answered without a token: those who restart services have none."""
HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
)


class Gate:
    """Stands before the application and writes the log."""

    def __init__(self, inner: Application, settings: ServiceSettings, log: RequestLog, metrics: ServiceMetrics) -> None:
        self._inner = inner
        self._settings = settings
        self._log = log
        self._metrics = metrics
        self._hosts = frozenset(
            {"localhost", settings.host.lower(), *(name.lower() for name in settings.trusted_hosts)}
        )

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Let a request through, or refuse it."""
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return
        scope[FACTS] = Facts()
        request_id, started, status = secrets.token_hex(8), time.perf_counter(), 0

        async def tell(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                extra = [*HEADERS, (b"x-request-id", request_id.encode())]
                message["headers"] = [*message.get("headers", []), *extra]
                self._write(scope, request_id, status, time.perf_counter() - started)
            await send(message)

        refusal = self._refusal(scope)
        if refusal is not None:
            scope[FACTS] = Facts(status="failure", error=refusal[1])
            await _refuse(tell, *refusal)
            return
        await self._inner(scope, receive, tell)

    def _refusal(self, scope: Message) -> tuple[int, str, str] | None:
        """HTTP status, sentence and code for a request that goes no further."""
        headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
        if not self._trusts(headers.get(b"host", "")):
            return 400, "This name of the host is not trusted here. Start the service with --trusted-host NAME.", "host"
        if scope["path"] not in OPEN_PATHS and not self._is_allowed(headers.get(b"authorization", "")):
            return 401, "The bearer token is missing or wrong. Send Authorization: Bearer TOKEN.", "token"
        if scope["method"] != "POST":
            return None
        kind = headers.get(b"content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            return 415, "The body must be JSON. Send Content-Type: application/json.", "content_type"
        length = headers.get(b"content-length", "")
        if length.isdigit() and int(length) > self._settings.body_bytes:
            return 413, too_large(self._settings.body_bytes), "size"
        return None

    def _trusts(self, host: str) -> bool:
        """Names can be pointed at any address by whoever owns them (DNS rebinding); addresses in digits cannot."""
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
        name = name.strip("[]").lower()
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return name in self._hosts
        return True

    def _is_allowed(self, authorization: str) -> bool:
        if not self._settings.token:
            return True
        scheme, _, given = authorization.partition(" ")
        return scheme.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), self._settings.token.encode())

    def _write(self, scope: Message, request_id: str, status: int, seconds: float) -> None:
        if scope["path"] in OPEN_PATHS or scope["path"] == "/metrics":
            return  # who watches a service every few seconds must not drown its requests
        facts: Facts = scope[FACTS]
        client = scope.get("client")
        row: JsonObject = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"), "id": request_id,
            "method": scope["method"], "path": scope["path"][:300], "http_status": status,
            "ms": round(seconds * 1000, 3), "client": client[0] if client else "",
            **{key: round(value, 3) if isinstance(value, float) else value for key, value in facts.items()},
        }  # fmt: skip
        row["error"] = str(row["error"])[:2_000]
        self._log.write(row)
        if scope["method"] == "POST":
            self._metrics.count(facts, status, seconds)


def too_large(most_bytes: int) -> str:
    """The sentence for a body above the limit."""
    return f"The request is larger than {most_bytes >> 20} MB. Send one group of completions a request."


async def _refuse(send: Send, status: int, error: str, code: str) -> None:
    body = write_json({"status": "failure", "error": error, "code": code}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    if status in (413, 415):
        headers.append((b"connection", b"close"))  # the body was not read
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
