"""The service as a process: listening, warming up, draining when it is told to stop.

Invariant: a request that was accepted is answered before the process ends, unless it outlives the drain time.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from types import FrameType

import uvicorn
from fastapi import FastAPI

from rewards_lib.contract import JsonObject
from rewards_lib.errors import InputError, boundary
from rewards_lib.executor import Executor
from rewards_lib.executor.run_queue import RunQueue
from rewards_lib.http_guard import HttpGuard
from rewards_lib.presets.worker import PRELOAD
from rewards_lib.serving.admission import Admission
from rewards_lib.serving.application import build_application
from rewards_lib.serving.gate import OPEN_PATHS, Gate
from rewards_lib.serving.handler import RewardHandler
from rewards_lib.serving.metrics import ServiceMetrics
from rewards_lib.serving.request_log import RequestLog
from rewards_lib.serving.settings import CODE_JUDGE_PATHS, ServiceSettings
from rewards_lib.serving.whereabouts import announced
from rewards_lib.store import Store

_PARENT_LOOK_SECONDS = 0.5


def serve(settings: ServiceSettings, *, on_listening: Callable[[], None], with_parent: bool = False) -> None:
    """Serve until SIGTERM or SIGINT, and, ``with_parent``, until the process that started this one is gone.

    Calls ``on_listening`` once connections are accepted. Raises InputError when the address is taken or is none.
    """
    parent = os.getppid()
    listener = _listen(settings)
    store = Store()
    # Each request takes one turn at a time, so with a turn for each place the executor itself is never the bottleneck.
    queue = RunQueue(at_once=settings.at_once + 1, most_waiting=4 * settings.at_once)
    with Executor(queue=queue, standing=settings.workers) as executor, announced(settings):
        log = RequestLog(settings.folder)
        admission = Admission(settings.at_once, settings.most_waiting, settings.wait_seconds)
        metrics = ServiceMetrics(running=lambda: admission.running, waiting=lambda: admission.waiting)
        state = _State()
        threading.Thread(target=_warm_up, args=(executor, state), name="warm up", daemon=True).start()
        application = build_application(
            RewardHandler(store, executor), store, settings, admission=admission, metrics=metrics,
            is_ready=lambda: state.is_ready,
        )  # fmt: skip
        judging = _add_code_judge(application, settings)
        server = _Server(_configuration(Gate(application, _guard(settings), log, metrics), settings), state)
        if with_parent:
            threading.Thread(target=_watch_parent, args=(parent, server), name="parent", daemon=True).start()
        on_listening()
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            runner.run(server.serve(sockets=[listener]))
        judging.close()
        log.close()
    store.close()


def _add_code_judge(application: FastAPI, settings: ServiceSettings) -> contextlib.ExitStack:
    """Answer ``/submit`` and ``/run_code`` too, where the settings ask for it; what is returned is to be closed.

    The judge admits by itself and answers 503 when it is full: its programs take none of the places for rewards.
    """
    open_things = contextlib.ExitStack()
    if settings.code_judge_hosts is not None:
        from rewards_lib.code_judge.judge import CodeJudge
        from rewards_lib.code_judge.service import answering_threads, router

        threads = open_things.enter_context(answering_threads())
        judge = open_things.enter_context(CodeJudge(allow_hosts=settings.code_judge_hosts))
        application.include_router(router(judge, threads))
    return open_things


def _guard(settings: ServiceSettings) -> HttpGuard:
    from rewards_lib.code_judge.service import MOST_BODY_BYTES

    return HttpGuard(
        settings.host, settings.token, settings.trusted_hosts, OPEN_PATHS, settings.body_bytes,
        dict.fromkeys(CODE_JUDGE_PATHS, MOST_BODY_BYTES),
    )  # fmt: skip


class _State:
    """What the readiness probe asks."""

    def __init__(self) -> None:
        self.is_warm = False
        self.is_stopping = False

    @property
    def is_ready(self) -> bool:
        return self.is_warm and not self.is_stopping


class _Server(uvicorn.Server):
    """Tells the readiness probe as soon as it is told to stop."""

    def __init__(self, config: uvicorn.Config, state: _State) -> None:
        super().__init__(config)
        self._state = state

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002 -- the signature of a handler
        """Stop accepting and finish what is there; a second Ctrl+C does not wait for it.

        uvicorn's own would raise the signal again at the end, and the process would die before it has tidied up.
        """
        self._state.is_stopping = True
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True


def _configuration(application: Gate, settings: ServiceSettings) -> uvicorn.Config:
    return uvicorn.Config(
        application, log_config=None, access_log=False, lifespan="off", server_header=False, date_header=True,
        timeout_graceful_shutdown=int(settings.drain_seconds), timeout_keep_alive=75, backlog=1024, ws="none",
    )  # fmt: skip


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """The loop of uvloop where it is installed, which answers about a third faster."""
    with contextlib.suppress(ImportError):
        import uvloop

        return uvloop.new_event_loop
    return None


def _listen(settings: ServiceSettings) -> socket.socket:
    try:
        found = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = found[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Inherited by every connection: asyncio does not set it for a socket that it did not make (uvicorn #3149).
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        listener.bind(address)
        listener.listen(1024)
    except OSError as error:
        raise InputError(
            "The service cannot listen on {host}:{port}: {reason}.", host=settings.host, port=settings.port,
            reason=(error.strerror or str(error)).lower(),
            remedy="Another program may have this port: stop it, or name another with --port.",
        ) from None  # fmt: skip
    listener.setblocking(False)
    return listener


def _warm_up(executor: Executor, state: _State) -> None:
    """Start the workers before the first request needs them."""
    with boundary(lambda error: print(error, file=sys.stderr)):
        executor.isolation()
        executor.run_items(
            "rewards_lib.presets.worker:score_rules_item", [_NOTHING], item_seconds=60.0, preload=PRELOAD
        )
    state.is_warm = True


_NOTHING: JsonObject = {"rules": [], "sample": {}, "completions": []}


def _watch_parent(parent: int, server: uvicorn.Server) -> None:
    """End as if told to when the parent is gone: a service must not outlive the console that started it."""
    pause = threading.Event()
    while os.getppid() == parent:
        pause.wait(_PARENT_LOOK_SECONDS)
    server.handle_exit(signal.SIGTERM, None)
