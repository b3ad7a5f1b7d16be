"""The commands around versions: publish, versions, export, import."""

import json

import pytest

from rewards_lib.cli import main
from tests.rewards_lib.serving.conftest import GOOD, ROOT

MIX = ROOT / "examples/math/mix.json"


@pytest.fixture
def run(tmp_path, monkeypatch, capsysbinary):
    """Run a command in this process; returns exit status and decoded output."""
    monkeypatch.setenv("REWARD_CONSOLE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("REWARD_CONSOLE_DATABASE", raising=False)

    def run_(*arguments):
        status = main([str(argument) for argument in arguments])
        return status, json.loads(capsysbinary.readouterr().out)

    return run_


def test_a_mix_is_published_listed_compared_withdrawn_and_restored(run, tmp_path):
    status, first = run("publish", "--name", "math", "--mix", MIX, "--note", "first")
    assert (status, first["status"], first["version"], first["note"]) == (0, "success", 1, "first")
    assert run("publish", "--name", "math", "--mix", MIX)[1]["repeated"]
    other = tmp_path / "mix.json"
    other.write_text(MIX.read_text().replace("0.35", "0.5"))
    assert run("publish", "--name", "math", "--mix", other)[1]["version"] == 2
    assert [row["version"] for row in run("versions", "math")[1]["versions"]] == [2, 1]
    changes = run("versions", "math", "--diff", 1, 2)[1]["changes"]
    assert [(one["path"], one["old"], one["new"]) for one in changes] == [("rules.accuracy.weight", 0.35, 0.5)]
    assert run("versions", "math", "--withdraw", 2)[1]["withdrawn_at"]
    assert run("versions", "math", "--restore", 1)[1]["restored"] == 1
    assert len(run("versions")[1]["versions"]) == 2


def test_what_is_not_there_and_what_does_nothing_is_refused(run, tmp_path):
    assert run("versions", "math")[0] == 2
    assert run("versions", "--diff", 1, 2)[0] == 2
    assert run("publish", "--name", "math", "--mix", MIX, "--secret", "TOKEN")[0] == 2
    assert run("publish", "--name", "a/b", "--mix", MIX)[0] == 2
    bad = tmp_path / "bad.py"
    bad.write_text("import socket\n")
    status, body = run("publish", "--name", "bad", "--function", bad)
    assert (status, body["status"]) == (2, "failure")
    assert "line 1" in body["error"]
    assert run("export", "--name", "none", "--target", "trl", "--out", tmp_path / "out")[0] == 2
    assert run("load-test", "--name", "x", "--payload", tmp_path / "none.json")[0] == 2


def test_a_function_is_exported_and_comes_back_by_import(run, tmp_path):
    file = tmp_path / "length.py"
    file.write_text(GOOD)
    assert run("publish", "--name", "length", "--function", file)[1]["kind"] == "function"
    status, body = run("export", "--name", "length@1", "--target", "trl", "--out", tmp_path / "out")
    assert (status, body["target"], "smoke_test.py" in body["files"]) == (0, "trl", True)
    status, body = run("import", tmp_path / "out" / "reward.py")
    assert (status, body["name"], body["from"], body["source"]) == (0, "length", "export", GOOD)


def test_a_load_test_asks_the_service_of_the_port_that_is_set(run, monkeypatch):
    asked = []
    monkeypatch.setattr(
        "rewards_lib.serving.load_test.run_load_test",
        lambda plan, _tell: asked.append(plan.url) or {"status": "success"},
    )
    monkeypatch.setenv("REWARD_CONSOLE_SERVICE_PORT", "8765")
    payload = ROOT / "examples/payloads/bare_request.json"
    assert run("load-test", "--name", "math", "--payload", payload)[0] == 0
    assert run("load-test", "--name", "math", "--payload", payload, "--url", "http://h:1")[0] == 0
    assert asked == ["http://127.0.0.1:8765", "http://h:1"]
