"""The command line: strict JSON on standard output, the agreed exit status, the next step on standard error."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rewards_lib.store import Store
from rewards_lib.strict_json import read_json

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
PAYLOAD = {"sample": {"messages": [], "extra": {"answer": "0.5"}}, "completions": ["\\boxed{0.5}", "no box"]}


@pytest.fixture
def run(tmp_path):
    """Run one command in an empty folder; returns exit status, decoded output, standard error."""

    def run_(*arguments, stdin=""):
        done = subprocess.run(
            [sys.executable, "-m", "rewards_lib", *map(str, arguments)],
            cwd=tmp_path,
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "REWARD_CONSOLE_HOME": str(tmp_path / "home")},
        )
        return done.returncode, read_json(done.stdout), done.stderr

    return run_


@pytest.fixture
def payload(tmp_path):
    path = tmp_path / "payload.json"
    path.write_text(json.dumps(PAYLOAD))
    return path


def test_a_mix_is_scored_and_the_next_step_is_told_apart(run, payload):
    status, body, said = run("test", "--mix", EXAMPLES / "math/mix.json", "--payload", payload)
    assert (status, body["status"], body["rewards"]) == (0, "success", [0.35, 0.0])
    assert {"status", "error", "rewards", "metrics", "rules", "logs", "findings", "isolation"} <= set(body)
    assert [rule["weight"] for rule in body["rules"]] == [0.35, 0.1, 0.05]
    assert said.startswith("Next: ")


def test_one_preset_with_parameters_is_scored_from_standard_input(run):
    status, body, _ = run(
        "test", "--preset", "contains", "--params", '{"match": 2}', "--payload", "-", stdin=json.dumps(PAYLOAD)
    )
    assert (status, body["rewards"]) == (0, [2.0, 0.0])


def test_a_function_beside_its_mix_is_found_and_a_stored_one_by_its_name(run, tmp_path, payload):
    head = "from rl_types import RewardFunctionResult\n"
    source = head + "def reward_fn(c, s, r):\n    return RewardFunctionResult([{}] * len(r))\n"
    (tmp_path / "reward.py").write_text(source.format(1.0))
    store = Store(f"sqlite:///{home(tmp_path)}")
    store.save_draft("function", "stored", {"source": source.format(3.0)}, base_revision=None)
    store.publish("function", "stored", {"source": source.format(2.0)})
    store.close()
    rules = [{"function": "reward.py"}, {"function": "stored"}, {"name": "published", "function": "stored@1"}]
    (tmp_path / "mix.json").write_text(json.dumps({"name": "m", "rules": rules}))
    status, body, _ = run("test", "--mix", tmp_path / "mix.json", "--payload", payload)
    assert (status, body["error"]) == (0, "")
    assert [rule["rewards"][0] for rule in body["rules"]] == [1.0, 3.0, 2.0]
    assert "draft" in body["rules"][1]["version"]
    assert "v1" in body["rules"][2]["version"]


def home(tmp_path):
    (tmp_path / "home").mkdir(exist_ok=True)
    return tmp_path / "home" / "reward-console.sqlite3"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["test", "--preset", "contains", "--payload", "missing.json"], "missing.json"),
        (["test", "--preset", "nothing", "--payload", "payload.json"], "no preset"),
        (["test", "--preset", "regex_match", "--params", '{"pattern": ""}', "--payload", "payload.json"], "pattern"),
        (["test", "--preset", "contains", "--params", "{", "--payload", "payload.json"], "--params"),
        (["test", "--payload", "payload.json"], "--mix"),
        (["test", "--preset", "contains", "--payload", "payload.json", "--time-limit", "0"], "time limit"),
        (["metrics", "missing.csv"], "missing.csv"),
        (["metrics", "payload.json", "--step-range", "x"], "range"),
        (["nonsense"], "nonsense"),
        ([], "COMMAND"),
    ],
)
def test_unusable_input_is_one_sentence_and_exit_status_2(run, payload, arguments, says):
    status, body, said = run(*arguments)
    assert (status, body["status"]) == (2, "failure")
    assert says in body["error"]
    assert "Traceback" not in said


def test_a_failing_function_is_exit_status_1_with_null_rewards(run, tmp_path, payload):
    (tmp_path / "reward.py").write_text("def reward_fn(context, sample, completions):\n    return 1 / 0\n")
    status, body, _ = run("test", "--function", tmp_path / "reward.py", "--payload", payload)
    assert (status, body["status"], body["rewards"]) == (1, "failure", [None, None])
    assert "line 2" in body["error"]


def test_check_lists_every_refusal_with_its_place(run, tmp_path):
    (tmp_path / "reward.py").write_text("import subprocess\nx = eval('1')\n")
    status, body, _ = run("check", tmp_path / "reward.py")
    refused = [finding for finding in body["findings"] if finding["severity"] == "error"]
    assert (status, body["status"]) == (1, "failure")
    assert [(finding["line"], finding["column"]) for finding in refused] == [(1, 8), (2, 5)]
    assert all({"end_column", "rule", "message"} <= set(finding) for finding in refused)


def test_presets_prints_the_catalogue_with_schemas_and_rewards(run):
    status, body, _ = run("presets")
    assert status == 0
    assert all({"name", "label", "summary", "schema", "example"} <= set(row) for row in body["presets"])
    assert all(row["example"]["rewards"] for row in body["presets"])


def test_metrics_prints_series_families_and_notes(run):
    status, body, _ = run("metrics", sorted((EXAMPLES / "training_metrics").glob("*.csv"))[0])
    assert status == 0
    assert {"files", "series", "families", "findings", "notes", "summary", "x", "columns"} <= set(body)
    assert body["series"]["train/reward/final_rewards"][0][0] >= 0


@pytest.mark.parametrize("arguments", [["--help"], ["presets"], ["check", str(EXAMPLES / "functions/boxed_number.py")]])
def test_the_light_commands_import_nothing_heavy(arguments):
    heavy = ["streamlit", "pandas", "numpy", "sympy", "plotly", "sqlalchemy", "requests", "math_verify"]
    code = (
        "import sys, atexit\n"
        f"atexit.register(lambda: print([m for m in {heavy!r} if m in sys.modules], file=sys.stderr))\n"
        f"from rewards_lib.cli import main\nsys.exit(main({arguments!r}))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stderr.strip().splitlines()[-1] == "[]"


def test_no_process_outlives_a_command(run, tmp_path, payload):
    (tmp_path / "reward.py").write_text("def reward_fn(context, sample, completions):\n    while True:\n        pass\n")
    started = time.monotonic()
    status, body, _ = run("test", "--function", tmp_path / "reward.py", "--payload", payload, "--time-limit", "1")
    assert (status, body["rewards"]) == (1, [None, None])
    assert "time limit" in body["error"]
    assert time.monotonic() - started < 20
    left = [p for p in Path("/proc").glob("[0-9]*/cmdline") if str(tmp_path).encode() in _read(p)]
    assert left == []


def _read(path):
    try:
        return path.read_bytes()
    except OSError:
        return b""
