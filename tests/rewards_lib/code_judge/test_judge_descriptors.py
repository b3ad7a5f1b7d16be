"""A judge in a process that has many files open."""

import os
import resource

import pytest

from rewards_lib.code_judge import CodeJudge, Submission, find_language


@pytest.fixture
def many_open_files():
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    if before[1] < 2048:
        pytest.skip("this user may not open so many files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(before[0], 2048), before[1]))
    held = [os.dup(0) for _ in range(1100)]
    yield
    for descriptor in held:
        os.close(descriptor)
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_a_judge_works_beyond_descriptor_1024(tmp_path, many_open_files):
    with CodeJudge(home=tmp_path, workers=1, is_brief=True) as judge:
        tests = [{"stdin": "", "stdout": "1\n"}]
        judgement = judge.judge(Submission("print(1)", find_language("python"), tests, is_program=True))
    assert judgement.accepted
