"""The service as a process: who gets in, what it refuses, that it drains, that a killed one invents nothing."""

import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rewards_lib.http_guard import is_loopback
from rewards_lib.publishing import publish_function
from rewards_lib.serving.request_log import read_log
from rewards_lib.serving.settings import ServiceSettings
from rewards_lib.serving.whereabouts import FILE_NAME, find_service
from rewards_lib.store import Store
from tests.rewards_lib.serving.conftest import GOOD, ROOT, fill

TOKEN = "a-secret-of-the-tests"
SLOW = GOOD.replace("    return", "    import time; time.sleep(sample['extra'].get('seconds', 0))\n    return")
BODY = {"sample": {"messages": [], "extra": {"answer": "0.5"}}, "completions": ["so \\boxed{0.5}", "no"]}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Service:
    """A service with a data folder of its own."""

    def __init__(self, home, *flags, port=None, **environment):
        self.home, self.port = home, port or free_port()
        self.environment = os.environ | {"REWARD_CONSOLE_HOME": str(home)} | environment
        self.process = subprocess.Popen(
            [sys.executable, "-m", "rewards_lib", "serve", "--port", str(self.port), *flags],
            cwd=ROOT, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def ready(self):
        deadline = time.monotonic() + 90
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                if self.ask("GET", "/readyz")[0] == 200:
                    return self
            except OSError:
                pass
            threading.Event().wait(0.1)
        pytest.fail(f"the service is not ready: {self.process.communicate()}")

    def ask(self, method, path, body=None, **headers):
        """Status, headers, decoded body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        sent = {"Content-Type": "application/json"} | {name.replace("_", "-"): text for name, text in headers.items()}
        data = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
        connection.request(method, path, data, sent)
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        is_json = answer.headers.get_content_type() == "application/json"
        return answer.status, answer.headers, json.loads(text) if is_json and text else text

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        return self.process.wait(60)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    home = tmp_path_factory.mktemp("service_home")
    store = Store(f"sqlite:///{home}/reward-console.sqlite3")
    fill(store)
    publish_function(store, "slow", {"source": SLOW, "requirements": "", "allow_hosts": []})
    store.close()
    return home


@pytest.fixture(scope="module")
def service(home):
    running = Service(home, "--at-once", "2", "--most-waiting", "2", REWARD_CONSOLE_TOKEN=TOKEN)
    yield running.ready()
    running.stop()


def authorized(service, path, body):
    return service.ask("POST", path, body, Authorization=f"Bearer {TOKEN}")


def test_a_right_token_gets_rewards_and_guarding_headers(service):
    status, headers, body = authorized(service, "/rewards/math", BODY)
    assert (status, body) == (200, {"rewards": [0.35, 0.0], "metrics": {}, "status": "success"})
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cache-Control"] == "no-store"
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert headers["X-Reward-Version"] == "math@1"


@pytest.mark.parametrize("given", ["", "Bearer wrong", f"Basic {TOKEN}", "Bearer", f"bearer {TOKEN}x"])
def test_a_wrong_token_is_401(service, given):
    status, headers, body = service.ask("POST", "/rewards/math", BODY, Authorization=given)
    assert (status, headers["WWW-Authenticate"], body["status"]) == (401, "Bearer", "failure")
    assert TOKEN not in json.dumps(body)


def test_health_needs_no_token_and_documents_do(service):
    assert service.ask("GET", "/healthz")[0] == 200
    assert service.ask("GET", "/openapi.json")[0] == 401
    status, _, schema = service.ask("GET", "/openapi.json", Authorization=f"Bearer {TOKEN}")
    assert status == 200
    assert {"/rewards/{name}", "/openrlhf/{name}", "/slime/{name}"} <= set(schema["paths"])
    assert b"<script" not in service.ask("GET", "/docs", Authorization=f"Bearer {TOKEN}")[2]


def test_strange_hosts_types_methods_and_addresses_are_refused_in_json(service):
    token = {"Authorization": f"Bearer {TOKEN}"}
    assert service.ask("POST", "/rewards/math", BODY, Host="evil.example", **token)[0] == 400
    assert service.ask("POST", "/rewards/math", BODY, Host=f"localhost:{service.port}", **token)[0] == 200
    assert service.ask("POST", "/rewards/math", BODY, Content_Type="text/plain", **token)[0] == 415
    status, _, body = service.ask("GET", "/rewards/math", **token)
    assert (status, body["status"]) == (405, "failure")
    status, _, body = service.ask("POST", "/nothing", BODY, **token)
    assert (status, body["status"]) == (404, "failure")


def test_a_body_beyond_the_limit_is_413(service):
    status, _, body = service.ask(
        "POST", "/rewards/math", b"", Authorization=f"Bearer {TOKEN}", Content_Length=str(1 << 30)
    )
    assert (status, body["code"]) == (413, "size")


def test_overload_is_503_with_retry_after_and_every_answer_that_is_given_is_right(service):
    body = {"sample": {"messages": [], "extra": {"seconds": 0.5}}, "completions": ["abc"]}
    with ThreadPoolExecutor(12) as threads:
        answers = list(threads.map(lambda _: authorized(service, "/rewards/slow", body), range(12)))
    assert {status for status, _, _ in answers} == {200, 503}
    for status, headers, answer in answers:
        if status == 503:
            assert int(headers["Retry-After"]) >= 1
            assert "rewards" not in answer
        else:
            assert answer["rewards"] == [3.0]


def test_every_request_is_in_the_log_with_version_time_and_status(service):
    before = len(read_log(service.home / "service" / str(service.port)))
    authorized(service, "/rewards/math", BODY)
    service.ask("POST", "/rewards/math", BODY)
    authorized(service, "/rewards/nan", BODY)
    rows = read_log(service.home / "service" / str(service.port))[before:]
    assert [(row["http_status"], row["version"], row["status"]) for row in rows] == [
        (200, "math@1", "success"), (401, "", "failure"), (200, "nan@1", "failure"),
    ]  # fmt: skip
    assert all(row["ms"] > 0 and row["time"] and row["id"] for row in rows)
    assert TOKEN not in json.dumps(rows)


def test_the_metrics_count_what_was_answered(service):
    text = service.ask("GET", "/metrics", Authorization=f"Bearer {TOKEN}")[2].decode()
    assert 'reward_service_requests_total{dialect="ark",http_status="200",status="success",version="math@1"}' in text
    assert "reward_service_seconds_bucket" in text


def test_a_service_told_to_stop_finishes_what_it_has_and_leaves_no_trace_of_running(home):
    running = Service(home).ready()
    body = {"sample": {"messages": [], "extra": {"seconds": 1.5}}, "completions": ["abc"]}
    with ThreadPoolExecutor(1) as thread:
        asked = thread.submit(running.ask, "POST", "/rewards/slow", body)
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:  # until it is being scored
            if b"reward_service_running 1.0" in running.ask("GET", "/metrics")[2]:
                break
        assert running.stop() == 0
        assert asked.result()[2]["rewards"] == [3.0]
    assert not (home / "service" / str(running.port) / FILE_NAME).exists()


def test_a_killed_service_gives_an_error_and_no_number_and_its_successor_the_same_versions(home, monkeypatch):
    monkeypatch.setenv("REWARD_CONSOLE_HOME", str(home))
    running = Service(home).ready()
    body = {"sample": {"messages": [], "extra": {"seconds": 20}}, "completions": ["abc"]}
    with ThreadPoolExecutor(1) as thread:
        asked = thread.submit(running.ask, "POST", "/rewards/slow", body)
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            if b"reward_service_running 1.0" in running.ask("GET", "/metrics")[2]:
                break
        running.stop(signal.SIGKILL)
        with pytest.raises((OSError, http.client.HTTPException)):
            asked.result()
    assert find_service(running.port) is None  # its file is there, its process is not
    again = Service(home, port=running.port).ready()
    status, headers, answer = again.ask("POST", "/rewards/math", BODY)
    assert (status, headers["X-Reward-Version"], answer["rewards"]) == (200, "math@1", [0.35, 0.0])
    again.stop()


def descendants(pid):
    """The processes below one, by /proc; empty where there is none."""
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            found += [int(child), *descendants(int(child))]
    return found


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds the workers through /proc")
def test_workers_killed_in_mid_load_cost_errors_or_time_and_never_a_wrong_number(service):
    outcomes, stop = [], threading.Event()

    def ask():
        while not stop.is_set():
            for name, right in (("math", [0.35, 0.0]), ("length", [14.0, 2.0])):
                status, _, answer = authorized(service, f"/rewards/{name}", BODY)
                if status == 200:
                    outcomes.append("right" if answer["rewards"] == right else (answer, right))
                else:
                    outcomes.append(f"{status} {answer['error']}")
                    assert "rewards" not in answer

    clients = [threading.Thread(target=ask) for _ in range(2)]
    for client in clients:
        client.start()
    for _ in range(4):
        threading.Event().wait(0.4)
        for pid in descendants(service.process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    threading.Event().wait(1.0)
    stop.set()
    for client in clients:
        client.join()
    odd = [one for one in outcomes if not isinstance(one, str)]
    assert all(answer["status"] == "failure" and None in answer["rewards"] for answer, _right in odd), odd
    assert all(
        reward in (None, expected)
        for answer, right in odd for reward, expected in zip(answer["rewards"], right, strict=True)
    ), odd  # fmt: skip
    errors = [one for one in outcomes if isinstance(one, str) and one != "right"]
    assert all(one.startswith(("500", "503")) and "console itself" not in one for one in errors), errors
    assert outcomes.count("right") > 0
    assert authorized(service, "/rewards/math", BODY)[2]["rewards"] == [0.35, 0.0]


def test_a_taken_port_is_told_in_one_sentence(home):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        refused = Service(home, port=taken.getsockname()[1])
        out, said = refused.process.communicate(timeout=60)
    assert refused.process.returncode == 2
    assert json.loads(out)["status"] == "failure"
    assert said.strip().count("\n") == 0
    assert "cannot listen" in said


def test_another_host_without_a_token_is_refused(home):
    refused = Service(home, "--host", "0.0.0.0", REWARD_CONSOLE_TOKEN="")
    out, _ = refused.process.communicate(timeout=60)
    assert refused.process.returncode == 2
    assert "only with a token" in json.loads(out)["error"]


def test_a_service_ends_with_the_process_that_started_it(home):
    starter = "import subprocess, sys; print(subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL).pid); input()"
    port = free_port()
    parent = subprocess.Popen(
        [sys.executable, "-c", starter, sys.executable, "-m", "rewards_lib", "serve", "--port", str(port),
         "--with-parent"], cwd=ROOT, env=os.environ | {"REWARD_CONSOLE_HOME": str(home)},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    pid = int(parent.stdout.readline())
    place = home / "service" / str(port) / FILE_NAME
    deadline = time.monotonic() + 60
    while not place.exists() and time.monotonic() < deadline:
        threading.Event().wait(0.05)
    parent.kill()
    parent.wait()
    while place.exists() and time.monotonic() < deadline:
        threading.Event().wait(0.05)
    assert not place.exists(), pid


def test_loopback_is_told_from_the_rest():
    assert [is_loopback(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "10.0.0.1")] == [
        True, True, True, False, False,
    ]  # fmt: skip
    assert ServiceSettings(host="::1", port=1).url == "http://[::1]:1"
