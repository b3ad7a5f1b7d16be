"""The command line: findings and checks, the mix's sum, own rules, an exit status for pipelines."""

import json
from pathlib import Path

import pytest

from rewards_lib.cli import main

EXAMPLES = Path(__file__).parents[3] / "examples" / "training_metrics"
MIX = {
    "name": "maths",
    "rules": [
        {"name": "math_accuracy", "preset": "math_accuracy", "weight": 1.0},
        {"name": "think_answer_format", "preset": "think_answer_format", "weight": 0.1},
    ],
}


@pytest.fixture
def metrics(capsysbinary, tmp_path):
    def run(*arguments: object, mix=MIX) -> tuple[int, dict]:
        (tmp_path / "mix.json").write_text(json.dumps(mix))
        status = main(["metrics", *(str(a).replace("MIX", str(tmp_path / "mix.json")) for a in arguments)])
        return status, json.loads(capsysbinary.readouterr().out)

    return run


def test_findings_come_worst_first_with_everything_a_reader_needs(metrics):
    status, report = metrics(EXAMPLES / "truncated.csv")
    assert status == 0
    assert [finding["rule"] for finding in report["findings"]] == ["truncation_high", "length_hacking", "test_peak"]
    first = report["findings"][0]
    assert first["severity"] == "warning"
    assert first["series"] == ["train/generation/response_length.clipfrac"]
    assert first["steps"] == [124, 160]
    assert first["value"] > first["threshold"] == 0.3
    assert "truncation 0.21" in first["message"]
    assert all(first[key] for key in ("meaning", "advice", "source"))


def test_a_mix_that_was_trained_holds(metrics):
    _, report = metrics(EXAMPLES / "healthy.csv", "--mix", "MIX")
    assert report["findings"] == []
    assert report["weights"]["holds"] is True
    assert report["weights"]["solved"] == pytest.approx({"math_accuracy": 1, "think_answer_format": 0.1}, abs=1e-3)


def test_another_mix_is_told_with_its_difference(metrics):
    mix = {"name": "m", "rules": [MIX["rules"][0], MIX["rules"][1] | {"weight": 0.5}]}
    _, report = metrics(EXAMPLES / "healthy.csv", "--mix", "MIX", mix=mix)
    (finding,) = report["findings"]
    assert finding["rule"] == "weighted_sum"
    assert report["weights"]["largest_difference"] == pytest.approx(finding["value"])


def test_a_pipeline_can_fail_on_a_finding(metrics):
    assert metrics(EXAMPLES / "hacked.csv", "--fail-on", "warning")[0] == 1
    assert metrics(EXAMPLES / "hacked.csv", "--fail-on", "hard")[0] == 0
    assert metrics(EXAMPLES / "healthy.csv", "--fail-on", "warning")[0] == 0


def test_own_rules_are_asked_and_bad_ones_are_refused(metrics, tmp_path):
    own = tmp_path / "own.yaml"
    own.write_text(
        "rules:\n- {id: calm, severity: hard, condition: outside, window: 5, thresholds: {limit: 0.01},"
        " bounds: {train/actor/kl_loss: {above: limit}}, text: KL is high}\n"
    )
    status, report = metrics(EXAMPLES / "healthy.csv", "--rules", own, "--fail-on", "hard")
    assert (status, report["findings"][0]["message"]) == (1, "KL is high")
    own.write_text("rules: 3")
    assert metrics(EXAMPLES / "healthy.csv", "--rules", own)[0] == 2
