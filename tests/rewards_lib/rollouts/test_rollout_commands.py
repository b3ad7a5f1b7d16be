"""The commands over rollouts: what they refuse, and what their progress says."""

import time

from rewards_lib.cli import main
from rewards_lib.cli_rollouts import _ProgressBar


def test_a_format_beside_named_columns_is_refused(write, capsys):
    path = write([{"q": "1+1?", "a": "2", "reward": 1}])
    columns = ["--column", "prompt=q", "--column", "completion=a"]
    assert main(["analyze", str(path), "--format", "trl", *columns]) == 2
    assert "Leave --format or --column out" in capsys.readouterr().out


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
