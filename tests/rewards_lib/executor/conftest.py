"""One warm executor for all tests of the executor, and builders for its inputs."""

from __future__ import annotations

import os
import ssl
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from rewards_lib.contract import Completion, Payload, Sample
from rewards_lib.errors import DependencyError
from rewards_lib.executor import Executor, FunctionRun, FunctionSource, Limits

HEADER = "from rl_types import RewardFunctionResult, RewardStatus\n"
Run = Callable[..., FunctionRun]


def payload_of(*completions: Any, answer: str = "4") -> Payload:
    """A payload whose completions arrived in the given shapes."""
    sample = Sample(messages=({"role": "user", "content": "What is 2 + 2?"},), extra={"answer": answer})
    return Payload(sample, tuple(Completion(entry) for entry in completions))


@pytest.fixture(scope="session")
def executor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Executor]:
    """An executor in the best tier of this machine."""
    with Executor(home=tmp_path_factory.mktemp("home")) as shared:
        yield shared


@pytest.fixture
def run(executor: Executor) -> Run:
    """Run a source over two completions: ``run(source, "one", "two", limits=..., allow_hosts=...)``."""

    def call(source: str, *completions: Any, limits: Limits | None = None, **function: Any) -> FunctionRun:
        function_source = FunctionSource(HEADER + source, **function)
        payload = payload_of(*(completions or ("it is 4", "it is 5")))
        return executor.run_function(function_source, payload, limits=limits or Limits(wall_seconds=10))

    return call


@pytest.fixture(scope="session")
def make_confined(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Executor]]:
    """Build executors forced into one confinement by the switch for tests; skips where the machine has it not."""
    made: dict[str, Executor] = {}

    def make(switch: str) -> Executor:
        if switch not in made:
            os.environ["REWARD_CONSOLE_TEST_EXECUTOR"] = switch
            try:
                confined = Executor(home=tmp_path_factory.mktemp("home"))
            finally:
                del os.environ["REWARD_CONSOLE_TEST_EXECUTOR"]
            try:
                confined.isolation()
            except DependencyError as error:
                confined.close()
                pytest.skip(f"{switch} is not available here: {error}")
            made[switch] = confined
        return made[switch]

    yield make
    for confined in made.values():
        confined.close()


class Server(ThreadingHTTPServer):
    """A loopback service that notes its requests; /away redirects to another port."""

    daemon_threads = True

    def __init__(self, encryption: ssl.SSLContext | None = None) -> None:
        self.paths: list[str] = []
        self.away = ""
        super().__init__(("127.0.0.1", 0), Handler)
        if encryption is not None:
            self.socket = encryption.wrap_socket(self.socket, server_side=True)
        threading.Thread(target=self.serve_forever, daemon=True).start()


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


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        yield running
        running.shutdown()
