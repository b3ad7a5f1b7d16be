"""``load_mix`` in a notebook or a test gives what the command line gives."""

from pathlib import Path

import pytest

from rewards_lib import load_mix
from rewards_lib.errors import InputError, NotFoundError
from rewards_lib.executor import Executor
from rewards_lib.function_sources import resolver
from rewards_lib.mix import read_mix
from rewards_lib.publishing import publish_mix
from rewards_lib.store import Store

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture(scope="module")
def executor():
    with Executor() as running:
        yield running


@pytest.fixture
def store(tmp_path):
    opened = Store(f"sqlite:///{tmp_path}/store.sqlite3")
    mix = read_mix((EXAMPLES / "math/mix.json").read_text())
    publish_mix(opened, "math", mix, resolver(store=lambda: opened))
    yield opened
    opened.close()


def test_a_version_a_mix_file_and_a_function_file_are_loaded_alike(store, executor):
    payload = (EXAMPLES / "payloads/ark_envelope.json").read_text()
    published = load_mix("math", store=store, executor=executor).score(payload)
    from_file = load_mix(EXAMPLES / "math/mix.json", store=store, executor=executor).score(payload)
    assert published.rewards == from_file.rewards == (0.45, 0.35, 0.1)
    assert published.mix_version == from_file.mix_version
    function = load_mix(EXAMPLES / "functions/boxed_number.py", executor=executor)
    assert function.score(completions=["\\boxed{0.5}", "no"], answer="0.5").rewards == (1.0, 0.0)


def test_completions_may_be_given_without_a_payload(store, executor):
    mix = load_mix("math@1", store=store, executor=executor)
    assert mix.label == "math@1"
    assert mix.score(completions=["so \\boxed{0.5}"], answer="1/2").rewards == (0.35,)
    assert mix.score(completions=["so \\boxed{0.5}"]).rewards == (None,)  # no ground truth: unscored, not 0
    sample = {"messages": [{"role": "user", "content": "?"}], "extra": {"answer": "0.5"}}
    assert mix.score(completions=["so \\boxed{0.5}"], sample=sample).rewards == (0.35,)


def test_what_cannot_be_loaded_or_read_is_refused(store, executor):
    with pytest.raises(NotFoundError):
        load_mix("other", store=store)
    mix = load_mix("math", store=store, executor=executor)
    with pytest.raises(InputError, match="nothing to score"):
        mix.score()
    with pytest.raises(InputError, match="completions is empty"):
        mix.score({"sample": {}, "completions": []})
