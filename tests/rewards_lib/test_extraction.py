"""Extraction finds what stands there, says where, and never raises."""

from __future__ import annotations

import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards_lib.digits import fold_digits
from rewards_lib.extraction import (
    METHODS,
    code_blocks,
    extract,
    graded_start,
    last_box,
    last_box_run,
    last_json,
    last_number,
    last_tag_body,
    numbers,
)

FRAGMENTS = [
    "\\boxed",
    "\\boxed{",
    "\\fbox{",
    "{",
    "}",
    "\\{",
    "\\",
    "$",
    "<think>",
    "</think>",
    "<answer>",
    "</answer>",
    "```",
    "~~~",
    "```json\n",
    "\n",
    " ",
    '"',
    "[",
    "]",
    "1,234.5",
    "-",
    "½",
    "２５",
    "%",
    "/",
    "e9",
    "x",
    "答",
    "\r\n",
    "\x00",
    "\ud800",
]
texts = st.one_of(st.text(), st.lists(st.sampled_from(FRAGMENTS)).map("".join))


@given(texts, st.sampled_from(METHODS), st.booleans())
def test_extraction_never_raises_and_says_either_where_or_why_not(text, method, after_think):
    extraction = extract(text, method, after_think=after_think)
    assert (extraction.text is None) == (extraction.why_none is not None) == (extraction.span is None)
    if extraction.span is not None:
        start, end = extraction.span
        assert 0 <= start <= end <= len(text)
        if method != "last_number":  # numbers come in ASCII spelling
            assert text[start:end] == extraction.text


@given(texts)
def test_every_box_of_a_run_stands_where_it_says(text):
    assert all(text[slice(*box.span)] == box.text for box in last_box_run(text))


@given(st.text(), st.text(alphabet=st.characters(exclude_characters="{}\\"), min_size=1).filter(str.strip), st.text())
def test_a_box_is_found_behind_any_text_without_boxes(before, body, after):
    before, after = before.replace("\\", ""), after.replace("\\", "")
    assert last_box(f"{before}\\boxed{{{body}}}{after}").text == body.strip()


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (r"\boxed{\frac{1}{2}}", r"\frac{1}{2}"),
        (r"a \boxed {5} b", "5"),
        (r"\fbox{77}", "77"),
        (r"$\boxed 7$", "7"),
        (r"\boxed 42.", "42"),
        (r"\boxed\frac12$", r"\frac12"),
        (r"\boxed{2} then \boxed{3}", "3"),
        (r"\boxed{\{1,2\}}", r"\{1,2\}"),
        (r"\boxed{a \boxed{b} c}", "b"),
        ("\\boxed{\n5\n}", "5"),
        (r"\boxed{}}", None),
        (r"\boxed{12} and \boxed{1", None),
        (r"\boxed{}", None),
        (r"\boxed", None),
        (r"\boxedanswer{5}", None),
        ("no box", None),
        (r"\boxed{4}, see \boxedanswer{5}", "4"),
    ],
)
def test_the_last_box_decides(text, answer):
    assert last_box(text).text == answer


@pytest.mark.parametrize(
    ("text", "run"),
    [
        (r"\boxed{2} and \boxed{3}", ["2", "3"]),
        (r"\boxed{2}$, $\boxed{3}$, or $\boxed{4}", ["2", "3", "4"]),
        (r"\boxed{1331} 和 \boxed{1728}", ["1331", "1728"]),
        (r"\boxed{2}. Then \boxed{3}", ["3"]),
        (r"\boxed{2}, no, \boxed{3}", ["3"]),
        (r"\boxed{2} and \boxed{3", []),
        (r"\boxed{a \boxed{b}}", ["b"]),
    ],
)
def test_boxes_with_a_few_words_between_them_are_a_run(text, run):
    assert [box.text for box in last_box_run(text)] == run


def test_only_what_follows_the_last_closed_think_is_graded():
    text = r"<think>\boxed{1}</think> \boxed{2}"
    assert extract(text, "boxed").text == "2"
    assert extract(r"<think>\boxed{1}</think> none", "boxed").text is None
    assert extract(r"<think>\boxed{1}</think> none", "boxed", after_think=False).text == "1"
    assert extract(text, "text").text == r" \boxed{2}"


def test_an_unclosed_think_is_its_own_outcome():
    assert graded_start("<think> \\boxed{8}") is None
    assert "unclosed think" in str(extract("<think> \\boxed{8}", "text").why_none)
    assert graded_start("a</think>b<think>") is None
    assert graded_start("no tags") == 0


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("<answer> 7 </answer>", "7"),
        ("<answer>1</answer><answer>2</answer>", "2"),
        ("<answer>a</answer></answer>", "a"),
        ("<answer><answer>7</answer>", "7"),
        ("</answer><answer>", None),
        ("<answer></answer>", ""),
        ("none", None),
    ],
)
def test_the_last_answer_pair_counts(text, answer):
    assert last_tag_body(text, "answer").text == answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [("a\nb\n\n", "b"), ("one", "one"), ("a\r\n  b  \r\n", "b"), (" \n ", None), ("", None), ("a\rb", "b")],
)
def test_the_last_line_is_the_last_that_is_not_blank(text, answer):
    assert extract(text, "last_line").text == answer


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("costs 1,234.50 in total", "1,234.50"),
        ("ratio 3/4", "3/4"),
        ("x = -5.", "-5"),
        ("２５", "25"),
        ("٧", "7"),
        ("−17", "-17"),
        ("10-5", "5"),
        ("10 - 5", "5"),
        ("from 3–5", "5"),
        ("50%", "50%"),
        (r"50\%", r"50\%"),
        ("1e-5", "1e-5"),
        ("x2", None),
        ("2x", None),
        ("1.2.3", None),
        ("2024/01/02", None),
        ("共25个", "25"),
        ("答案是-5", "-5"),
        (".5", ".5"),
        ("½", "1/2"),
        ("5²", None),
        ("1,2,3", "3"),
        ("1,2345", "2345"),
        ("none", None),
        ("3/4 cup", "3/4"),
        ("(-3)", "-3"),
        ("42.", "42"),
        ("v.5", None),
    ],
)
def test_the_last_number_is_read_with_its_sign_separators_and_fraction(text, number):
    assert last_number(text).text == number


def test_the_place_of_a_number_counts_the_characters_of_the_text():
    text = "答案½ and ２５。"
    assert [text[slice(*n.span)] for n in numbers(text)] == ["½", "２５"]


@given(st.text())
def test_folding_digits_keeps_a_place_for_every_character(text):
    folded, places = fold_digits(text)
    assert len(places) in (0, len(folded))
    assert len(folded) == len(text) or places


@pytest.mark.parametrize(("text", "folded"), [("²¼", "²1/4"), ("3²½", "3²1/2"), ("２¼", "9/4"), ("৪½", "9/2")])
def test_a_superscript_is_no_whole_part_of_a_fraction(text, folded):
    assert fold_digits(text)[0] == folded


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("```python\nx\n```", [("python", "x\n", True)]),
        ("~~~\na\n~~~~\n", [("", "a\n", True)]),
        ("```py\nx", [("py", "x", False)]),
        ("````\n```\n````", [("", "```\n", True)]),
        ("    ```\nx\n    ```", []),
        ("```a`b\nx\n```", [("", "", False)]),
        ("```c++ title\nx\n```\n```js\ny\n```", [("c++", "x\n", True), ("js", "y\n", True)]),
        ("~~~\n```\n~~~", [("", "```\n", True)]),
        ("1. So:\n    ```py\n    x\n      y\n    ```\n", [("py", "x\n  y\n", True)]),
        ("10. So:\n\n       ```\n       x\n       ```", [("", "x\n", True)]),
        ("- a\n  - b\n\n      ```\n      x\n      ```", [("", "x\n", True)]),
        ("- a\n\nno item\n\n     ```\nx\n     ```", []),
        ("- a\n```\nx\n     ```\n```", [("", "x\n     ```\n", True)]),
        ("-     ```\n", []),
    ],
)
def test_code_blocks_follow_commonmark(text, blocks):
    assert [(block.language, block.code, block.closed) for block in code_blocks(text)] == blocks


def test_an_unclosed_last_code_block_is_no_answer():
    assert extract("```\na\n```\n```\nb", "code").text is None
    assert extract("```\na\n```\n", "code").text == "a\n"


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ('so {"a": [1, "}"]} ok', '{"a": [1, "}"]}'),
        ('{"a":1} then {"b":2', '{"a":1}'),
        ("[1] [2]", "[2]"),
        ("} only", None),
        ('{"q": "a \\" b"}', '{"q": "a \\" b"}'),
        ("```json\n{}\n```\n[1]", "{}\n"),
        ("none", None),
        ('{"a":1} }', '{"a":1}'),
    ],
)
def test_the_last_json_value_is_found_over_strings(text, answer):
    assert last_json(text).text == answer


SHORT, TIMES = 25_000, 8


def processor_seconds(call, *arguments):
    """The least processor time of three calls: how long others hold the processor does not count."""
    taken = []
    for _ in range(3):
        began = time.process_time()
        call(*arguments)
        taken.append(time.process_time() - began)
    return min(taken)


def assert_linear(call, unit, *more, ending="", length=SHORT):
    """Eight times the text may take 24 times as long; what is quadratic takes 64. Less than 1 ms counts as 1."""
    short = unit * (length // len(unit))
    once = max(processor_seconds(call, short + ending, *more), 0.001)
    assert processor_seconds(call, short * TIMES + ending, *more) < 3 * TIMES * once


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "unit",
    ["{", "}", "{}", "\\boxed{", "1", "1,234", "<answer>", '"[', "```\n", "\\", "1.", "<think></think>"],
    ids=repr,
)
@pytest.mark.parametrize("ending", ["", "x"])
def test_large_texts_take_linear_time(unit, method, ending):
    assert_linear(extract, unit, method, ending=ending)


def test_the_measure_of_linear_time_finds_what_is_quadratic():
    with pytest.raises(AssertionError):
        assert_linear(lambda text: [pair for pair in itertools.product(text, text) if "b" in pair], "a", length=300)


@pytest.mark.parametrize(("unit", "is_boxed"), [("{}", True), ("{", False)])
def test_two_megabytes_of_braces_in_a_box(unit, is_boxed):
    text = "\\boxed{" + unit * (2_000_000 // len(unit)) + "}" * is_boxed
    began = time.process_time()
    assert (last_box(text).text is not None) == is_boxed
    assert time.process_time() - began < 4
