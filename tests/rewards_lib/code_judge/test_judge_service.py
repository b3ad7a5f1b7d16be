"""The judge over HTTP: verdicts, refusals, and what clients of SandboxFusion look at."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from typing import Any

import pytest
import uvicorn
from fastapi import FastAPI

from rewards_lib.code_judge import CodeJudge, CodeRun, find_language
from rewards_lib.code_judge.canary import Canary
from rewards_lib.code_judge.service import OPEN_PATHS, answering_threads, application, serve
from rewards_lib.errors import DependencyError, InputError
from rewards_lib.http_guard import HttpGuard
from rewards_lib.serving.server import _add_code_judge
from rewards_lib.serving.settings import ServiceSettings

SUM = "```python\na, b = map(int, input().split())\nprint(a + b)\n```"
TESTS = [{"type": "StandardIO", "data": {"input": {"stdin": "1 2\r\n"}, "output": {"stdout": "3\r\n"}}}]


class Served:
    """A judge that listens, and a client of it."""

    def __init__(self, judge: CodeJudge, token: str = "") -> None:
        self.canary, self.threads = Canary(judge), answering_threads()
        guard = HttpGuard("127.0.0.1", token, open_paths=OPEN_PATHS)
        configuration = uvicorn.Config(application(judge, self.canary, self.threads, guard), port=0, log_level="error")
        self.server = uvicorn.Server(configuration)
        self.thread = threading.Thread(target=self.server.run, daemon=True)
        self.thread.start()
        while not self.server.started:
            time.sleep(0.01)
        self.port = self.server.servers[0].sockets[0].getsockname()[1]

    def ask(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None):
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        sent = body if isinstance(body, str) or body is None else json.dumps(body)
        connection.request(method, path, sent, {"Content-Type": "application/json"} | (headers or {}))
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, json.loads(text), dict(answer.getheaders())

    def close(self) -> None:
        self.server.should_exit = True
        self.thread.join(timeout=10)
        self.canary.close()
        self.threads.shutdown(wait=False)


@pytest.fixture
def canary_of_python_alone(monkeypatch) -> None:
    """The canary begins with every language that is installed; a test that is not about them need not wait for it."""
    monkeypatch.setattr("rewards_lib.code_judge.canary.found_languages", dict)


@pytest.fixture(scope="module")
def served(judge) -> Iterator[Served]:
    service = Served(judge)
    yield service
    service.close()


def submission(completion: str = SUM, **config) -> dict[str, Any]:
    own = {"dataset_type": "CommonOJDataset", "language": "python", "provided_data": {"test": TESTS}} | config
    return {"dataset": "code_test", "id": 7, "completion": completion, "config": own}


def test_a_submission_is_answered_in_the_shape_of_its_clients(served):
    status, body, _ = served.ask("POST", "/submit", submission())
    assert (status, body["id"], body["accepted"]) == (200, 7, True)
    [test] = body["tests"]
    assert test["passed"] is True
    assert test["exec_info"]["status"] == "Success"
    assert test["exec_info"]["run_result"]["status"] == "Finished"
    assert test["exec_info"]["run_result"]["return_code"] == 0
    assert test["test_info"] == {"input": {"stdin": "1 2\r\n"}, "output": {"stdout": "3\r\n"}}
    assert body["extra"]["verdict"] == "accepted"
    assert body["extra"]["isolation"]["tier"] in {"A", "B", "C"}


def test_arks_envelope_is_opened(served):
    body = {"data": submission(), "method": "POST", "path": "/submit", "headers": {}}
    assert served.ask("POST", "/submit", body)[1]["accepted"] is True


@pytest.mark.parametrize(
    ("completion", "verdict", "wire"),
    [
        ("```python\nprint(4)\n```", "wrong_answer", ("Success", "Finished")),
        ("```python\nwhile True: pass\n```", "time_limit", ("Failed", "TimeLimitExceeded")),
        ("```python\n1 / 0\n```", "runtime_error", ("Failed", "Finished")),
        ("```python\nx = bytearray(3 << 30)\n```", "memory_limit", ("Failed", "Finished")),
    ],
)
def test_verdicts_are_told_in_both_words(served, completion, verdict, wire):
    _, body, _ = served.ask("POST", "/submit", submission(completion, run_timeout=0.5))
    info = body["tests"][0]["exec_info"]
    assert body["accepted"] is False
    assert body["extra"]["verdict"] == verdict
    assert (info["status"], info["run_result"]["status"]) == wire
    assert info["message"].startswith("" if verdict == "accepted" else verdict)


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"language": None}, 400),
        ({"language": "cobol"}, 400),
        ({"dataset_type": "Nope"}, 400),
        ({"provided_data": {"test": []}}, 422),
        ({"provided_data": {"test": {"location": "URL", "url": "http://127.0.0.1:9/x.json"}}}, 403),
        ({"run_timeout": -1}, 422),
    ],
)
def test_what_is_no_verdict_is_an_error_status_with_one_sentence(served, change, status):
    got, body, _ = served.ask("POST", "/submit", submission(**change))
    assert got == status
    assert "accepted" not in body
    assert body["detail"]
    assert (body["status"], body["error"]) == ("failure", body["detail"])
    assert "Traceback" not in body["detail"]


def test_an_address_or_a_method_that_is_none_is_told_like_any_failure(served):
    for method, path, status in (("GET", "/nope", 404), ("GET", "/submit", 405)):
        got, body, _ = served.ask(method, path)
        assert (got, body["status"], body["code"], body["error"]) == (status, "failure", "http", body["detail"])


@pytest.mark.parametrize("body", ["", "{", "[]", "NaN", '"x"'])
def test_a_body_that_is_no_request_is_refused(served, body):
    assert served.ask("POST", "/submit", body)[0] == 422


def test_a_full_judge_says_busy_and_when_to_come_again(tmp_path, canary_of_python_alone):
    with CodeJudge(home=tmp_path, workers=1, most_submissions=1) as judge:
        service = Served(judge)
        while not service.canary.to_json():  # it takes the one place too
            time.sleep(0.01)
        slow = {"code": "import time\ntime.sleep(20)", "language": "python", "run_timeout": 9}
        connection = HTTPConnection("127.0.0.1", service.port, timeout=60)
        connection.request("POST", "/run_code", json.dumps(slow), {"Content-Type": "application/json"})
        while judge.health()["running"] == 0:
            time.sleep(0.01)
        status, body, headers = service.ask("POST", "/submit", submission())
        connection.close()
        assert status == 503
        assert headers["retry-after"].isdigit()
        assert "busy" in body["detail"]
        service.close()


def test_a_client_that_goes_away_ends_its_run(served, judge):
    connection = HTTPConnection("127.0.0.1", served.port, timeout=60)
    body = {"code": "import time\ntime.sleep(60)", "language": "python", "run_timeout": 60}
    connection.request("POST", "/run_code", json.dumps(body), {"Content-Type": "application/json"})
    deadline = time.monotonic() + 20
    while judge.health()["running"] == 0 and time.monotonic() < deadline:
        time.sleep(0.01)
    connection.close()
    while judge.health()["running"] and time.monotonic() < deadline:
        time.sleep(0.01)
    assert time.monotonic() < deadline


def test_a_program_is_run_once_with_files(served):
    body = {
        "code": "open('out.txt', 'w').write(open('in/a.txt').read() * 2)\nprint(input()[::-1])",
        "language": "python", "stdin": "abc", "files": {"in/a.txt": "aGk="}, "fetch_files": ["out.txt", "missing"],
    }  # fmt: skip
    status, got, _ = served.ask("POST", "/run_code", body)
    assert (status, got["status"], got["run_result"]["stdout"]) == (200, "Success", "cba\n")
    assert got["files"] == {"out.txt": "aGloaQ=="}


def test_a_run_that_fails_and_a_judge_that_fails_are_told_apart(served):
    failed = served.ask("POST", "/run_code", {"code": "1/0", "language": "python"})[1]
    assert (failed["status"], failed["run_result"]["return_code"]) == ("Failed", 1)
    slow = served.ask("POST", "/run_code", {"code": "while 1: pass", "language": "python", "run_timeout": 0.3})[1]
    assert slow["run_result"]["status"] == "TimeLimitExceeded"


def test_health_tells_workers_isolation_toolchains_and_canary(served):
    assert served.ask("GET", "/v1/ping")[1] == "pong"
    served.canary.look()
    status, body, _ = served.ask("GET", "/healthz")
    assert (status, body["status"]) == (200, "well")
    assert body["toolchains"]["python"].startswith("Python 3")
    assert body["canary"]["python"]["well"] is True


def test_a_judge_whose_canary_fails_says_that_it_is_ill(tmp_path, canary_of_python_alone, monkeypatch):
    monkeypatch.setattr("rewards_lib.code_judge.canary._TESTS", [{"stdin": "1 1\n", "stdout": "3\n"}])
    with CodeJudge(home=tmp_path, workers=1) as judge:
        service = Served(judge)
        service.canary.look()
        status, body, _ = service.ask("GET", "/healthz")
        assert (status, body["status"]) == (503, "ill")
        service.close()


def test_with_a_token_only_who_bears_it_is_answered(judge):
    service = Served(judge, token="t0ken")
    assert service.ask("POST", "/submit", submission())[0] == 401
    assert service.ask("POST", "/submit", submission(), {"Authorization": "Bearer t0ken"})[1]["accepted"] is True
    service.close()


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({"Host": "evil.example"}, 400, "host"),
        ({"Content-Type": "text/plain"}, 415, "content_type"),
        ({"Content-Type": "application/x-www-form-urlencoded"}, 415, "content_type"),
        ({"Content-Length": str(1 << 40)}, 413, "size"),
    ],
)
@pytest.mark.parametrize("path", ["/run_code", "/submit"])
def test_no_web_page_gets_a_program_run(served, headers, status, code, path):
    got, body, sent = served.ask("POST", path, {"code": "print(1)", "language": "python"}, headers)
    assert (got, body["code"]) == (status, code)
    assert body["detail"]
    assert sent["cross-origin-resource-policy"] == "same-origin"


def test_a_name_that_points_here_reads_no_health(served):
    assert served.ask("GET", "/healthz", headers={"Host": "rebound.example"})[0] == 400
    assert served.ask("GET", "/healthz", headers={"Host": "localhost:1"})[0] in (200, 503)


def test_a_short_token_is_refused(judge, monkeypatch):
    monkeypatch.setenv("REWARD_CONSOLE_TOKEN", "short")
    with pytest.raises(InputError, match="16"):
        serve(judge, host="127.0.0.1", port=0)


def test_it_listens_beyond_this_machine_only_with_a_token(judge, monkeypatch):
    monkeypatch.delenv("REWARD_CONSOLE_TOKEN", raising=False)
    with pytest.raises(InputError, match="token"):
        serve(judge, host="0.0.0.0", port=0)


def test_overload_changes_no_verdict(judge):
    """Eight times more at once than there are workers: everybody gets the verdict that is due."""
    service = Served(judge)
    known = [(SUM, True), ("```python\nprint(4)\n```", False), ("```python\n1/0\n```", False), ("prose.", False)]
    with ThreadPoolExecutor(16) as pool:
        asked = [pool.submit(service.ask, "POST", "/submit", submission(text)) for text, _ in known * 12]
        answers = [one.result() for one in asked]
    assert [body["accepted"] for _, body, _ in answers] == [accepted for _, accepted in known] * 12
    service.close()


@pytest.mark.parametrize(("hosts", "is_there"), [(None, False), ((), True)])
def test_the_reward_service_answers_for_the_judge_where_it_is_asked_to(hosts, is_there, tmp_path, monkeypatch):
    monkeypatch.setenv("REWARD_CONSOLE_HOME", str(tmp_path))
    application = FastAPI()
    _add_code_judge(application, ServiceSettings(code_judge_hosts=hosts)).close()
    assert ("/submit" in application.openapi()["paths"]) is is_there


def test_closing_a_judge_ends_the_runs_in_progress(tmp_path):
    with CodeJudge(home=tmp_path, workers=1) as judge, ThreadPoolExecutor(1) as pool:
        judge.isolation()
        running = pool.submit(
            judge.run_code, CodeRun("import time\ntime.sleep(60)", find_language("python"), run_seconds=60)
        )
        while judge.health()["running"] == 0:
            time.sleep(0.01)
        judge.close()
        with pytest.raises(DependencyError):
            running.result(timeout=20)
