"""The commands over rollouts: what they refuse, and what their progress says."""

import json
import shlex
import time

import pytest

from rewards_lib.cli import main
from rewards_lib.cli_rollouts import _ProgressBar


def test_a_format_beside_named_columns_is_refused(write, capsys):
    path = write([{"q": "1+1?", "a": "2", "reward": 1}])
    columns = ["--column", "prompt=q", "--column", "completion=a"]
    assert main(["analyze", str(path), "--format", "trl", *columns]) == 2
    assert "Leave --format or --column out" in capsys.readouterr().out


def test_rewards_of_a_file_are_compared_with_what_its_rollouts_score(write, tmp_path, capsys):
    judged = [{"q": "6*7?", "a": text, "truth": "42", "judged": reward} for text, reward in (("42", 1), ("41", 1))]
    path, mix, out = write(judged), tmp_path / "mix.json", tmp_path / "scored.jsonl"
    mix.write_text('{"name": "m", "rules": [{"name": "same", "preset": "exact_match", "weight": 1}]}')
    named = ["prompt=q", "completion=a", "answer=truth", "reward=judged"]
    columns = [part for pair in named for part in ("--column", pair)]
    assert main(["score", "--mix", str(mix), "--rollouts", str(path), "--out", str(out), *columns]) == 0
    step = capsys.readouterr().err.splitlines()[-1]
    command = step.removeprefix("Next: python -m rewards_lib ").partition(", or ")[0]
    assert shlex.split(command) == ["compare", str(path), str(out), *columns]
    assert main(shlex.split(command)) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["unchanged"], found["changed"]) == (1, 1)
    assert [(row["line"], row["a"], row["b"]) for row in found["examples"]] == [(2, 1.0, 0.0)]
    assert main(["compare", str(path), str(out), "--examples", "0"]) == 2


def test_a_file_without_rewards_is_analyzed_after_it_was_scored(write, tmp_path, capsys):
    path, mix, out = write([{"prompt": "6*7?", "completion": "42"}]), tmp_path / "mix.json", tmp_path / "out one.jsonl"
    mix.write_text('{"name": "m", "rules": [{"name": "tags", "preset": "tag_count", "weight": 1}]}')
    main(["score", "--mix", str(mix), "--rollouts", str(path), "--out", str(out)])
    step = capsys.readouterr().err.splitlines()[-1]
    assert step.startswith(f"Next: python -m rewards_lib analyze '{out}', or open it on ")


def test_advantages_that_trl_logged_come_out_again_with_the_weights_of_its_reward_functions(write, tmp_path, capsys):
    logged = [1.0500, -0.6300, -1.0500, 0.6300]  # of 1.25, 0.25, 0 and 1: mean 0.625, std 0.595119
    prompt, rewards = [{"role": "user", "content": "?"}], [(1.0, 0.5), (0.0, 0.5), (0.0, None), (1.0, 0.0)]
    path = write([
        {"step": 1, "prompt": prompt, "completion": [{"role": "assistant", "content": "x"}], "a": a, "b": b,
         "advantage": advantage} for (a, b), advantage in zip(rewards, logged, strict=True)
    ])  # fmt: skip
    mix = tmp_path / "mix.json"
    rules = [{"name": name, "preset": "contains", "weight": weight} for name, weight in (("a", 1), ("b", 0.5))]
    mix.write_text(json.dumps({"name": "m", "rules": rules}))
    assert main(["analyze", str(path), "--what-if", str(mix)]) == 0
    assert json.loads(capsys.readouterr().out)["advantages"]["grpo_trl"] == pytest.approx(logged, abs=5e-4)


def test_what_a_resumed_run_found_done_makes_no_rate(capsys, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    bar = _ProgressBar()
    now[0] += 5
    bar.show(100_000, 200_000)
    assert "a second" not in capsys.readouterr().err
    now[0] += 20
    bar.show(101_000, 200_000)
    assert "101000/200000 rollouts, 50 a second, 1980 s left" in capsys.readouterr().err
