"""The judge over HTTP, as SandboxFusion's clients know it: ``/submit``, ``/run_code``, ``/v1/ping``, ``/healthz``.

Invariant: an answer with ``accepted`` is a verdict; whatever kept the judge from one is an error status with one
sentence in ``error``, and in ``detail``, where SandboxFusion's clients look: no client takes a fault of ours for a
wrong program.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from fastapi import APIRouter, FastAPI, Request, Response

from rewards_lib.code_judge.canary import Canary
from rewards_lib.code_judge.cancellation import Cancellation
from rewards_lib.code_judge.judge import MOST_SUBMISSIONS, CodeJudge
from rewards_lib.code_judge.responses import fault_response, run_response, submit_response
from rewards_lib.code_judge.submission import read_code_run, read_submission
from rewards_lib.contract import Json, JsonObject
from rewards_lib.errors import RewardConsoleError, boundary
from rewards_lib.http_guard import (
    HEADERS,
    TOKEN_VARIABLE,
    Application,
    HttpGuard,
    Message,
    Receive,
    Send,
    check_address,
    failure_row,
    read_body,
    send_refusal,
)
from rewards_lib.strict_json import read_json, write_json

MOST_BODY_BYTES = 128 << 20
OPEN_PATHS = ("/v1/ping",)
_LOOK_SECONDS = 0.25
_RETRY_AFTER_SECONDS = "2"
_T = TypeVar("_T")


def answering_threads() -> ThreadPoolExecutor:
    """Threads enough for all that a judge takes in at once; close them after the judge."""
    return ThreadPoolExecutor(MOST_SUBMISSIONS + 8, thread_name_prefix="code judge")


def router(judge: CodeJudge, threads: ThreadPoolExecutor) -> APIRouter:
    """The routes ``/submit``, ``/run_code`` and ``/v1/ping``, to be mounted into any application.

    They refuse no stranger: an ``HttpGuard`` belongs before the application.
    """
    routes = APIRouter(tags=["code judge"])

    @routes.post("/submit", summary="Judge a completion against tests", response_class=Response)
    async def submit(request: Request) -> Response:
        return await _answer(request, threads, lambda body, cancellation: _submit(judge, body, cancellation))

    @routes.post("/run_code", summary="Run a program once", response_class=Response)
    async def run_code(request: Request) -> Response:
        return await _answer(request, threads, lambda body, cancellation: _run_code(judge, body, cancellation))

    @routes.get("/v1/ping", summary="The process answers", response_class=Response)
    async def ping() -> Response:
        return _json("pong")

    return routes


def application(judge: CodeJudge, canary: Canary, threads: ThreadPoolExecutor, guard: HttpGuard) -> FastAPI:
    """The judge alone as an ASGI application behind its guard."""
    app = FastAPI(title="Code judge", description=__doc__, docs_url=None, redoc_url=None)
    app.include_router(router(judge, threads))
    app.add_middleware(_Guarded, guard=guard)

    @app.get("/healthz", tags=["service"], summary="Workers, isolation, toolchains, canary", response_class=Response)
    def health() -> Response:
        row = judge.health() | {"status": "well" if canary.is_well else "ill", "canary": canary.to_json()}
        return _json(row, 200 if canary.is_well else 503)

    for status in (404, 405):
        app.add_exception_handler(status, _no_such_route)
    return app


async def _no_such_route(_request: Request, error: Exception) -> Response:
    told = "There is no such address. POST to /submit or /run_code."
    return _json(failure_row(told, "http"), getattr(error, "status_code", 404), getattr(error, "headers", None))


class _Guarded:
    """Refuses what the guard refuses."""

    def __init__(self, app: Application, guard: HttpGuard) -> None:
        self._inner = app
        self._guard = guard

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return

        async def tell(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *HEADERS]
            await send(message)

        refusal = self._guard.refusal(scope)
        if refusal is not None:
            await send_refusal(tell, refusal)
            return
        await self._inner(scope, receive, tell)


def serve(judge: CodeJudge, *, host: str, port: int, trusted_hosts: tuple[str, ...] = ()) -> None:
    """Serve until the process is told to stop. Raises InputError for an address that needs a token and has none."""
    import uvicorn

    token = os.environ.get(TOKEN_VARIABLE, "").strip()
    check_address(host, token)
    judge.isolation()  # what cannot be confined as required is told before anybody asks
    guard = HttpGuard(host, token, trusted_hosts, OPEN_PATHS, MOST_BODY_BYTES)
    with answering_threads() as threads, Canary(judge) as canary:
        uvicorn.run(application(judge, canary, threads, guard), host=host, port=port, log_level="warning")
        judge.close()


# --- one request ---------------------------------------------------------------------------------------------------


async def _answer(
    request: Request, threads: ThreadPoolExecutor, work: Callable[[Any, Cancellation], JsonObject]
) -> Response:
    """Read the body, work in a thread, and stop the work when the client is gone."""
    answers: list[Response] = []
    with boundary(lambda error: answers.append(_refusal(error))):
        body = await read_body(request.stream(), MOST_BODY_BYTES)
        with Cancellation() as cancellation:
            running = asyncio.get_running_loop().run_in_executor(
                threads, lambda: work(read_json(body, name="request"), cancellation)
            )
            row = await _unless_gone(request, running, cancellation)
            answers.append(_json(row))
    return answers[0]


async def _unless_gone(request: Request, running: asyncio.Future[_T], cancellation: Cancellation) -> _T:
    while not running.done():
        await asyncio.wait([running], timeout=_LOOK_SECONDS)
        if not running.done() and await request.is_disconnected():
            cancellation.cancel()
            break
    return await running


def _submit(judge: CodeJudge, body: Any, cancellation: Cancellation) -> JsonObject:
    submission = read_submission(body)
    return submit_response(submission, judge.judge(submission, cancellation=cancellation))


def _run_code(judge: CodeJudge, body: Any, cancellation: Cancellation) -> JsonObject:
    """Faults of the judge are a ``SandboxError`` here: clients of this route look at the status in the body."""
    request = read_code_run(body)
    answers: list[JsonObject] = []
    with boundary(lambda error: answers.append(fault_response(str(error)))):
        answers.append(run_response(*judge.run_code(request, cancellation=cancellation)))
    return answers[0]


def _refusal(error: RewardConsoleError) -> Response:
    headers = {"Retry-After": _RETRY_AFTER_SECONDS} if error.http_status == 503 else None
    return _json(failure_row(str(error), error.code), error.http_status, headers)


def _json(value: Json, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(write_json(value), status, headers, media_type="application/json")
