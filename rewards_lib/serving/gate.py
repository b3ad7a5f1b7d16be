"""The guard before the application, and the writer of its log.

An ASGI middleware. Invariant: a request that is refused here costs no scoring and is logged like any other.
"""

from __future__ import annotations

import secrets
import time
from datetime import UTC, datetime

from rewards_lib.contract import JsonObject
from rewards_lib.http_guard import HEADERS, Application, HttpGuard, Message, Receive, Send, send_refusal
from rewards_lib.serving.handler import Facts
from rewards_lib.serving.metrics import ServiceMetrics
from rewards_lib.serving.request_log import RequestLog
from rewards_lib.serving.settings import CODE_JUDGE_PATHS

CODE_JUDGE = "code_judge"
"""The dialect under which the log has what was asked of the code judge; no request for rewards."""
FACTS = "reward_facts"
"""The key of an ASGI scope under which a route leaves what the log tells."""
OPEN_PATHS = ("/healthz", "/readyz", "/v1/ping")
"""Answered without a token: those who restart services have none."""


class Gate:
    """Stands before the application and writes the log."""

    def __init__(self, inner: Application, guard: HttpGuard, log: RequestLog, metrics: ServiceMetrics) -> None:
        self._inner = inner
        self._guard = guard
        self._log = log
        self._metrics = metrics

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

        refusal = self._guard.refusal(scope)
        if refusal is not None:
            scope[FACTS] = Facts(status="failure", error=refusal.error)
            await send_refusal(tell, refusal)
            return
        await self._inner(scope, receive, tell)

    def _write(self, scope: Message, request_id: str, status: int, seconds: float) -> None:
        if scope["path"] in OPEN_PATHS or scope["path"] == "/metrics":
            return  # who watches a service every few seconds must not drown its requests
        facts: Facts = scope[FACTS]
        if scope["path"] in CODE_JUDGE_PATHS:
            facts.dialect, facts.status = CODE_JUDGE, "success" if status == 200 else "failure"
        client = scope.get("client")
        row: JsonObject = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"), "id": request_id,
            "method": scope["method"], "path": scope["path"][:300], "http_status": status,
            "ms": round(seconds * 1000, 3), "client": client[0] if client else "",
            **{key: round(value, 3) if isinstance(value, float) else value for key, value in facts.items()},
        }  # fmt: skip
        row["error"] = str(row["error"])[:2_000]
        self._log.write(row)
        if scope["method"] == "POST" and facts.dialect != CODE_JUDGE:
            self._metrics.count(facts, status, seconds)
