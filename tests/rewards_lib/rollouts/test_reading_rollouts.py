"""Files of every shape become rollouts; what is none is kept apart with its number."""

import csv
import gzip
import json
import math
import pickle
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rewards_lib.errors import InputError
from rewards_lib.rollouts import BadRow, ColumnMap, Rollout, open_rollouts
from rewards_lib.rollouts.rows import read_rows
from tests.rewards_lib.rollouts.conftest import row


def rollouts_of(path, **options):
    return list(open_rollouts(path, **options))


def test_a_canonical_line_gets_an_id_from_its_number_and_a_group_from_its_prompt(write):
    path = write([row("2"), row("3"), row("4", prompt="other"), row("5", id=7, group="g")])
    first, second, third, fourth = rollouts_of(path)
    assert (first.id, second.id, fourth.id, fourth.group) == ("1", "2", "7", "g")
    assert first.group == second.group != third.group


def test_bad_lines_are_kept_apart_with_their_number_and_the_rest_is_read(write):
    path = write([row("2"), "{oops", "[1, 2]", '{"sample": 3, "completion": "x"}', "", row("3")])
    entries = rollouts_of(path)
    assert [entry.line for entry in entries if isinstance(entry, BadRow)] == [2, 3, 4]
    assert [entry.line for entry in entries if isinstance(entry, Rollout)] == [1, 6]
    assert "object" in str(entries[3].problem)


def test_gzip_and_arrays_are_told_by_content_not_by_name(tmp_path):
    rows = [row("2"), row("3")]
    packed, array = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    packed.write_bytes(gzip.compress("".join(json.dumps(one) + "\n" for one in rows).encode()))
    array.write_text(json.dumps(rows))
    assert [one.text for one in rollouts_of(packed)] == [one.text for one in rollouts_of(array)] == ["2", "3"]


def test_a_compressed_file_that_breaks_off_says_where(tmp_path):
    path = tmp_path / "cut.jsonl.gz"
    whole = gzip.compress("".join(json.dumps(row(str(n) * 50)) + "\n" for n in range(400)).encode())
    path.write_bytes(whole[: len(whole) // 2])
    entries = rollouts_of(path)
    assert isinstance(entries[-1], BadRow)
    assert "breaks off" in str(entries[-1].problem)


def test_a_compressed_table_or_array_that_breaks_off_is_told_in_a_sentence(tmp_path):
    rng = random.Random(1)
    texts = [rng.randbytes(40).hex() for _ in range(400)]
    table, array = tmp_path / "cut.csv.gz", tmp_path / "cut.json.gz"
    whole = gzip.compress(b"prompt,completion\n" + "".join(f"p,{text}\n" for text in texts).encode())
    table.write_bytes(whole[: len(whole) // 2])
    *rows, last = read_rows(table)
    assert rows
    assert isinstance(last, BadRow)
    assert "breaks off" in str(last.problem)
    whole = gzip.compress(json.dumps([row(text) for text in texts]).encode())
    array.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match="cannot be read"):
        list(read_rows(array))


def test_no_number_of_any_kind_of_file_is_one_that_json_cannot_write(tmp_path):
    import pyarrow
    import pyarrow.parquet

    lines, array, table, columns = (tmp_path / name for name in ("a.jsonl", "b.json", "c.csv", "d.parquet"))
    lines.write_text('{"x": [NaN, 1e999, -Infinity, 0.5]}')
    array.write_text('[{"x": [NaN, 1e999, -Infinity, 0.5]}]')
    table.write_text('y,x\n1,"[NaN, 1e999, -Infinity, 0.5]"\n')
    values = [math.nan, math.inf, -math.inf, 0.5]
    pyarrow.parquet.write_table(pyarrow.table({"x": [values]}), columns)
    for path in (lines, array, table, columns):
        [(_, found)] = read_rows(path)
        assert found["x"] == [None, None, None, 0.5], path.name


def test_nan_in_a_file_is_an_absent_number(write):
    path = write(['{"input": "q", "output": "a", "score": NaN, "step": 1}'])
    assert rollouts_of(path)[0].recorded.reward is None


@settings(deadline=None, max_examples=50)  # a file is written and read each time
@given(
    st.lists(
        st.tuples(st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1), st.text("a,\"\n;' ")),
        min_size=1,
        max_size=8,
    ),
    st.sampled_from(",;\t"),
)
def test_a_csv_gives_back_as_many_rows_as_were_written(tmp_path_factory, cells, delimiter):
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(["question", "response", "answer"])
        writer.writerows([prompt, text, "1"] for prompt, text in cells)
    found = rollouts_of(path)
    assert [one.text for one in found if isinstance(one, Rollout)] == [text for _, text in cells]


def test_columns_can_be_named_by_hand(write):
    path = write([{"frage": "1+1?", "text_out": "2", "gold": "2"}])
    with pytest.raises(InputError, match="nearest"):
        open_rollouts(path)
    found = rollouts_of(path, columns=ColumnMap("frage", "text_out", answer="gold"))[0]
    assert (found.text, found.sample["extra"]["answer"]) == ("2", "2")


def test_token_ids_beside_a_completion_reach_the_rules(write):
    found = rollouts_of(write([row("2", completion_ids=[1, 2, 3])]))[0]
    assert found.completion["completion_ids"] == [1, 2, 3]
    assert found.text == "2"


def test_a_rollout_survives_the_way_to_another_process(write):
    found = rollouts_of(write([row("2", reward=0.5, step=3)]))[0]
    assert Rollout.unpack(json.loads(json.dumps(found.pack()))) == found
    bare = rollouts_of(write([row("2")]))[0]
    assert pickle.loads(pickle.dumps(bare)) == bare == Rollout.unpack(json.loads(json.dumps(bare.pack())))


@pytest.mark.parametrize("head", [b"PK\x03\x04rest", b"\x80\x04\x95rest"])
def test_a_pickle_is_never_loaded(tmp_path, head):
    path = tmp_path / "rollouts.pt"
    path.write_bytes(head)
    with pytest.raises(InputError, match="never done"):
        open_rollouts(path)


@pytest.mark.parametrize("text", ["", "\n\n", "[]"])
def test_an_empty_file_is_refused(tmp_path, text):
    path = tmp_path / "none.jsonl"
    path.write_text(text)
    with pytest.raises(InputError):
        open_rollouts(path)


def test_prompts_without_completions_are_told_from_rollouts(write):
    path = write([{"data_source": "x", "prompt": [], "reward_model": {"ground_truth": "1"}}])
    with pytest.raises(InputError, match="without completions"):
        open_rollouts(path)
