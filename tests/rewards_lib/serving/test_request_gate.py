"""The gate: what is asked of the code judge is no request for rewards; a full disk costs no answer."""

import asyncio
import json
from datetime import UTC, datetime

from rewards_lib.http_guard import HttpGuard
from rewards_lib.serving.gate import Gate
from rewards_lib.serving.metrics import ServiceMetrics
from rewards_lib.serving.request_log import RequestLog, read_log
from rewards_lib.serving.server import _guard
from rewards_lib.serving.settings import ServiceSettings
from rewards_lib.serving.traffic import newest_first, traffic


async def inner(_scope, _receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"{}"})


def ask(gate, path, **headers):
    sent = {"host": "localhost", "content-type": "application/json"} | {
        k.replace("_", "-"): v for k, v in headers.items()
    }
    scope = {
        "type": "http", "method": "POST", "path": path, "client": None,
        "headers": [(name.encode(), value.encode()) for name, value in sent.items()],
    }  # fmt: skip
    told = []

    async def send(message):
        told.append(message)

    asyncio.run(gate(scope, None, send))
    return told[0]["status"], json.loads(told[1]["body"])


def test_what_is_asked_of_the_code_judge_is_logged_and_is_no_request_for_rewards(tmp_path):
    log, metrics = RequestLog(tmp_path), ServiceMetrics(running=lambda: 0, waiting=lambda: 0)
    gate = Gate(inner, HttpGuard("127.0.0.1"), log, metrics)
    assert ask(gate, "/submit")[0] == ask(gate, "/run_code")[0] == ask(gate, "/rewards/math")[0] == 200
    log.close()
    rows = read_log(tmp_path)
    assert [row["dialect"] for row in rows] == ["code_judge", "code_judge", ""]
    assert traffic(rows, datetime.now(UTC)).requests == len(newest_first(rows)) == 1
    assert b"code_judge" not in metrics.text()


def test_the_judges_routes_have_the_judges_limit(tmp_path):
    gate = Gate(inner, _guard(ServiceSettings()), RequestLog(tmp_path), ServiceMetrics(running=int, waiting=int))
    length = str(100 << 20)
    assert ask(gate, "/submit", content_length=length)[0] == 200
    status, body = ask(gate, "/rewards/math", content_length=length)
    assert (status, body["code"]) == (413, "size")


def test_a_log_on_a_full_disk_costs_no_answer(tmp_path, monkeypatch):
    log = RequestLog(tmp_path)
    monkeypatch.setattr(log, "_append", lambda _data: (_ for _ in ()).throw(OSError(28, "no space left")))
    gate = Gate(inner, HttpGuard("127.0.0.1"), log, ServiceMetrics(running=int, waiting=int))
    assert ask(gate, "/rewards/math") == (200, {})
