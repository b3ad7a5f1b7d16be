"""Kept payloads must go on earning what was said: exactly, at most, nothing, or anything."""

import json

import pytest

from rewards_lib.cli import main
from rewards_lib.errors import InputError, NotFoundError
from rewards_lib.executor import Executor
from rewards_lib.mix import read_mix
from rewards_lib.regression_cases import (
    find_scorer,
    read_case,
    read_cases,
    remove_case,
    run_cases,
    save_case,
    stored_cases,
    write_cases,
)  # fmt: skip
from rewards_lib.scoring import without_functions
from rewards_lib.store import Store

EXACT = {"name": "m", "rules": [{"name": "exact", "preset": "exact_match"}]}
LOOSE = {"name": "m", "rules": [{"name": "has", "preset": "contains"}]}


def line(expected, completions=("42", "41"), **more):
    sample = {"messages": [{"role": "user", "content": "?"}], "extra": {"answer": "42"}}
    return {"name": "the answer", "sample": sample, "completions": list(completions), "expected": expected} | more


@pytest.fixture(scope="module")
def executor():
    with Executor() as running:
        yield running


def run(executor, mix, *lines):
    return run_cases(
        [read_case(one) for one in lines], read_mix(json.dumps(mix)), resolve=without_functions, executor=executor
    )


def test_a_case_holds_while_its_completions_earn_what_was_said(executor):
    found = run(executor, EXACT, line([1, 0]), line([{"at_most": 1}, "any"]))
    assert (found["status"], found["held"]) == ("success", 2)


def test_a_case_that_fails_names_its_completion_and_both_rewards(executor):
    found = run(executor, LOOSE, line([1, 0], ("42", "41 or 42")))
    assert found["status"] == "failure"
    assert found["cases"][0]["failed"] == [{"completion": 2, "expected": 0.0, "earned": 1.0, "why": ""}]


def test_unscored_passes_only_where_unscored_was_asked_for(executor):
    no_truth = line([None]) | {"completions": ["42"]}
    no_truth["sample"] = no_truth["sample"] | {"extra": {}}
    assert run(executor, EXACT, no_truth)["status"] == "success"
    for expected in (0, {"at_most": 1}):
        found = run(executor, EXACT, no_truth | {"expected": [expected]})
        assert found["cases"][0]["failed"][0]["earned"] is None
        assert found["cases"][0]["failed"][0]["why"]


def test_a_case_file_reads_back_what_was_written():
    cases = read_cases(json.dumps(line([1, {"at_most": 0.5}], note="why")) + "\n\n" + json.dumps(line(["any", None])))
    assert read_cases(write_cases(cases)) == cases


@pytest.mark.parametrize("expected", [[1], "1", [1, "some"], [1, {"at_most": "x"}], [1, True], [1, {"at_least": 1}]])
def test_a_bad_expectation_is_refused(expected):
    with pytest.raises(InputError):
        read_case(line(expected))


def test_the_store_keeps_a_case_once_and_finds_it_by_its_scorer(tmp_path):
    store = Store(f"sqlite:///{tmp_path / 's.db'}")
    first = save_case(store, read_case(line([1, 0], scorer="mix:m")))
    again = save_case(store, read_case(line([1, 0.5], scorer="mix:m")))
    assert first == again
    assert [case.expected[1].reward for case in stored_cases(store, "mix:m").values()] == [0.5]
    assert find_scorer(store, "m") == "mix:m"
    remove_case(store, first)
    with pytest.raises(NotFoundError):
        find_scorer(store, "m")


def test_the_command_exits_one_when_a_case_of_a_file_does_not_hold(tmp_path, capsys):
    (tmp_path / "cases.jsonl").write_text(json.dumps(line([1, 0], ("42", "41 or 42"))))
    for mix, status in ((EXACT, 0), (LOOSE, 1)):
        (tmp_path / "mix.json").write_text(json.dumps(mix))
        assert main(["test", "--cases", str(tmp_path / "cases.jsonl"), "--mix", str(tmp_path / "mix.json")]) == status
        assert json.loads(capsys.readouterr().out)["failed"] == status
    assert main(["test", "--cases", str(tmp_path / "cases.jsonl")]) == 2


def test_the_command_runs_the_kept_cases_of_a_mix_against_its_draft(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("REWARD_CONSOLE_HOME", str(tmp_path))
    store = Store()
    store.save_draft("mix", "m", EXACT, base_revision=None)
    save_case(store, read_case(line([1, 0], scorer="mix:m")))
    assert main(["test", "--cases", "m"]) == 0
    store.save_draft("mix", "m", LOOSE, base_revision=1)
    save_case(store, read_case(line([1, 0], ("42", "41 or 42"), scorer="mix:m")))
    assert main(["test", "--cases", "m"]) == 1
    assert main(["test", "--cases", "unknown"]) == 2
    assert "There are cases of mix:m" in capsys.readouterr().out
