"""A job's request is written to the disk: it holds the names of secrets and never their values."""

import json

from rewards_lib.executor import FunctionSource
from rewards_lib.jobs import JobRequest
from rewards_lib.mix import read_mix
from rewards_lib.scoring import ResolvedFunction

MIX = read_mix('{"name": "m", "rules": [{"name": "own", "function": "own"}]}')


def test_a_request_holds_the_names_of_secrets_and_no_value(tmp_path, monkeypatch):
    monkeypatch.setenv("REWARD_CONSOLE_HOME", str(tmp_path))
    source = FunctionSource("x = 1", secrets=(("JUDGE_KEY", "hunter2-hunter2"),))
    request = JobRequest("score", tmp_path / "r.jsonl", "r", MIX, functions={"own": ResolvedFunction(source, "v")})
    written = json.dumps(request.to_json())
    assert "JUDGE_KEY" in written
    assert "hunter2" not in written
    again = JobRequest.from_json(json.loads(written))
    assert again.functions["own"].source.secrets == (("JUDGE_KEY", None),)
    assert again.functions["own"].sha256 == request.functions["own"].sha256
