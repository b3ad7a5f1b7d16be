"""A scored file is looked into by place, and filtered by what its rollouts say."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards_lib.errors import InputError
from rewards_lib.rollouts import scored_file
from rewards_lib.rollouts.filtering import read_filter, select
from rewards_lib.rollouts.scored_file import columns_path, open_scored
from tests.rewards_lib.rollouts.conftest import row


@pytest.fixture
def scored(write, score, tmp_path):
    rows = [
        row("it is 2", id="a", group="g1"),
        row("it is three", id="b", group="g1"),
        row("two, or 2", id="c", group="g2", prompt="What is 4-2?"),
    ]
    rows[2]["sample"]["extra"]["level"] = 3
    score(write(rows))
    return open_scored(tmp_path / "scored.jsonl")


def wanted(scored, text):
    return select(scored, read_filter(text, list(scored.table.rules)), [0.0] * len(scored.table.rewards))


def test_a_rollout_is_read_by_its_place(scored):
    assert [rollout.id for rollout in scored.read([2, 0])] == ["c", "a"]
    assert scored.members(0) == [0, 1]


def test_the_columns_are_kept_beside_the_file_until_it_changes(scored):
    assert columns_path(scored.path).exists()
    again = open_scored(scored.path)
    assert again.table.rewards.tolist() == scored.table.rewards.tolist()
    assert again.starts.tolist() == scored.starts.tolist()
    lines = scored.path.read_bytes().splitlines(keepends=True)
    scored.path.write_bytes(b"".join(lines[:2]))
    assert len(open_scored(scored.path).table.rewards) == 2


def test_columns_of_a_file_of_the_same_size_are_made_anew_when_it_was_written_again(scored):
    open_scored(scored.path)
    lines = scored.path.read_bytes().splitlines(keepends=True)
    scored.path.write_bytes(b"".join(lines[1:] + lines[:1]))
    os.utime(scored.path, ns=(1, 1))
    rewards = scored.table.rewards.tolist()
    assert open_scored(scored.path).table.rewards.tolist() == rewards[1:] + rewards[:1] != rewards


def test_columns_of_a_file_that_grew_while_it_was_read_are_not_taken_for_the_whole(scored, monkeypatch):
    whole = scored.path.read_bytes()
    scored.path.write_bytes(b"".join(whole.splitlines(keepends=True)[:2]))
    build = scored_file.build_table

    def build_while_it_grows(rollouts):
        table = build(rollouts)
        scored.path.write_bytes(whole)
        return table

    monkeypatch.setattr(scored_file, "build_table", build_while_it_grows)
    assert len(open_scored(scored.path).table.rewards) == 2
    monkeypatch.undo()
    assert len(open_scored(scored.path).table.rewards) == 3


def test_damaged_columns_are_made_anew(scored):
    columns = columns_path(scored.path)
    columns.write_bytes(columns.read_bytes()[:100])
    assert len(open_scored(scored.path).table.rewards) == 3


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("reward >= 1", [0, 2]),
        ("not has == 1", [1]),
        ("reward == null", []),
        ('"THREE" in text', [1]),
        ("three", [1]),
        ("extra.level == 3", [2]),
        ("extra.level > 1 and reward > 0", [2]),
        ('"4-2" in prompt or group == "g1" and 0 <= reward < 1', [1, 2]),
        ("length < 9 - 1", [0]),
        ("", [0, 1, 2]),
    ],
)
def test_a_filter_lets_through_what_it_says(scored, text, places):
    assert wanted(scored, text or "reward != null") == places


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("rewrd < 1", "Column 1: there is no rewrd; the nearest is reward."),
        ("reward < 1 and 0 <", "cannot be read from column"),
        ("__import__('os')", "cannot stand in a filter"),
        ("reward.__class__", "there is no reward.__class__"),
        ("[x for x in text]", "cannot stand in a filter"),
        ("text is 'a'", "cannot stand in a filter"),
    ],
)
def test_a_bad_filter_names_the_place_and_what_is_known(scored, text, told):
    with pytest.raises(InputError, match=told.replace(".", r"\.")) as caught:
        wanted(scored, text)
    assert "reward" in str(caught.value.remedy)


@given(st.text(max_size=30))
def test_any_text_is_a_filter_or_is_refused_in_a_sentence(text):
    try:
        found = read_filter(text, ["has"])
    except InputError:
        return
    found.test({"reward": None, "length": 1.0, "text": "x", "group": "g"})


FIRST_VERSION = (
    '{"line": 1, "id": "1", "group": "g", "sample": {"messages": [{"role": "user", "content": "1+1?"}], "extra": '
    '{"answer": "2"}, "tools": []}, "completion": "2", "reward": 1.0, "rules": {"has": 1.0}, "status": "success", '
    '"mix_version": "f6029c1ac648"}\n'
    '{"line": 2, "id": "2", "group": "g", "sample": {"messages": [], "extra": {}, "tools": []}, "completion": null, '
    '"reward": null, "rules": {"has": null}, "status": "failure", "error": "The rollout has no completion.", '
    '"mix_version": "f6029c1ac648", "recorded": {"reward": 0.5, "rules": {}}, "meta": {"step": 3}}\n'
)
"""As ``score`` wrote it when it was new: these bytes never change."""


def test_a_file_of_the_first_version_stays_readable(tmp_path):
    path = tmp_path / "old.jsonl"
    path.write_text(FIRST_VERSION)
    scored = open_scored(path)
    assert scored.table.rewards.tolist()[0] == 1.0
    second = scored.read([1])[0]
    assert (second.recorded.reward, second.recorded.error) == (None, "The rollout has no completion.")
    assert second.meta["step"] == 3
