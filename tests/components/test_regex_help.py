"""Help for patterns: matches are marked as plain text, an exploding pattern is told and costs its limit alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from components.regex_help import CLOSING, GAP, OPENING, highlighted, marked

HELP = """
from components.regex_help import regex_help
regex_help({params!r}, {texts!r}, key="r")
"""


def drawn(params, *texts):
    page = AppTest.from_string(HELP.format(params=params, texts=list(texts)), default_timeout=30).run()
    assert not page.exception
    return page


def test_matches_are_marked_in_the_text():
    page = drawn({"pattern": r"Answer:\s*(\d+)", "group": 1, "compare": "number"}, "Answer: 41\nAnswer: 42", "none")
    shown = "Answer\\: :orange-background[⟦41⟧]  \nAnswer\\: :orange-background[⟦42⟧]"
    assert [markdown.value for markdown in page.markdown] == [shown]
    said = [caption.value for caption in page.caption]
    assert said[0].endswith("2 matches; the last one counts")
    assert said[1].endswith("no match")


def test_flags_are_explained_with_their_state():
    said = [caption.value for caption in drawn({"pattern": "a", "flags": "s"}).caption]
    assert len(said) == 4
    assert [line.endswith("on") for line in said] == [False, False, True, False]


def test_an_exploding_pattern_is_warned_of_and_stopped():
    page = drawn({"pattern": "(a+)+$"}, "a" * 40 + "b", "aaa")
    assert "explode" in page.markdown[0].value
    assert "no answer within" in page.caption[0].value
    assert page.markdown[-1].value == ":orange-background[⟦aaa⟧]"


@pytest.mark.parametrize("params", [{}, {"pattern": "("}, {"pattern": "a", "group": 3}, {"pattern": "a", "flags": "q"}])
def test_parameters_that_are_refused_draw_nothing(params):
    page = drawn(params, "text")
    assert not page.caption
    assert not page.markdown


def test_no_text_becomes_markup():
    page = drawn({"pattern": "x"}, "# **x** [a](b) $y$ :red[z] <b>")
    assert page.markdown[-1].value == highlighted("# **⟦x⟧** [a](b) $y$ :red[z] <b>")
    assert ":red[" not in page.markdown[-1].value


def test_what_lies_far_from_a_match_is_left_out():
    text = "a" * 500 + "X" + "b" * 500 + "X" + "c" * 500
    shown = marked(text, [[500, 501], [1001, 1002]], around=5)
    assert shown == "… aaaaa⟦X⟧bbbbb … bbbbb⟦X⟧ccccc …"


@given(st.text(max_size=80), st.lists(st.integers(0, 80), max_size=6))
def test_without_the_brackets_a_short_text_is_itself(text, cuts):
    cuts = sorted({min(cut, len(text)) for cut in cuts})
    spans = [list(pair) for pair in zip(cuts[::2], cuts[1::2], strict=False)]
    shown = marked(text.replace(OPENING, "").replace(CLOSING, ""), [], around=200)
    assert shown == text.replace(OPENING, "").replace(CLOSING, "")
    if OPENING not in text and CLOSING not in text and GAP.strip() not in text:
        assert marked(text, spans, around=200).replace(OPENING, "").replace(CLOSING, "") == text
