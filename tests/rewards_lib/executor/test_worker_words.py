"""A worker's sentences can be translated, and a lying worker reaches nothing through their templates."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards_lib.contract import Sentence
from rewards_lib.executor.worker.refusals import sentence
from rewards_lib.executor.worker_words import read_words


def across(words):
    """What arrives at the host."""
    return read_words(json.loads(json.dumps(words.to_json())))


def test_words_among_the_values_arrive_as_sentences_of_their_own():
    words = sentence("{name} is hidden: it {reason}.", name="os", reason=sentence("starts {what}", what="processes"))
    got = across(words)
    assert str(got) == str(words) == "os is hidden: it starts processes."
    assert got.values["reason"] == Sentence("starts {what}", {"what": "processes"})


def test_a_number_keeps_its_format_and_braces_without_values_stay():
    assert str(across(sentence("took {seconds:g} s", seconds=2.50))) == "took 2.5 s"
    assert str(read_words(["a dict is {}", {}])) == "a dict is {}"


@pytest.mark.parametrize(
    "template",
    ["{a.template}", "{a.__init__.__globals__}", "{a[0]}", "{a!r}", "{a:>999999999999}", "{a:{a}}", "{a:g}", "{b}",
     "{}", "{0}", "{", "}", "{a"],
)  # fmt: skip
def test_a_template_that_reaches_further_than_a_name_is_shown_as_it_is(template):
    assert str(read_words([template, {"a": ["inner", {}]}])) == template


@pytest.mark.parametrize("pair", [None, "x", [], ["x"], ["x", []], [1, {}], ["x", {}, 1], {"x": 1}])
def test_what_is_no_pair_is_none(pair):
    assert read_words(pair) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)


@given(st.text(max_size=40) | st.from_regex(r"(\{[a-c.:g\[\]!>0-9]{0,6}\}|x){1,5}", fullmatch=True), JSON, JSON)
def test_any_pair_can_be_said(template, first, second):
    got = read_words([template, {"a": first, "b": second}])
    assert isinstance(str(got), str)
