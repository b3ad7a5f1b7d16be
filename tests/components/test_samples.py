"""Samples come out of whatever file a trainer or a colleague wrote, and what cannot be read is told."""

from __future__ import annotations

import json

import pytest
from streamlit.testing.v1 import AppTest

from components import cache
from components.samples import read_samples
from rewards_lib.datasets import save_dataset

SAMPLE = {"messages": [{"role": "user", "content": "3+4?"}], "extra": {"answer": "7"}}
PAYLOAD = {"sample": SAMPLE, "completions": ["7", "8"]}
ROLLOUTS = [{"group": "g", "sample": SAMPLE, "completion": text} for text in ("7", "8")]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(PAYLOAD),
        json.dumps(PAYLOAD, indent=2),
        json.dumps([PAYLOAD]),
        "\n".join(json.dumps(row) for row in ROLLOUTS),
        json.dumps(ROLLOUTS),
    ],
    ids=["a line", "an object over lines", "an array", "rollouts", "an array of rollouts"],
)
def test_one_sample_with_two_completions_is_read_from_any_of_these(text):
    samples, refused = read_samples(text.encode(), name="file.json")
    assert refused == []
    assert [[one.text for one in sample.completions] for sample in samples] == [["7", "8"]]
    assert samples[0].sample.prompt == "3+4?"


def test_a_line_that_is_no_sample_is_told_with_its_number_and_the_others_are_read():
    samples, refused = read_samples((json.dumps(PAYLOAD) + "\n{}\n").encode(), name="file.jsonl")
    assert len(samples) == 1
    assert refused[0].startswith("file.jsonl, line 2:")


@pytest.mark.parametrize("data", [b"", b"\x00\xff", b"[]", b"hello", b"PAR1rubbish"])
def test_a_file_that_holds_no_sample_gives_none_and_says_why(data):
    samples, refused = read_samples(data, name="file.bin")
    assert samples == []
    assert refused


def test_the_prompts_of_a_kept_data_set_can_be_tried_with_completions_of_ones_own(tmp_path, monkeypatch):
    monkeypatch.setenv("REWARD_CONSOLE_HOME", str(tmp_path))
    cache.store.clear()
    rows = [(1, {"messages": [{"role": "user", "content": "3+4?"}], "extra": {"answer": "7"}})]
    save_dataset(cache.store(), "sums", rows)

    def page():
        from components import samples

        samples._load_dataset("sums")
        [only] = samples.all_samples()
        assert only.sample.extra["answer"] == "7"
        assert [completion.text for completion in only.completions] == [""]

    assert not AppTest.from_function(page).run().exception
    cache.store.clear()
