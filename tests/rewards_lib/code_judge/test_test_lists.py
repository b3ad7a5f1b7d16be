"""Tests in the shapes they come in."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards_lib.code_judge.test_lists import address_of, read_tests
from rewards_lib.code_judge.verdicts import TestCase
from rewards_lib.errors import InputError

NESTED = {"input": {"stdin": "1 2\n"}, "output": {"stdout": "3\n"}}
TYPED = {"type": "StandardIO", "data": NESTED}
PLAIN = {"stdin": "1 2\n", "stdout": "3\n"}
TEXTS = {"input": "1 2\n", "output": "3\n"}


@pytest.mark.parametrize("entry", [NESTED, TYPED, PLAIN, TEXTS])
def test_every_shape_reads_as_the_same_test(entry):
    expected = [TestCase("1 2\n", "3\n")]
    assert read_tests([entry]) == expected
    assert read_tests(json.dumps([entry])) == expected
    assert read_tests(f"{json.dumps(entry)}\n{json.dumps(entry)}\n") == expected * 2


@pytest.mark.parametrize("tests", [[], "", "[]", None, 5, {}, "nonsense", [1], [{}], [{"stdin": "1"}], [{"stdout": 3}]])
def test_what_is_no_list_of_tests_is_refused(tests):
    with pytest.raises(InputError):
        read_tests(tests)


def test_tests_of_another_kind_are_refused_and_never_compared_plainly():
    with pytest.raises(InputError, match="Interactive"):
        read_tests([{"type": "Interactive", "data": NESTED}])


def test_an_address_is_told_from_tests_that_came_along():
    assert address_of({"location": "URL", "url": "https://host.example/t.json"}) == "https://host.example/t.json"
    assert address_of("http://host.example/t.json") == "http://host.example/t.json"
    assert address_of([NESTED]) is None
    assert address_of("[]") is None


@given(
    st.recursive(
        st.none() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_reading_raises_nothing_but_input_errors(value):
    with contextlib.suppress(InputError):
        assert read_tests(value)
