"""Builders that the tests of rollouts share: rows, files, mixes."""

import json

import pytest

from rewards_lib.executor import Executor
from rewards_lib.mix import read_mix
from rewards_lib.rollouts import ScoreOptions, score_file
from rewards_lib.scoring import without_functions

MATH = {
    "name": "math",
    "rules": [
        {"name": "accuracy", "preset": "math_accuracy", "weight": 1.0},
        {"name": "format", "preset": "think_answer_format", "weight": 0.1},
    ],
}
TEXT = {"name": "text", "rules": [{"name": "has", "preset": "contains"}]}


def row(text, *, prompt="What is 1+1?", answer="2", **more):
    """A canonical line."""
    sample = {"messages": [{"role": "user", "content": prompt}], "extra": {"answer": answer}}
    return {"sample": sample, "completion": text} | more


@pytest.fixture
def write(tmp_path):
    """Writes rows as JSONL and gives the path; texts are written as they are."""

    def write_rows(rows, name="rollouts.jsonl"):
        path = tmp_path / name
        lines = [line if isinstance(line, str) else json.dumps(line) for line in rows]
        path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        return path

    return write_rows


@pytest.fixture(scope="session")
def executor():
    with Executor() as running:
        yield running


@pytest.fixture
def score(tmp_path, executor):
    """Scores a file and gives the result and the rows written."""

    def run(path, mix=TEXT, out="scored.jsonl", resolve=without_functions, **options):
        target = tmp_path / out
        mix = read_mix(json.dumps(mix)) if isinstance(mix, dict) else mix
        result = score_file(mix, path, target, resolve=resolve, options=ScoreOptions(**options), executor=executor)
        return result, [json.loads(line) for line in target.read_text().splitlines()] if out.endswith("l") else target

    return run
