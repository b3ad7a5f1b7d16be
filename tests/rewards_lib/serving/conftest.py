"""A store with a published mix and two functions, and a handler over them."""

import shutil
from contextlib import closing
from pathlib import Path

import pytest

from rewards_lib.executor import Executor
from rewards_lib.mix import read_mix
from rewards_lib.publishing import publish_function, publish_mix
from rewards_lib.scoring import without_functions
from rewards_lib.serving.handler import RewardHandler
from rewards_lib.store import Store

ROOT = Path(__file__).resolve().parents[3]
NAN = """from rl_types import RewardFunctionResult
def reward_fn(context, sample, completions):
    return RewardFunctionResult([float('nan'), 1.0], {'m': float('inf')}, 'success')
"""
GOOD = """from rl_types import RewardFunctionResult
def reward_fn(context, sample, completions):
    lengths = [float(len(c["messages"][-1]["content"])) for c in completions]
    return RewardFunctionResult(lengths, {"n": len(completions)})
"""


def fill(store):
    publish_mix(store, "math", read_mix((ROOT / "examples/math/mix.json").read_text()), without_functions)
    for name, source in (("nan", NAN), ("length", GOOD)):
        publish_function(store, name, {"source": source, "requirements": "", "allow_hosts": []})


@pytest.fixture(scope="module")
def executor():
    with Executor(standing=1) as running:
        yield running


@pytest.fixture(scope="session")
def filled(tmp_path_factory):
    """The file of a store that was filled, to be copied."""
    path = tmp_path_factory.mktemp("filled") / "store.sqlite3"
    with closing(Store(f"sqlite:///{path}")) as opened:
        fill(opened)
    return path


@pytest.fixture
def store(filled, tmp_path):
    shutil.copyfile(filled, tmp_path / "store.sqlite3")
    with closing(Store(f"sqlite:///{tmp_path}/store.sqlite3")) as opened:
        yield opened


@pytest.fixture
def handler(store, executor):
    return RewardHandler(store, executor)
