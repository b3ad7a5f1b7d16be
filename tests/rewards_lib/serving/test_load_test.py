"""The load test counts what it saw and names what limits; an error is never taken for a time."""

import http.server
import json
import threading

import pytest

from rewards_lib.contract import Completion, Payload, Sample
from rewards_lib.errors import InputError
from rewards_lib.serving.load_test import LoadPlan, run_load_test

PAYLOAD = Payload(Sample((), {"answer": "1"}), (Completion("a"), Completion("b")))


@pytest.fixture
def stand_in():
    """A service that answers what it is told to: (status, body, Server-Timing)."""
    asked = []

    class Answers(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        reply = (200, {"rewards": [1.0] * 3, "metrics": {}, "status": "success"}, "queue;dur=0, score;dur=0")

        def do_POST(self):
            asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            status, body, timing = self.reply
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.send_header("Server-Timing", timing)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_arguments):
            """Say nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    server.asked, server.answers, server.url = asked, Answers, f"http://127.0.0.1:{server.server_port}"
    yield server
    server.shutdown()
    server.server_close()


def run(server, **sizes):
    sizes = {"batch_size": 4, "completions": 3, "concurrency": 2, "steps": 2} | sizes
    return run_load_test(LoadPlan(server.url, "math", PAYLOAD, **sizes))


def test_every_request_of_every_step_is_sent_with_its_completions(stand_in):
    result = run(stand_in)
    assert len(stand_in.asked) == result["requests"] == result["answered"] == 8
    assert {len(body["completions"]) for body in stand_in.asked} == {3}
    assert (result["status"], result["errors"], len(result["step_seconds"])) == ("success", {}, 2)
    assert 0 < result["p50_ms"] <= result["p95_ms"] <= result["p99_ms"]
    assert result["limited_by"] == "http"


@pytest.mark.parametrize(
    ("timing", "limit"),
    [("queue;dur=999999999, score;dur=0", "queue"), ("queue;dur=0, score;dur=999999999", "scoring")],
)
def test_what_takes_the_most_time_limits(stand_in, timing, limit):
    stand_in.answers.reply = (*stand_in.answers.reply[:2], timing)
    assert run(stand_in)["limited_by"] == limit


def test_refusals_are_errors_and_no_times(stand_in):
    stand_in.answers.reply = (503, {"status": "failure", "error": "busy"}, "")
    result = run(stand_in)
    assert (result["status"], result["errors"], result["limited_by"]) == ("failure", {"503": 8}, "admission")
    assert result["p50_ms"] is None
    assert "busy" in result["first_error"]


@pytest.mark.parametrize("body", [b"<html>welcome</html>", b"[1.0]", {"rewards": 3}, {"status": "success"}])
def test_a_200_without_rewards_is_an_error_and_no_time(stand_in, body):
    stand_in.answers.reply = (200, body, "")
    result = run(stand_in)
    assert (result["status"], result["answered"], result["errors"]) == ("failure", 0, {"no rewards": 8})
    assert result["p50_ms"] is None
    assert len(stand_in.asked) == 8


@pytest.mark.parametrize("timing", ["", "score;dur=3", "queue;dur=..., score;dur=1"])
def test_a_share_that_was_not_told_is_not_taken_for_0(stand_in, timing):
    stand_in.answers.reply = (*stand_in.answers.reply[:2], timing)
    result = run(stand_in)
    assert (result["status"], result["limited_by"]) == ("success", "unknown")


def test_unscored_completions_are_counted(stand_in):
    stand_in.answers.reply = (200, {"rewards": [None, 1.0, None], "status": "failure", "error": "why"}, "")
    result = run(stand_in)
    assert (result["unscored"], result["first_error"]) == (16, "why")


def test_a_service_that_is_not_there_is_an_error_each():
    result = run_load_test(LoadPlan("http://127.0.0.1:1", "math", PAYLOAD, batch_size=2, steps=1))
    assert result["status"] == "failure"
    assert sum(result["errors"].values()) == 2


@pytest.mark.parametrize(
    ("url", "token"), [("http://127.0.0.1:99999", ""), ("http://[::1", ""), ("http://127.0.0.1:1", "two\nlines"),
                       ("http://127.0.0.1:1", "schlüssel")],
)  # fmt: skip
def test_an_address_or_token_that_no_request_can_have_is_refused(url, token):
    with pytest.raises(InputError):
        run_load_test(LoadPlan(url, "m", PAYLOAD, token=token))


def test_a_plan_that_cannot_be_sent_is_refused(stand_in):
    with pytest.raises(InputError):
        run(stand_in, batch_size=0)
    with pytest.raises(InputError):
        run_load_test(LoadPlan("ftp://x", "math", PAYLOAD))
