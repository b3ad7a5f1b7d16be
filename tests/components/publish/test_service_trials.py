"""A test call reaches the service and nobody else; a load test leaves its result or its reason, and no folder."""

import http.server
import json
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from components.publish import trials


@pytest.fixture
def listeners():
    """The service and a proxy, both of which note what they are sent."""
    opened = []
    for name in ("service", "proxy"):
        got = []

        class Notes(http.server.BaseHTTPRequestHandler):
            notes, text = got, name.encode()

            def do_POST(self):
                self.notes.append((self.path, self.headers.get("Authorization")))
                self.rfile.read(int(self.headers["Content-Length"]))
                self.send_response(418 if self.text == b"service" else 200)
                self.send_header("X-Reward-Version", "math@3")
                self.end_headers()
                self.wfile.write(self.text)

            def log_message(self, *_arguments):
                """Say nothing."""

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Notes)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        opened.append(SimpleNamespace(server=server, got=got, port=server.server_port))
    yield opened
    for one in opened:
        one.server.shutdown()
        one.server.server_close()


def test_a_test_call_hands_the_token_to_the_service_and_to_no_proxy(listeners, monkeypatch):
    service, proxy = listeners
    monkeypatch.setenv("REWARD_CONSOLE_SERVICE_PORT", str(service.port))
    monkeypatch.setenv("REWARD_CONSOLE_TOKEN", "a-token-of-the-tests")
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.port}")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    version, status, _ms, text = trials._ask("math@3", b"{}")
    assert proxy.got == []
    assert service.got == [("/rewards/math%403", "Bearer a-token-of-the-tests")]
    assert (version, status, text) == ("math@3", 418, "service")


def test_a_service_that_is_not_there_is_told(monkeypatch):
    monkeypatch.setenv("REWARD_CONSOLE_SERVICE_PORT", "1")
    _version, status, _ms, text = trials._ask("math", b"{}")
    assert status == 0
    assert text


@pytest.mark.parametrize(
    ("program", "result"),
    [
        ("print('{\"p50_ms\": 1}')", {"p50_ms": 1}),
        ("import sys; print('cut {'); sys.exit('1/2\\nthe last word')", {"error": "the last word"}),
        ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", None),
    ],
)
def test_a_load_test_leaves_its_result_or_why_there_is_none_and_no_folder(program, result, monkeypatch, tmp_path):
    running = trials._Running()
    monkeypatch.setattr(trials, "_running", lambda: running)
    monkeypatch.setattr(trials, "current_sample", lambda: None)
    monkeypatch.setattr(trials, "DIALECTS", {"bare": (None, lambda _payload: {})})
    monkeypatch.setattr(trials.tempfile, "tempdir", str(tmp_path))
    popen = subprocess.Popen
    monkeypatch.setattr(trials.subprocess, "Popen", lambda _c, **given: popen([sys.executable, "-c", program], **given))
    trials._start(SimpleNamespace(name="math"), 1, 1, 1)
    assert json.loads(next(Path(tmp_path).glob("*/payload.json")).read_text()) == {}
    running.process.wait(60)
    assert trials._is_running() is False
    assert running.result == result
    assert list(tmp_path.iterdir()) == []
