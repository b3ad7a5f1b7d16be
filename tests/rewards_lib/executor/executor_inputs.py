"""Builders for the inputs of the executor's tests: sources, payloads, a service to reach."""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from rewards_lib.contract import Completion, Payload, Sample

HEADER = "from rl_types import RewardFunctionResult, RewardStatus\n"


def payload_of(*completions: Any, answer: str = "4") -> Payload:
    """A payload whose completions arrived in the given shapes."""
    sample = Sample(messages=({"role": "user", "content": "What is 2 + 2?"},), extra={"answer": answer})
    return Payload(sample, tuple(Completion(entry) for entry in completions))


def least_seconds(deed: Callable[[], object], enough: float, *, before: Callable[[], object] = bool) -> float:
    """The least time of up to three tries, the first that took less than ``enough`` being the last.

    A busy machine may hold up one try; what waits too long by itself does so each time. What is done ``before`` each
    try is not counted.
    """
    taken: list[float] = []
    while not taken or (taken[-1] >= enough and len(taken) < 3):
        before()
        started = time.monotonic()
        deed()
        taken.append(time.monotonic() - started)
    return min(taken)


class Server(ThreadingHTTPServer):
    """A loopback service that notes its requests; /away redirects to another port."""

    daemon_threads = True

    def __init__(self, encryption: ssl.SSLContext | None = None) -> None:
        self.paths: list[str] = []
        self.away = ""
        super().__init__(("127.0.0.1", 0), Handler)
        if encryption is not None:
            self.socket = encryption.wrap_socket(self.socket, server_side=True)
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()


class Handler(BaseHTTPRequestHandler):
    """Answers ok."""

    def do_GET(self):
        self.server.paths.append(self.path)
        if self.path == "/away":
            self.send_response(302)
            self.send_header("Location", self.server.away)
        else:
            self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def do_POST(self):
        size = int(self.headers["Content-Length"])
        self.rfile.read(size)
        self.do_GET()

    def log_message(self, *_):
        pass
