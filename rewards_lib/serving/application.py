"""The routes of the service and what OpenAPI says of them.

Invariant: whatever the request, the answer is JSON (metrics and docs apart), and a failure has one shape on all routes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.responses import HTMLResponse
from starlette.exceptions import HTTPException

from rewards_lib import __version__
from rewards_lib.contract import Json
from rewards_lib.errors import RewardConsoleError
from rewards_lib.http_guard import failure_row, read_body
from rewards_lib.publishing import published_names
from rewards_lib.serving import openapi
from rewards_lib.serving.admission import Admission
from rewards_lib.serving.gate import FACTS
from rewards_lib.serving.handler import Answer, Dialect, Facts, RewardHandler, error_answer
from rewards_lib.serving.lanes import Lanes
from rewards_lib.serving.metrics import CONTENT_TYPE, ServiceMetrics
from rewards_lib.serving.settings import ServiceSettings
from rewards_lib.store import Store
from rewards_lib.strict_json import write_json


def build_application(
    handler: RewardHandler,
    store: Store,
    settings: ServiceSettings,
    *,
    admission: Admission,
    metrics: ServiceMetrics,
    is_ready: Callable[[], bool],
) -> FastAPI:
    """The service as an ASGI application, without the gate before it."""
    application = FastAPI(
        title="Reward Console", version=__version__, description=openapi.DESCRIPTION, docs_url=None, redoc_url=None
    )
    lanes = Lanes(handler, single=settings.at_once, shared=settings.workers)
    rewards = _Rewards(lanes, settings, admission)
    for path, dialect, told in openapi.ROUTES:
        application.add_api_route(
            path, rewards.endpoint(dialect), methods=["POST"], summary=told.summary, description=told.description,
            openapi_extra=told.extra, response_class=Response, tags=["rewards"],
        )  # fmt: skip

    @application.get("/healthz", tags=["service"], summary="The process answers", response_class=Response)
    async def health() -> Response:
        return _json({"status": "success"})

    @application.get("/readyz", tags=["service"], summary="Requests can be scored", response_class=Response)
    async def ready() -> Response:
        return _json({"status": "success"}) if is_ready() else _json({"status": "starting or stopping"}, 503)

    @application.get("/versions", tags=["service"], summary="What is served", response_class=Response)
    def versions() -> Response:
        return _json({"status": "success", "names": published_names(store)})

    @application.get("/metrics", tags=["service"], summary="Prometheus metrics", response_class=Response)
    async def prometheus() -> Response:
        return Response(metrics.text(), media_type=CONTENT_TYPE)

    @application.get("/docs", include_in_schema=False)
    async def docs() -> HTMLResponse:
        return HTMLResponse(openapi.page(application.openapi()))

    for kind in (HTTPException, Exception):
        application.add_exception_handler(kind, _told)
    return application


class _Rewards:
    """The endpoints that score."""

    def __init__(self, lanes: Lanes, settings: ServiceSettings, admission: Admission) -> None:
        self._lanes = lanes
        self._settings = settings
        self._admission = admission

    def endpoint(self, dialect: Dialect) -> Callable[..., Any]:
        """The route of one dialect."""

        async def score(request: Request, name: str) -> Response:
            try:
                answer = await self._answer(dialect, name, request)
            except RewardConsoleError as error:
                answer = error_answer(error, Facts(name=name.partition("@")[0], dialect=dialect))
            request.scope[FACTS] = answer.facts
            return _json(answer.body, answer.http_status, answer.headers)

        return score

    async def _answer(self, dialect: Dialect, name: str, request: Request) -> Answer:
        body = await read_body(request.stream(), self._settings.body_bytes)
        async with self._admission.place() as queue_ms:
            answer = await self._lanes.answer(dialect, name, body)
        answer.facts.queue_ms = queue_ms
        timing = f"queue;dur={queue_ms:.3f}, score;dur={answer.facts.score_ms:.3f}"
        answer.headers["Server-Timing"] = timing
        return answer


def _json(body: Json, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(write_json(body), status_code=status, headers=headers, media_type="application/json")


async def _told(_request: Request, error: Exception) -> Response:
    """Say what the framework refused in our shape."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    words = {404: "There is no such address. POST to /rewards/NAME; GET /docs lists all.",
             405: "This address does not take this method. Rewards are asked for with POST.",
             500: "The service met a fault of its own; its log tells more. Nothing was scored."}  # fmt: skip
    body = failure_row(words.get(status, "The request was refused."), "http")
    return _json(body, status, dict(getattr(error, "headers", None) or {}))
