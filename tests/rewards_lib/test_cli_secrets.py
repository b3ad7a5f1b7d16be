"""``--secret NAME`` on the command line: from the variable or the store, given to the function, in no output."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from rewards_lib.store.secrets import SecretStore

ROOT = Path(__file__).resolve().parents[2]
VALUE = "sk-command-line-01"
SOURCE = """import os
from rl_types import RewardFunctionResult
def reward_fn(context, sample, completions):
    key = os.environ.get("JUDGE_KEY", "")
    print("key", key)
    return RewardFunctionResult([len(key)], {"seen " + key: 1.0})
"""


@pytest.fixture
def run(tmp_path):
    """Score one payload with the function, from a folder that is not the project's."""
    (tmp_path / "reward.py").write_text(SOURCE)
    (tmp_path / "payload.json").write_text(json.dumps({"sample": {"messages": []}, "completions": ["x"]}))

    home = str(tmp_path / "home")

    def run_(*arguments: str, **variables: str):
        done = subprocess.run(
            [sys.executable, "-m", "rewards_lib", *arguments, "--payload", "payload.json"],
            cwd=tmp_path, capture_output=True, text=True, check=False,
            env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "REWARD_CONSOLE_HOME": home, **variables},
        )  # fmt: skip
        assert VALUE not in done.stdout + done.stderr
        return done.returncode, json.loads(done.stdout)

    return run_


def test_a_secret_comes_from_the_variable_of_its_name(run):
    status, body = run("test", "--function", "reward.py", "--secret", "JUDGE_KEY", JUDGE_KEY=VALUE)
    assert (status, body["rewards"], body["logs"]) == (0, [len(VALUE)], "key [secret JUDGE_KEY]\n")
    assert body["rules"][0]["metrics"] == {"seen [secret JUDGE_KEY]": 1.0}


def test_a_secret_comes_from_the_store_when_there_is_no_such_variable(run, tmp_path):
    SecretStore(tmp_path / "home").keep("JUDGE_KEY", VALUE)
    assert run("test", "--function", "reward.py", "--secret", "JUDGE_KEY")[1]["rewards"] == [len(VALUE)]


def test_a_function_gets_no_secret_that_was_not_asked_for(run, tmp_path):
    SecretStore(tmp_path / "home").keep("JUDGE_KEY", VALUE)
    assert run("test", "--function", "reward.py", JUDGE_KEY=VALUE)[1]["rewards"] == [0]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--function", "reward.py", "--secret", "JUDGE_KEY"], "JUDGE_KEY has no value"),
        (["--preset", "contains", "--secret", "JUDGE_KEY"], "does nothing here"),
    ],
)
def test_a_secret_that_cannot_be_given_is_one_sentence_and_exit_status_2(run, arguments, says):
    status, body = run("test", *arguments)
    assert (status, body["status"]) == (2, "failure")
    assert says in body["error"]


def test_a_check_tells_a_misspelt_reward_fn(run, tmp_path):
    (tmp_path / "typo.py").write_text("def reward_func(context, sample, completions):\n    return 1\n")
    done = subprocess.run(
        [sys.executable, "-m", "rewards_lib", "check", "typo.py"], cwd=tmp_path, capture_output=True, text=True,
        check=False, env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    assert done.returncode == 0
    assert "must be named reward_fn" in done.stdout
