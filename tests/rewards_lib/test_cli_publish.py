"""The commands around versions: publish, versions, export, import."""

import json

import pytest

from rewards_lib.cli import main
from rewards_lib.regression_cases import read_case, save_case
from rewards_lib.store import Store
from tests.rewards_lib.serving.conftest import GOOD, ROOT

MIX = ROOT / "examples/math/mix.json"


@pytest.fixture
def run(tmp_path, monkeypatch, capsysbinary):
    """Run a command in this process; returns exit status and decoded output. ``run.told()`` is its standard error."""
    monkeypatch.setenv("REWARD_CONSOLE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("REWARD_CONSOLE_DATABASE", raising=False)

    told = []

    def run_(*arguments):
        status = main([str(argument) for argument in arguments])
        printed = capsysbinary.readouterr()
        told.append(printed.err.decode())
        return status, json.loads(printed.out)

    run_.told = lambda: told[-1]
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


def kept_case(completion, reward):
    sample = {"messages": [{"role": "user", "content": "17 + 25?"}], "extra": {"answer": "42"}}
    row = {"name": completion, "scorer": "mix:sums", "sample": sample, "completions": [completion]}
    save_case(Store(), read_case(row | {"expected": [reward]}))


def test_cases_that_do_not_hold_are_a_warning_of_publish_and_keep_nobody_from_it(run, tmp_path):
    mix = tmp_path / "mix.json"
    mix.write_text('{"name": "any", "rules": [{"name": "loose", "preset": "contains", "weight": 1}]}')
    assert run("publish", "--name", "sums", "--mix", mix)[1]["cases"] == {
        "held": 0, "failed": 0, "failing": [], "error": "",
    }  # fmt: skip
    assert "Warning" not in run.told()
    kept_case("42", 1)
    assert run("publish", "--name", "sums", "--mix", mix)[1]["cases"]["held"] == 1
    assert "Warning" not in run.told()
    kept_case("41 or 42", 0)
    status, body = run("publish", "--name", "sums", "--mix", mix, "--note", "again")
    assert (status, body["status"]) == (0, "success")
    [failing] = body["cases"]["failing"]
    assert (failing["name"], failing["failed"][0]["expected"], failing["failed"][0]["earned"]) == ("41 or 42", 0, 1)
    assert "Warning: 1 of 2 cases do not hold: 41 or 42." in run.told()
    assert run("test", "--cases", "mix:sums", "--mix", mix)[0] == 1


def test_cases_that_cannot_be_run_are_a_warning_of_publish(run, tmp_path):
    file = tmp_path / "length.py"
    file.write_text(GOOD)
    Store().put_item("case", "cut-off", {"scorer": "function:sums"})
    status, body = run("publish", "--name", "sums", "--function", file)
    assert (status, body["version"], body["cases"]["held"], body["cases"]["failed"]) == (0, 1, 0, 0)
    assert body["cases"]["error"]
    assert "Warning: the regression cases could not be run." in run.told()


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
