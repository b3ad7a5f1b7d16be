"""A console that runs as a plain user: the same isolation, runs, items and network as under root."""

from __future__ import annotations

import pytest

from tests.plain_user import NEEDS_ROOT, run_as_plain_user

PROGRAM = """
import json, threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from rewards_lib.contract import Completion, Payload, Sample
from rewards_lib.executor import Executor, FunctionSource

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_):
        pass

server = HTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
host = f"127.0.0.1:{server.server_port}"
source = f'''
import urllib.request
from rl_types import RewardFunctionResult
def reward_fn(context, sample, completions):
    return RewardFunctionResult([float(urllib.request.urlopen("http://{host}/", timeout=5).read() == b"ok")])
'''
with Executor() as executor:
    payload = Payload(Sample(), (Completion("x"),))
    allowed = executor.run_function(FunctionSource(source, allow_hosts=(host,)), payload)
    closed = executor.run_function(FunctionSource(source), payload)
    items = executor.run_items("math:sqrt", [4, 9], item_seconds=5)
    print(json.dumps({
        "tier": executor.isolation().tier, "layers": executor.isolation().layers, "error": str(allowed.error or ""),
        "allowed": allowed.scores[0].value, "closed": closed.scores[0].value, "items": [one.value for one in items],
    }))
"""


@NEEDS_ROOT
@pytest.mark.parametrize("switch", ["", "tier=B"])
def test_a_plain_user_has_runs_items_and_the_allow_list(switch):
    got = run_as_plain_user(PROGRAM, REWARD_CONSOLE_TEST_EXECUTOR=switch)
    assert (got["error"], got["allowed"], got["closed"], got["items"]) == ("", 1.0, None, [2.0, 3.0])
    assert got["tier"] == "B" if switch else got["tier"] in {"A", "B"}
    assert {"seccomp", "rlimits"} <= set(got["layers"])
