"""One judge for all tests of this folder: its workers are warm, its binaries are kept for the session."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from rewards_lib.code_judge import CodeJudge, Judgement, Submission, find_language


@pytest.fixture(scope="session")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CodeJudge]:
    with CodeJudge(home=tmp_path_factory.mktemp("judge"), workers=2) as one:
        yield one


@pytest.fixture
def verdict_of(judge):
    """Judge a program against one test: ``verdict_of(source, stdin, stdout, language="python", **submission)``."""

    def run(source: str, stdin: str = "", stdout: str = "", language: str = "python", **more: Any) -> Judgement:
        more = {"run_seconds": 2.0, "tests": [{"stdin": stdin, "stdout": stdout}]} | more
        return judge.judge(Submission(source, find_language(language), is_program=True, **more))

    return run
