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


@pytest.mark.parametrize(
    "tests",
    [
        {"inputs": ["1 2\n", "3"], "outputs": ["3\n", "3"]},
        {"inputs": [["1 2", ""], "3"], "outputs": [["3", ""], "3"], "fn_name": None},
        {"input": ["1 2\n", "3"], "output": ["3\n", "3"]},
        {"tests": [PLAIN, {"stdin": "3", "stdout": "3"}]},
        [TEXTS | {"testtype": "stdin"}, {"type": "stdin_stdout", "fn_name": None, "input": "3", "output": "3"}],
    ],
)
def test_the_shapes_of_data_sets_are_read(tests):
    expected = [TestCase("1 2\n", "3\n"), TestCase("3", "3")]
    assert read_tests(tests) == expected
    assert read_tests(json.dumps(json.dumps(tests))) == expected


@pytest.mark.parametrize("entry", [{"input": None, "output": "3"}, {"input": {"stdin": None}, "output": "3"}])
def test_no_input_is_empty_and_no_output_is_refused(entry):
    assert read_tests([entry]) == [TestCase("", "3")]
    with pytest.raises(InputError):
        read_tests([{"input": "3", "output": None}])


@pytest.mark.parametrize(
    ("tests", "place"),
    [
        ({"inputs": [[1]], "outputs": [[2]], "fn_name": "f"}, "tests.fn_name"),
        ({"inputs": ["1"], "outputs": []}, "tests.outputs"),
        ({"inputs": ["1"], "outputs": [3]}, "tests.outputs[0]"),
        ({"inputs": [], "outputs": []}, "tests"),
        ([TEXTS | {"testtype": "functional"}], "tests[0].testtype"),
        ([TEXTS, {"type": "function_call", "fn_name": "f", "input": [1], "output": [2]}], "tests[1].fn_name"),
        ([{"input": {"stdin": "", "data.txt": "x"}, "output": {"stdout": ""}}], "tests[0].input.data.txt"),
        ([{"input": {"stdin": ""}, "output": {"stdout": "", "out.txt": "x"}}], "tests[0].output.out.txt"),
        ([{"stdin": 5, "stdout": ""}], "tests[0].stdin"),
    ],
)
def test_what_cannot_be_compared_is_refused_with_its_place(tests, place):
    with pytest.raises(InputError) as error:
        read_tests(tests)
    assert error.value.where == place


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
