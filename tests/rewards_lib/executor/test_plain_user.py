"""A console that runs as a plain user: the same isolation, runs, items and network as under root."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from rewards_lib.executor import places

NOBODY = 65534
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


def interpreter_for_everybody() -> str | None:
    """This Python where another user may run it, else the system's of the same version."""
    system = shutil.which(f"python{sys.version_info[0]}.{sys.version_info[1]}", path="/usr/local/bin:/usr/bin")
    candidates = [places.interpreter(), *([os.path.realpath(system)] if system else [])]
    return next((path for path in candidates if places.is_reachable_by_nobody([path])), None)


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder that the plain user owns; pytest's own are closed to others."""
    with tempfile.TemporaryDirectory() as folder:
        os.chown(folder, NOBODY, NOBODY)
        yield Path(folder)


@pytest.mark.skipif(sys.platform != "linux" or os.getuid() != 0, reason="changing the user needs root")
@pytest.mark.parametrize("switch", ["", "tier=B"])
def test_a_plain_user_has_runs_items_and_the_allow_list(home, switch):
    python = interpreter_for_everybody()
    if python is None or not places.is_reachable_by_nobody([str(places.PROJECT_FOLDER), *places.own_packages()]):
        pytest.skip("no interpreter, or not this folder, can be read by another user")
    environment = {
        "PATH": "/usr/bin:/bin", "HOME": str(home), "REWARD_CONSOLE_TEST_EXECUTOR": switch,
        "PYTHONPATH": os.pathsep.join([str(Path.cwd()), *places.own_packages()]), "PYTHONDONTWRITEBYTECODE": "1",
    }  # fmt: skip
    done = subprocess.run(
        [python, "-c", PROGRAM], env=environment, cwd="/", capture_output=True, text=True, check=False, timeout=60,
        user=NOBODY, group=NOBODY, extra_groups=[],
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    got = json.loads(done.stdout)
    assert (got["error"], got["allowed"], got["closed"], got["items"]) == ("", 1.0, None, [2.0, 3.0])
    assert got["tier"] == "B" if switch else got["tier"] in {"A", "B"}
    assert {"seccomp", "rlimits"} <= set(got["layers"])
