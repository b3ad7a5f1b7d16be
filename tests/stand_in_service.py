"""A service on loopback that answers as a test says: what judges and sandboxes are to a preset."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Reply:
    """What the service answers: a status, a body (an object, or a text as it is) and headers, perhaps late."""

    body: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    late_seconds: float = 0.0


class StandIn:
    """The service's address and what it was asked."""

    def __init__(self, answer: Callable[[dict[str, Any], int], Reply]) -> None:
        self.answer = answer
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.most_at_once = self._at_once = 0
        self._lock = threading.Lock()
        self.url = ""

    def take(self, request: dict[str, Any], headers: dict[str, str]) -> Reply:
        with self._lock:
            number = len(self.requests)
            self.requests.append(request)
            self.headers.append(headers)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        reply = self.answer(request, number)
        time.sleep(reply.late_seconds)
        with self._lock:
            self._at_once -= 1
        return reply


@contextmanager
def stand_in(answer: Callable[[dict[str, Any], int], Reply]) -> Iterator[StandIn]:
    """Run a service during the block; ``answer`` gets each decoded request and its number, from 0."""
    service = StandIn(answer)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            raw = self.rfile.read(int(self.headers["Content-Length"]))
            reply = service.take(json.loads(raw), dict(self.headers))
            body = reply.body if isinstance(reply.body, str) else json.dumps(reply.body)
            data = body.encode("utf-8", "surrogatepass")
            try:
                self.send_response(reply.status)
                for name, value in {"Content-Length": str(len(data)), **reply.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)
            except OSError:
                pass  # whoever asked has given up

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    service.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield service
    finally:
        server.shutdown()
        server.server_close()


def chat(text: Any, *, finish_reason: str = "stop", usage: tuple[int, int] = (100, 10)) -> Reply:
    """A chat completion that says ``text``."""
    return Reply(
        {
            "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": finish_reason}],
            "usage": {"prompt_tokens": usage[0], "completion_tokens": usage[1]},
        }
    )


def candidate_of(request: dict[str, Any]) -> str:
    """The completion that a request to a judge or a sandbox is about."""
    if "completion" in request:
        return request["completion"]
    return re.search(r"<(candidate-\w+)>\n(.*)\n</\1>", request["messages"][-1]["content"], re.DOTALL)[2]
