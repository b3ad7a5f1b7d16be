"""Functions of TRL, verl, OpenRLHF and Ark become drafts that score; what was adapted is told."""

import json

import pytest

from rewards_lib.contract import Completion, Payload, Sample
from rewards_lib.errors import InputError
from rewards_lib.executor import Executor, FunctionSource
from rewards_lib.interop import import_file, import_source, keep_import
from rewards_lib.interop.adapters.arguments import plain
from rewards_lib.store import Store

PAYLOAD = Payload(
    Sample(({"role": "user", "content": "q"},), {"answer": "42", "level": 3}), (Completion("is 42"), Completion("no"))
)
TRL_CHAT = """
def accuracy(completions, solution, level, **kwargs):
    texts = [completion[0]["content"] for completion in completions]
    kwargs["log_metric"]("level", level[0])
    return [1.0 if truth in text else None for text, truth in zip(texts, solution)]
"""
TRL_TEXT = """
async def lengths(prompts, completions, answer):
    return [float(len(text)) for text in completions]
"""
VERL = """
def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    return {"score": float(ground_truth in solution_str), "acc": True, "level": extra_info["level"]}
"""
OPENRLHF = """
def reward_func(queries, prompts, labels, **kwargs):
    rewards = [float(label in query) for query, label in zip(queries, labels)]
    return {"rewards": rewards, "scores": rewards, "extra_logs": {"n": [2.0, 4.0]}}
"""
ARK = """
def reward_fn(context, sample, completions):
    from rl_types import RewardFunctionResult
    return RewardFunctionResult([1.0, 0.0])
"""
ARK_GROUP = """from __future__ import annotations
from typing import List
from ark_sdk.resources.pipeline_plugin import group_grader
from ark_sdk.types.pipeline_plugin import (
    Runtime,
    GroupGraderResult,
)
from ark_sdk.types.pipeline_plugin.pipeline_plugin import PluginStatus


@group_grader(
    name="x",
    runtime=Runtime(timeout=300),
)
def reward_fn(context, sample, trajectories):
    found = [float(sample.extra["answer"] in one.messages[-1]["content"]) for one in trajectories]
    return GroupGraderResult(rewards=found, status=PluginStatus.SUCCESS, error="", metrics={"n": len(found)})
"""
ARK_SINGLE = """from ark_sdk.resources.pipeline_plugin import single_grader
from ark_sdk.types.pipeline_plugin import SingleGraderResult, PluginStatus

@single_grader(name="x")
def judge(context, sample, trajectory):
    if "no" in trajectory.messages[-1]["content"]:
        return SingleGraderResult(reward=0.0, status=PluginStatus.DISCARD, error="not this one")
    return SingleGraderResult(reward=1.0, status=PluginStatus.SUCCESS, error="")
"""


@pytest.fixture(scope="module")
def executor():
    with Executor() as running:
        yield running


@pytest.mark.parametrize(
    ("text", "origin", "rewards", "metrics"),
    [
        (TRL_CHAT, "trl", [1.0, None], {"level": 3.0}),
        (TRL_TEXT, "trl", [5.0, 2.0], {}),
        (VERL, "verl", [1.0, 0.0], {"acc": 1.0, "level": 3.0}),
        (OPENRLHF, "openrlhf", [1.0, 0.0], {"n": 3.0}),
        (ARK, "ark", [1.0, 0.0], {}),
        (ARK_GROUP, "ark", [1.0, 0.0], {"n": 2.0}),
    ],
    ids=["trl chat", "trl text async", "verl", "openrlhf", "ark console", "ark group grader"],
)
def test_an_imported_function_is_recognised_and_scores(executor, text, origin, rewards, metrics):
    imported = import_source(text, name="theirs")
    assert imported.origin == origin
    assert imported.told
    assert [finding for finding in imported.findings if finding.severity == "error"] == []
    run = executor.run_function(FunctionSource(imported.content["source"]), PAYLOAD)
    assert [score.value for score in run.scores] == rewards, run.error
    assert run.metrics == metrics


def test_a_discarded_trajectory_is_unscored_and_not_zero(executor):
    imported = import_source(ARK_SINGLE, name="theirs")
    run = executor.run_function(FunctionSource(imported.content["source"]), PAYLOAD)
    assert [score.value for score in run.scores] == [None, None]
    assert "not this one" in str(run.error)


def test_the_authors_text_stays_as_it_was():
    assert import_source(VERL, name="x").content["source"].startswith(VERL.rstrip())
    assert import_source(ARK, name="x").content["source"] == ARK


def test_what_the_executor_refuses_is_found_at_its_line():
    imported = import_source("import subprocess\n" + VERL, name="x")
    assert [finding.line for finding in imported.findings if finding.severity == "error"] == [1]


@pytest.mark.parametrize("text", ["", "x = 1", "def f(a): ...", "def (", "\0"])
def test_what_holds_no_reward_function_is_refused(text):
    with pytest.raises(InputError):
        import_source(text, name="x")


def test_an_origin_that_is_named_is_taken_at_its_word():
    with pytest.raises(InputError, match="verl"):
        import_source(TRL_CHAT, name="x", origin="verl")
    with pytest.raises(InputError, match="no import from"):
        import_source(TRL_CHAT, name="x", origin="nemo")


@pytest.mark.parametrize("name", [None, 3])
def test_an_export_without_a_name_is_refused(name, tmp_path):
    row = {"kind": "function", "content": {"source": ARK}} | ({} if name is None else {"name": name})
    (tmp_path / "export.json").write_text(json.dumps(row))
    (tmp_path / "reward.py").write_text(ARK)
    with pytest.raises(InputError, match="no export"):
        import_file(tmp_path / "reward.py")


def test_an_import_takes_a_free_name_and_is_not_kept_twice(tmp_path):
    store = Store(f"sqlite:///{tmp_path}/store.sqlite3")
    first = keep_import(store, import_source(VERL, name="score"))
    assert keep_import(store, import_source(VERL, name="score")).name == first.name == "score"
    assert keep_import(store, import_source(OPENRLHF, name="score")).name == "score_2"
    store.close()


def test_an_empty_cell_of_a_table_is_no_number_for_an_exported_reward():
    assert plain({"a": float("nan"), "b": [float("inf"), 1.0]}) == {"a": None, "b": [None, 1.0]}


@pytest.mark.parametrize("text", ["x=" + "-" * 100_000 + "1", "(" * 500])
def test_a_text_nested_too_deeply_is_refused(text):
    with pytest.raises(InputError, match="This is not Python"):
        import_source(text, name="deep")
