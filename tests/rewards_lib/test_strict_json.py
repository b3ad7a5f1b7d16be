"""Strict JSON in and out."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards_lib.errors import InputError
from rewards_lib.strict_json import JsonError, read_json, walk_strings, write_json
from tests.strategies import json_values


@pytest.mark.parametrize(
    ("text", "line", "column", "says"),
    [
        ('{\n "a": 1,\n}', 2, 8, "a comma before the closing }"),
        ('["x", ]', 1, 5, "a comma before the closing ]"),
        ("{'a': 1}", 1, 2, "a single quote where a name"),
        ('{"a" 1}', 1, 6, "a colon belongs"),
        ('{"a": 1 "b": 2}', 1, 9, "a comma or the closing bracket"),
        ('{"a": }', 1, 7, "where a value belongs"),
        ('{"a": "x', 1, 7, "never ends"),
        ('{"a": "\\d"}', 1, 8, "no escape"),
        ('{"a": "x\ny"}', 1, 9, "control character"),
        ('{"a": 1} x', 1, 10, "the text goes on"),
        ('["NaN", NaN]', 1, 9, "NaN is not JSON"),
        ("[-Infinity]", 1, 2, "-Infinity is not JSON"),
    ],
)
def test_a_mistake_is_one_sentence_with_line_and_column(text, line, column, says):
    with pytest.raises(JsonError) as refused:
        read_json(text, name="p.json")
    assert (refused.value.line, refused.value.column) == (line, column)
    assert says in str(refused.value)
    assert str(refused.value).startswith(f"p.json, line {line}, column {column}:")


def test_a_byte_order_mark_is_no_mistake():
    assert read_json("\ufeff{}") == read_json(b"\xef\xbb\xbf{}") == {}


@pytest.mark.parametrize("text", ["", " \n", "[" * 100_000, "1" * 5000])
def test_empty_deep_and_endless_json_is_refused_without_a_crash(text):
    with pytest.raises(InputError):
        read_json(text)


def test_bytes_that_are_not_utf8_are_refused_with_their_offset():
    with pytest.raises(InputError, match="Byte 6 is not UTF-8"):
        read_json(b'{"a":"\xff"}')


@given(json_values)
def test_what_is_written_is_strict_json_and_reads_back_the_same(value):
    assert read_json(write_json(value)) == json.loads(json.dumps(value))


@given(st.floats())
def test_nan_and_infinity_are_never_written(number):
    if math.isfinite(number):
        assert write_json([number]) not in ("[-0.0]",)
    else:
        with pytest.raises(ValueError, match="JSON"):
            write_json([number])


def test_half_a_surrogate_pair_is_written_as_an_escape():
    assert write_json("\ud800") == '"\\ud800"'


def test_integers_keep_all_their_digits():
    assert write_json(read_json("123456789012345678901234567890")) == "123456789012345678901234567890"


def test_every_text_is_walked_with_its_path():
    assert dict(walk_strings({"a": [{"b": "x"}], "c": "y"})) == {"a[0].b": "x", "c": "y"}


def test_a_key_that_occurs_twice_is_refused_where_keys_must_be_unique():
    assert read_json('{"a": 1, "a": 2}') == {"a": 2}
    with pytest.raises(InputError, match="occurs twice"):
        read_json('[{"a": 1, "a": 2}]', unique_keys=True)


def test_a_number_beyond_the_floats_is_refused_like_nan():
    with pytest.raises(InputError, match="1e999 is too large"):
        read_json('{"a": 1e999}')
