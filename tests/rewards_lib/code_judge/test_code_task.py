"""The code task whole, over real processes: tests in a store, judge, mix, rollouts scored, a version, a request."""

from __future__ import annotations

import functools
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = ROOT / "examples" / "code"
RIGHT, FORM_ALONE, NOTHING = 1.1, 0.1, 0.0


def free_ports(count: int) -> list[int]:
    probes = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [probe.getsockname()[1] for probe in probes]
    for probe in probes:
        probe.close()
    return ports


@pytest.fixture
def task(tmp_path):
    """The example with free ports in place of its own: (folder, port of the judge, port of the service)."""
    tests, judge, service = free_ports(3)
    shutil.copytree(EXAMPLE, tmp_path / "code")
    for file in (tmp_path / "code").glob("*.*"):
        text = file.read_text("utf-8").replace(":8603", f":{tests}").replace(":8602", f":{judge}")
        file.write_text(text, "utf-8")
    handler = functools.partial(SimpleHTTPRequestHandler, directory=str(EXAMPLE / "tests"))
    with ThreadingHTTPServer(("127.0.0.1", tests), handler) as store:
        threading.Thread(target=store.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        yield tmp_path / "code", (tests, judge, service)
        store.shutdown()


@pytest.fixture
def run(tmp_path):
    """Start commands in a data folder of the test's own; what serves is ended with the test."""
    environment = os.environ | {"REWARD_CONSOLE_HOME": str(tmp_path / "home")}
    serving: list[subprocess.Popen[bytes]] = []

    def finish(*arguments: str) -> None:
        subprocess.run([sys.executable, "-m", "rewards_lib", *arguments], cwd=ROOT, env=environment, check=True)

    def serve(port: int, *arguments: str) -> None:
        serving.append(subprocess.Popen([sys.executable, "-m", "rewards_lib", *arguments], cwd=ROOT, env=environment))
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=2):
                    return
            except OSError:
                time.sleep(0.1)
        pytest.fail(f"{arguments} did not answer")

    yield finish, serve
    for process in serving:
        process.terminate()
    for process in serving:
        process.wait(20)


@pytest.mark.skipif(shutil.which("g++") is None, reason="half of the example is C++")
@pytest.mark.timeout(180)
def test_the_code_task_runs_from_its_tests_to_the_trainers_request(task, run, tmp_path):
    (folder, (tests, judge, service)), (finish, serve) = task, run
    mix, rollouts, scored = folder / "mix.json", folder / "rollouts.jsonl", tmp_path / "scored.jsonl"
    serve(judge, "code-judge", "serve", "--port", str(judge), "--allow-host", f"127.0.0.1:{tests}")
    finish("score", "--mix", str(mix), "--rollouts", str(rollouts), "--out", str(scored))
    rewards = [json.loads(line)["reward"] for line in scored.read_text().splitlines()]
    assert rewards == [RIGHT, FORM_ALONE, FORM_ALONE, NOTHING, RIGHT, FORM_ALONE, FORM_ALONE, FORM_ALONE]

    finish("publish", "--name", "code", "--mix", str(mix))
    serve(service, "serve", "--port", str(service))
    rows = [json.loads(line) for line in rollouts.read_text().splitlines()]
    again = (0, 1, 3)  # the one between runs into its time limit at every large test
    asked = {"sample": rows[0]["sample"], "completions": [rows[place]["completion"] for place in again]}
    request = urllib.request.Request(
        f"http://127.0.0.1:{service}/rewards/code", json.dumps(asked).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        told = json.load(answer)
    assert told["status"] == "success"
    assert told["rewards"] == [rewards[place] for place in again]
