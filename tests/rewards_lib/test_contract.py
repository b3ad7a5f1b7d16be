"""Samples and sentences as JSON: what is written is read back."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from rewards_lib.contract import Sample, Sentence
from rewards_lib.strict_json import read_json, write_json

names = st.sampled_from(["a", "role", "content", "nested_name"])
plain = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
sentences = st.recursive(
    st.builds(Sentence, st.text(), st.dictionaries(names, plain)),
    lambda inner: st.builds(Sentence, st.text(), st.dictionaries(names, plain | inner)),
    max_leaves=5,
)
objects = st.dictionaries(names, plain)


@given(sentences)
def test_a_sentence_is_read_back_as_it_was_with_the_sentences_in_it(told):
    assert Sentence.from_json(read_json(write_json(told.to_json()))) == told


def test_a_value_that_json_cannot_write_becomes_its_text():
    told = Sentence.from_json(Sentence("{weight}", {"weight": Decimal("0.10")}).to_json())
    assert told == Sentence("{weight}", {"weight": "0.10"})


@given(st.builds(Sample, st.lists(objects, max_size=3).map(tuple), objects, st.lists(objects, max_size=3).map(tuple)))
def test_a_sample_is_read_back_as_it_was(sample):
    assert Sample.from_json(read_json(write_json(sample.to_json()))) == sample


def test_what_a_row_lacks_is_empty_in_its_sample():
    assert Sample.from_json({}) == Sample.from_json({"messages": None, "extra": None, "tools": None}) == Sample()
