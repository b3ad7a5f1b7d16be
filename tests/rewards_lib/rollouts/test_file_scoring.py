"""A file is scored in chunks: same bytes for any number of workers, after a kill, and with scattered groups."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rewards_lib.errors import ExecutionError, InputError
from rewards_lib.executor import FunctionSource
from rewards_lib.mix import read_mix
from rewards_lib.rollouts import ScoreOptions, open_rollouts, score_file
from rewards_lib.scoring import ResolvedFunction, without_functions
from tests.rewards_lib.rollouts.conftest import MATH, TEXT, row

COUNTS = """
from rl_types import RewardFunctionResult
def reward_fn(context, sample, completions):
    texts = [c["messages"][-1]["content"] for c in completions]
    return RewardFunctionResult([float(len(texts)) for _ in texts], {"first": float(texts[0])})
"""
OWN = {"name": "own", "rules": [{"name": "own", "function": "own.py"}]}


def own(source):
    return lambda _rule: ResolvedFunction(FunctionSource(source), "own.py · test")


class FunctionFiles:
    """A function and a mix of it as files."""

    def __init__(self, folder, source):
        (folder / "own.py").write_text(source)
        self.mix = folder / "own.json"
        self.mix.write_text(json.dumps(OWN))


def wait_for_output(running, path):
    deadline = time.monotonic() + 60
    while running.poll() is None and time.monotonic() < deadline and not (path.exists() and path.stat().st_size):
        time.sleep(0.005)


def many(groups, size=4):
    return [
        row(f"it is {n + k}", prompt=f"p{n}", answer=str(n), group=f"g{n}") for n in range(groups) for k in range(size)
    ]


def test_every_rollout_gets_its_line_in_order(write, score):
    result, rows = score(write([row("it is 2"), row("3"), row("x", prompt="other", answer="x")]))
    assert [one["reward"] for one in rows] == [1.0, 0.0, 1.0]
    assert [one["line"] for one in rows] == [1, 2, 3]
    assert (result.tally.scored, result.groups, result.to_json()["status"]) == (3, 2, "success")
    assert rows[0]["rules"] == {"has": 1.0}
    assert {one["mix_version"] for one in rows} == {result.mix_version}


def test_a_rollout_that_cannot_be_scored_is_null_with_its_reason(write, score):
    path = write([row("\\boxed{2}", group="g"), row("\\boxed{2}", group="h", answer="")])
    result, rows = score(path, MATH)
    assert [one["reward"] for one in rows] == [1.0, None]
    assert rows[1]["rules"] == {"accuracy": None, "format": 0.0}
    assert rows[1]["error"].startswith("accuracy: ")
    assert result.to_json()["failures"][0]["count"] == 1
    assert result.to_json()["status"] == "failure"


def test_bad_rows_are_counted_and_kept_apart(write, score, tmp_path):
    result, rows = score(write([row("2"), "{oops", row("2")]))
    assert (len(rows), result.bad_rows) == (2, 1)
    assert json.loads((tmp_path / "scored.jsonl.bad.jsonl").read_text())["line"] == 2


def test_a_group_reaches_a_function_in_one_call_even_when_it_is_scattered(write, score):
    path = write([row("1", group="a"), row("2", group="b"), row("3", group="a"), row("4", group="a")])
    _, rows = score(path, OWN, resolve=own(COUNTS))
    assert [one["reward"] for one in rows] == [3.0, 1.0, 3.0, 3.0]
    assert [one.get("metrics") for one in rows] == [{"own": {"first": 1.0}}, {"own": {"first": 2.0}}, None, None]


def test_rollouts_of_one_group_with_different_truths_are_never_scored_by_each_others(write, score):
    path = write([row("1", group="a", answer="1"), row("2", group="a", answer="2"), row("1", group="a", answer="2")])
    assert [one["reward"] for one in score(path)[1]] == [1.0, 1.0, 0.0]


def test_a_rollout_without_completion_is_unscored(write, score):
    prompt = {"messages": [{"role": "user", "content": "q"}], "input_metadata": {"row_id": 1}, "ground_truth": "2"}
    answered = prompt | {"messages": [*prompt["messages"], {"role": "assistant", "content": "2"}]}
    _, rows = score(write([answered, prompt]))
    assert [one["reward"] for one in rows] == [1.0, None]
    assert "no completion" in rows[1]["error"]


def test_two_workers_write_the_bytes_of_one(write, score, tmp_path):
    path = write(many(40))
    score(path, out="one.jsonl", chunk_size=16)
    score(path, out="two.jsonl", chunk_size=16, workers=2)
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()


@pytest.mark.parametrize("name", ["scored.jsonl", "scored.jsonl.gz", "scored.parquet"])
@pytest.mark.parametrize("is_scattered", [False, True])
def test_a_run_that_goes_on_gives_the_bytes_of_an_uninterrupted_one(write, tmp_path, executor, name, is_scattered):
    rows = many(20)
    path = write(rows[::2] + rows[1::2] if is_scattered else rows)
    whole, cut = tmp_path / f"whole-{name}", tmp_path / f"cut-{name}"

    def run(out, should_stop=lambda: False, **options):
        how = ScoreOptions(chunk_size=8, **options)
        mix = read_mix(json.dumps(TEXT))
        return score_file(
            mix, path, out, resolve=without_functions, options=how, executor=executor, should_stop=should_stop
        )

    run(whole)
    stops = iter([False, False, True])
    stopped = run(cut, should_stop=lambda: next(stops))
    assert not stopped.is_complete
    done = run(cut, resume=True)
    assert (done.resumed_at, done.tally.rollouts) == (stopped.tally.rollouts, 80)
    assert cut.read_bytes() == whole.read_bytes()
    assert [one.recorded.reward for one in open_rollouts(cut)] == [one.recorded.reward for one in open_rollouts(whole)]
    assert [one.line for one in open_rollouts(cut)] == list(range(1, 81))
    assert {one.name for one in tmp_path.iterdir()} == {path.name, whole.name, cut.name}


def test_a_killed_run_goes_on_behind_its_last_whole_chunk(write, score, tmp_path):
    path, mix = write(many(24)), tmp_path / "mix.json"
    mix.write_text(json.dumps(TEXT))
    whole, cut = tmp_path / "whole.jsonl", tmp_path / "cut.jsonl"
    score(path, out=whole.name, chunk_size=4)
    command = [
        sys.executable, "-m", "rewards_lib", "score", "--mix", str(mix), "--rollouts", str(path), "--out", str(cut),
        "--chunk-size", "4", "--workers", "2",
    ]  # fmt: skip
    running = subprocess.Popen(
        command, cwd=Path(__file__).parents[3], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    wait_for_output(running, cut)
    running.send_signal(signal.SIGKILL)
    running.wait()
    with cut.open("ab") as torn:
        torn.write(b'{"torn')
    done, _ = score(path, out=cut.name, chunk_size=4, resume=True)
    assert done.tally.rollouts == 96
    assert cut.read_bytes() == whole.read_bytes()


@pytest.mark.parametrize("workers", ["1", "2"])
def test_an_interrupted_run_ends_at_once_and_says_how_to_go_on(write, tmp_path, workers):
    slow = FunctionFiles(tmp_path, "import time\n" + COUNTS.replace("    texts", "    time.sleep(0.2)\n    texts"))
    path, out = write(many(100)), tmp_path / "out.jsonl"
    command = [
        sys.executable, "-m", "rewards_lib", "score", "--mix", slow.mix, "--rollouts", path, "--out", out,
        "--chunk-size", "4", "--workers", workers,
    ]  # fmt: skip
    running = subprocess.Popen(
        list(map(str, command)), cwd=Path(__file__).parents[3], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    wait_for_output(running, out)
    running.send_signal(signal.SIGINT)
    answer, _ = running.communicate(timeout=20)
    assert running.returncode == 1
    assert "--resume" in json.loads(answer)["error"]
    assert out.with_name("out.jsonl.journal").exists()


def test_going_on_with_another_mix_is_refused(write, score):
    path = write(many(20))
    mix, out = read_mix(json.dumps(TEXT)), path.with_name("scored.jsonl")
    score_file(mix, path, out, resolve=without_functions, options=ScoreOptions(chunk_size=8), should_stop=lambda: True)
    with pytest.raises(InputError, match="mix changed"):
        score(path, MATH, chunk_size=8, resume=True)


def test_a_run_whose_first_rollouts_all_fail_for_one_cause_stops_and_says_so(write, score):
    path = write([row("\\boxed{2}", prompt=f"p{n}", answer="") for n in range(120)])
    with pytest.raises(ExecutionError, match="first 50 rollouts all failed"):
        score(path, MATH)
    result, _ = score(path, MATH, keep_going=True, resume=True)
    assert (result.tally.failed, result.resumed_at) == (120, 50)


def test_leaving_a_run_ends_the_chunks_that_are_ahead_of_it(write, score):
    """What the first chunk shows must not wait for the next ones, whose function hangs."""
    source = COUNTS.replace(
        "    texts", '    if sample["extra"]["answer"] == "slow":\n        time.sleep(60)\n    1 / 0\n    texts'
    )
    rows = [row("x", prompt=f"p{n}", answer="slow" if n > 60 else "") for n in range(300)]
    started = time.monotonic()
    with pytest.raises(ExecutionError, match="first 50 rollouts all failed"):
        score(write(rows), OWN, resolve=own("import time\n" + source), chunk_size=50)
    assert time.monotonic() - started < 30


def test_scored_files_can_be_scored_again(write, score, tmp_path):
    score(write(many(3)))
    result, rows = score(tmp_path / "scored.jsonl", out="again.jsonl")
    assert result.file.format.name == "scored"
    assert rows[0]["recorded"] == {"reward": rows[0]["reward"], "rules": {"has": 1.0}}


def test_the_output_may_not_be_the_input(write):
    path = write([row("2")])
    with pytest.raises(InputError, match="overwrite"):
        score_file(read_mix(json.dumps(TEXT)), path, path, resolve=without_functions)
