"""Every export target: its folder scores the example without us, equal to the bit, and comes back as it was."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from rewards_lib.errors import InputError
from rewards_lib.executor import Executor
from rewards_lib.function_sources import resolver
from rewards_lib.interop import TARGETS, export_version, import_file, keep_import
from rewards_lib.interop.exporting import exported_files
from rewards_lib.mix import mix_from_json
from rewards_lib.publishing import open_version, publish_function, publish_mix
from rewards_lib.store import Store

ROOT = Path(__file__).resolve().parents[2]
FUNCTION = """import re
from reward_tools import boxed, completion_text, math_equal
from rl_types import RewardFunctionResult, RewardStatus

CALLS = []


def reward_fn(context, sample, completions):
    CALLS.append(1)
    rewards = []
    for completion in completions:
        text = completion_text(completion)
        if not text:
            rewards.append(None)
        else:
            answer = boxed(completion["messages"]["content"])
            right = bool(answer and math_equal(answer, sample["extra"]["answer"]))
            rewards.append(right + 0.1 * len(re.findall("o", text)) / 3)
    return RewardFunctionResult(rewards, {"calls": len(CALLS)}, RewardStatus.SUCCESS)
"""
MIX = {
    "name": "mixed",
    "rules": [
        {"name": "acc", "preset": "math_accuracy", "weight": 0.7},
        {"name": "format", "preset": "think_answer_format", "weight": 0.1},
        {"name": "shape", "preset": "cosine_length", "weight": 0.3},
        {"name": "own", "function": "own", "weight": 0.05},
    ],
}


@pytest.fixture(scope="module")
def executor():
    with Executor() as running:
        yield running


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    opened = Store(f"sqlite:///{tmp_path_factory.mktemp('store')}/store.sqlite3")
    content = {"source": FUNCTION, "requirements": "", "allow_hosts": []}
    opened.save_draft("function", "own", content, base_revision=None)
    publish_function(opened, "alone", content)
    publish_mix(opened, "mixed", mix_from_json(MIX), resolver(store=lambda: opened))
    yield opened
    opened.close()


def published(store, name):
    kind = "mix" if name == "mixed" else "function"
    return open_version(store.load_version(kind, name))


def smoke(folder):
    """Run the smoke test as on another machine: an empty environment, isolated, nothing of the console on the path."""
    return subprocess.run(
        [sys.executable, "-I", str(folder / "smoke_test.py")], cwd="/", env={}, capture_output=True, text=True,
        timeout=100, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("target", TARGETS)
def test_the_folder_scores_without_us_to_the_last_bit_and_comes_back_as_it_was(target, store, executor, tmp_path):
    exported = export_version(published(store, "mixed"), target, tmp_path / "out", executor=executor)
    done = smoke(exported.folder)
    assert done.returncode == 0, done.stdout + done.stderr
    rewards = [row["rewards"] for row in json.loads((exported.folder / "smoke_test.json").read_text())]
    assert len({reward for row in rewards for reward in row}) > 4  # not all the same, so that equality says something
    for path in exported.files:
        if path.endswith(".py"):
            assert "rewards_lib" not in (exported.folder / path).read_text(), path

    entry = "plugin.py" if target == "ms-swift" else "rl_reward.py" if target == "ark" else "reward.py"
    imported = import_file(exported.folder / entry)
    assert (imported.kind, imported.name, imported.origin) == ("mix", "mixed", "export")
    draft = keep_import(store, imported)
    again = publish_mix(store, "mixed", mix_from_json(draft.content), resolver(store=lambda: store))
    assert again.repeated
    assert exported_files(open_version(again), TARGETS[target], executor=executor) == {
        path: (exported.folder / path).read_text() for path in exported.files
    }


@pytest.mark.parametrize(("target", "entry"), [("trl", "reward.py"), ("ark", "rl_reward.py")])
def test_a_function_alone_is_exported_too(target, entry, store, executor, tmp_path):
    exported = export_version(published(store, "alone"), target, tmp_path / "out", executor=executor)
    done = smoke(exported.folder)
    assert done.returncode == 0, done.stdout + done.stderr
    imported = import_file(exported.folder / entry)
    assert imported.content["source"] == FUNCTION


def test_arks_plugin_is_run_by_its_smoke_test(store, executor, tmp_path):
    exported = export_version(published(store, "mixed"), "ark", tmp_path / "out", executor=executor)
    plugin = exported.folder / "plugins" / "reward.py"
    plugin.write_text(plugin.read_text().replace("list(result.rewards)", "[0.25 for _ in trajectories]"))
    done = smoke(exported.folder)
    assert done.returncode != 0
    assert "the SDK's plugin ([0.25" in done.stderr


def test_two_exports_live_in_one_process(store, executor, tmp_path):
    one = export_version(published(store, "alone"), "trl", tmp_path / "one", executor=executor)
    two = export_version(published(store, "mixed"), "trl", tmp_path / "two", executor=executor)
    code = (
        "import sys, importlib.util\n"
        "def load(folder):\n"
        "    spec = importlib.util.spec_from_file_location('r', folder + '/reward.py')\n"
        "    module = importlib.util.module_from_spec(spec); spec.loader.exec_module(module)\n"
        "    return module.reward_func\n"
        "one, two = map(load, sys.argv[1:])\n"
        "columns = {'prompts': ['?'], 'completions': ['so \\\\boxed{0.5}'], 'answer': ['0.5']}\n"
        "print(one(**columns), two(**columns), one.__name__, two.__name__)\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", code, str(one.folder), str(two.folder)], capture_output=True, text=True, check=True
    )
    assert done.stdout.split()[-2:] == ["alone", "mixed"]
    assert "None" not in done.stdout


def test_a_later_version_takes_the_place_of_an_export_and_of_nothing_else(store, executor, tmp_path):
    folder = tmp_path / "out"
    export_version(published(store, "alone"), "verl", folder, executor=executor)
    export_version(published(store, "alone"), "trl", folder, executor=executor)
    assert json.loads((folder / "export.json").read_text())["target"] == "trl"
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="something else"):
        export_version(published(store, "alone"), "trl", tmp_path / "full", executor=executor)
    with pytest.raises(InputError, match="no target"):
        export_version(published(store, "alone"), "nemo", folder, executor=executor)


def test_a_group_rule_is_warned_of_where_the_trainer_hands_over_one_completion(store, executor, tmp_path):
    mix = mix_from_json({"name": "group", "rules": [{"preset": "length_group"}]})
    version = publish_mix(store, "group", mix, resolver(store=lambda: store))
    assert export_version(open_version(version), "verl", tmp_path / "a", executor=executor).findings
    assert not export_version(open_version(version), "trl", tmp_path / "b", executor=executor).findings


def test_an_export_goes_into_the_empty_folder_one_stands_in(store, executor, tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    export_version(published(store, "alone"), "trl", Path(), executor=executor)
    assert (tmp_path / "here" / "README.md").is_file()
