"""The documents are true: errors, presets, dialects and commands have their place, worked lines give what they say."""

import doctest
import importlib
import json
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import components
import rewards_lib
from rewards_lib import errors
from rewards_lib.payloads import DIALECTS, decode

ROOT = Path(__file__).resolve().parents[1]
APART = ("rewards_lib.__main__", "rewards_lib.executor.worker", "components.locale.update")


def modules():
    for package in (rewards_lib, components):
        for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            if not found.name.startswith(APART) and "node_modules" not in found.name:
                yield found.name


@pytest.mark.parametrize("name", list(modules()))
def test_worked_lines_give_what_they_say(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def family(base=errors.RewardConsoleError):
    for child in base.__subclasses__():
        yield child
        yield from family(child)


def test_every_error_of_the_family_stands_in_docs_errors():
    import rewards_lib.store
    import rewards_lib.strict_json  # noqa: F401

    text = (ROOT / "docs" / "errors.md").read_text()
    ours = [error for error in family() if error.__module__.startswith("rewards_lib")]
    assert [error.__name__ for error in ours if f"`{error.__name__}` | `{error.code}`" not in text] == []


def test_every_payload_dialect_has_its_heading_and_its_example_reads():
    text = (ROOT / "docs" / "payloads.md").read_text()
    assert [name for name in DIALECTS if f"\n## {name}\n" not in text] == []
    examples = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", text, re.DOTALL)]
    assert [decode(example).dialect for example in examples] == list(DIALECTS)


def commands():
    """The commands that the parser knows, by its own help."""
    done = subprocess.run(
        [sys.executable, "-m", "rewards_lib", "--help"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return re.findall(r"^    ([a-z][a-z-]+) ", done.stdout, re.MULTILINE)


@pytest.mark.parametrize("command", commands())
def test_every_command_explains_itself(command):
    done = subprocess.run(
        [sys.executable, "-m", "rewards_lib", command, "--help"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0
    assert f"rewards_lib {command}" in done.stdout


def test_every_format_of_rollouts_and_every_verdict_stands_in_its_document():
    from rewards_lib.rollouts import FORMATS

    text = (ROOT / "docs" / "rollouts.md").read_text()
    verdicts = ("too_few", "unscored", "not_needed", "rft_first", "no_headroom", "ready")
    assert [name for name in (*FORMATS, *verdicts) if f"| `{name}` |" not in text] == []
    assert [command for command in ("score", "analyze", "compare", "attack") if f"\n## {command}\n" not in text] == []


def test_the_example_rollouts_are_what_their_script_writes(tmp_path):
    script = ROOT / "examples" / "rollouts" / "make_examples.py"
    written = {"__name__": "__main__", "__file__": str(tmp_path / script.name)}
    exec(compile(script.read_text(), str(script), "exec"), written)
    for path in tmp_path.glob("*.jsonl"):
        assert path.read_bytes() == script.with_name(path.name).read_bytes()


def test_nothing_committed_names_a_registry_or_a_path_of_one_machine():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    hosts = re.compile(
        "|".join(
            ["py" + r"pi\.org", "registry" + r"\.npmjs", "pythonhosted" + r"\.org", "/wo" + "rk/main", "/ro" + "ot/"]
        )
    )
    named = []
    for name in filter(None, listed.split("\0")):
        path = ROOT / name
        if path.is_file() and path.suffix not in {".png", ".ico"}:
            named += [name] if hosts.search(path.read_text(encoding="utf-8", errors="replace")) else []
    assert named == []


def test_the_commands_of_the_readme_run():
    text = (ROOT / "README.md").read_text()
    lines = [line.partition("#")[0].split() for line in text.splitlines() if line.startswith(".venv/bin/python -m")]
    assert len(lines) >= 5
    for line in lines:
        done = subprocess.run([sys.executable, *line[1:]], cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (line, done.stderr)


def test_the_reward_of_the_readme_earns_what_it_should():
    from rewards_lib.executor import Executor, FunctionSource
    from rewards_lib.payloads import read_payload

    source = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)[0]
    payload = read_payload((ROOT / "examples/payloads/ark_envelope.json").read_text())
    with Executor() as executor:
        run = executor.run_function(FunctionSource(source), payload)
    assert [score.value for score in run.scores] == [1.0, 1.0, 0.0], run.error


def test_every_benchmark_stands_in_docs_benchmarks():
    text = (ROOT / "docs" / "benchmarks.md").read_text()
    assert [path.name for path in (ROOT / "benchmarks").glob("*.py") if f"`{path.name}" not in text] == []


def test_the_page_on_the_sandbox_speaks_of_every_tier_and_names_what_exists():
    text = (ROOT / "docs" / "sandbox.md").read_text()
    assert "| A run cannot ... | A | B | C |" in text
    assert "\n## How to report an escape\n" in text
    named = set(re.findall(r"`([a-z_/]+\.py)", text)) - {"reward.py"}
    known = {path.name for path in ROOT.glob("tests/rewards_lib/executor/*.py")}
    assert [name for name in named if not (ROOT / name).is_file() and name not in known] == []


def test_the_tree_in_contributing_names_every_room_of_the_library():
    tree = (ROOT / "CONTRIBUTING.md").read_text("utf-8").split("```")[1]
    rooms = {path.name + ("/" if path.is_dir() else "") for path in (ROOT / "rewards_lib").glob("[a-z]*")}
    assert [room for room in sorted(rooms) if room not in tree and not room.startswith("cli_")] == []
