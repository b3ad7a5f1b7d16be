"""What is the judge's own illness: told as such, and never held against a program."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rewards_lib.code_judge import CodeJudge, CodeRun, Submission, Verdict, find_language, toolchains
from rewards_lib.code_judge.canary import Canary
from rewards_lib.code_judge.workers import WorkerPlan, _mounts
from rewards_lib.errors import BusyError, DependencyError

C = find_language("c")
TESTS = [{"stdin": "17 25\n", "stdout": "42\n"}]


@pytest.fixture
def fresh(tmp_path):
    with CodeJudge(home=tmp_path, workers=1, is_brief=True) as judge:
        yield judge


def c_compiler():
    found = toolchains.find_toolchain(C)
    if found is None:
        pytest.skip("no C compiler")
    return found


def test_a_compiler_that_refuses_everything_is_no_compile_error_of_the_program(fresh, monkeypatch):
    broken = replace(c_compiler(), tools=dict.fromkeys(C.tools, "/bin/false"))
    monkeypatch.setattr(toolchains, "find_toolchain", lambda _language: broken)
    with pytest.raises(DependencyError, match="fails even on a program that is right"):
        fresh.judge(Submission(C.sample, C, TESTS, is_program=True))


def test_an_interpreter_that_runs_nothing_is_no_runtime_error_of_the_program(fresh, monkeypatch):
    bash = find_language("bash")
    found = toolchains.find_toolchain(bash)
    if found is None:
        pytest.skip("bash is not installed")
    broken = replace(found, tools={"bash": "/bin/false"}, runnable=(*found.runnable, "/bin/false"))
    monkeypatch.setattr(toolchains, "find_toolchain", lambda _language: broken)
    with pytest.raises(DependencyError, match="The toolchain of Bash fails even on a program that is right"):
        fresh.judge(Submission("echo 42", bash, TESTS, is_program=True))
    with pytest.raises(DependencyError, match="The toolchain of Bash fails even on a program that is right"):
        fresh.run_code(CodeRun("echo 42", bash))


def test_a_program_that_fails_where_its_language_is_well_failed_itself(fresh):
    bash = find_language("bash")
    if toolchains.find_toolchain(bash) is None:
        pytest.skip("bash is not installed")
    _compilation, execution, _files = fresh.run_code(CodeRun("echo so far; exit 3", bash))
    assert (execution.code, execution.stdout) == (3, "so far\n")


def test_a_compiler_that_is_well_lets_a_compile_error_stand(fresh):
    c_compiler()
    assert fresh.judge(Submission("int main( {", C, TESTS, is_program=True)).verdict is Verdict.COMPILE_ERROR


class Judge:
    """Of a judge what the canary uses."""

    used_languages: frozenset[str] = frozenset()

    def __init__(self, fault: Exception) -> None:
        self.fault = fault
        self.replaced = 0

    def judge(self, _submission: Submission, *, counts: bool):
        assert not counts
        raise self.fault

    def replace_workers(self) -> None:
        self.replaced += 1


@pytest.mark.parametrize("fault", [OSError("disk full"), DependencyError("No worker.")])
def test_a_canary_that_meets_any_fault_goes_on_and_says_ill(fault):
    judge = Judge(fault)
    with Canary(judge) as canary:
        canary.look()
        assert not canary.is_well
        assert canary.to_json()["python"]["well"] is False
        assert canary._thread.is_alive()
    assert judge.replaced >= 1


def test_a_busy_judge_is_no_sign_of_illness():
    with Canary(Judge(BusyError("Busy."))) as canary:
        canary.look()
        assert canary.is_well


@pytest.mark.parametrize(("readable", "leads_to_the_box"), [(("/usr",), True), (("/usr", "/tmp/checkout/lib"), False)])
def test_nothing_stands_in_the_way_of_what_is_bound_below_tmp(readable, leads_to_the_box):
    assert ("/tmp" in _mounts(WorkerPlan("A", readable=readable))) is leads_to_the_box
