"""Ray's actors write what local workers write. Runs where Ray is installed: see CONTRIBUTING."""

import importlib.util

import pytest

from rewards_lib.errors import DependencyError
from rewards_lib.mix import read_mix
from rewards_lib.rollouts import ScoreOptions, score_file
from rewards_lib.scoring import without_functions
from tests.rewards_lib.rollouts.conftest import row

HAS_RAY = importlib.util.find_spec("ray") is not None
TEXT = read_mix('{"name": "text", "rules": [{"name": "has", "preset": "contains"}]}')


@pytest.mark.skipif(HAS_RAY, reason="ray is installed here")
def test_without_ray_its_engine_says_what_to_install(write, tmp_path):
    with pytest.raises(DependencyError, match="Ray is not installed") as caught:
        score_file(
            TEXT, write([row("2")]), tmp_path / "o.jsonl", resolve=without_functions, options=ScoreOptions(engine="ray")
        )
    assert "pip install ray" in str(caught.value.remedy)


@pytest.mark.skipif(not HAS_RAY, reason="ray is not installed: see CONTRIBUTING")
@pytest.mark.timeout(300)
def test_ray_writes_the_same_bytes_as_local_workers(write, tmp_path):
    source = write([row(f"it is {n % 5}", prompt=f"p{n // 4}") for n in range(1000)])
    for name, options in (
        ("local.jsonl", ScoreOptions(chunk_size=64)),
        ("ray.jsonl", ScoreOptions(chunk_size=64, engine="ray", workers=2)),
    ):  # fmt: skip
        done = score_file(TEXT, source, tmp_path / name, resolve=without_functions, options=options)
        assert (done.tally.scored, done.is_complete) == (1000, True)
    assert (tmp_path / "local.jsonl").read_bytes() == (tmp_path / "ray.jsonl").read_bytes()
