"""A difference says what was taken out, what was put in, and hides nothing that changed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from components.diff_view import diff_lines

TEXTS = st.lists(st.sampled_from(["a", "b", "c", ""]), max_size=30).map("\n".join)


@given(TEXTS, TEXTS)
def test_both_texts_can_be_rebuilt_from_their_difference(old, new):
    lines = diff_lines(old, new, context=1000)
    if old == new:
        assert lines == []
    else:
        assert "\n".join(line.text for line in lines if line.change != "added") == old
        assert "\n".join(line.text for line in lines if line.change != "removed") == new


@given(TEXTS, TEXTS)
def test_leaving_lines_out_changes_no_count(old, new):
    lines = diff_lines(old, new, context=1)
    if old != new:
        assert sum(line.count for line in lines if line.change != "added") == len(old.split("\n"))
        assert sum(line.count for line in lines if line.change != "removed") == len(new.split("\n"))


def test_equal_lines_far_from_a_change_are_left_out():
    old = "\n".join(str(number) for number in range(20))
    lines = diff_lines(old, old.replace("\n10\n", "\nten\n"), context=2)
    assert [(line.change, line.text, line.count) for line in lines] == [
        ("skipped", "", 8),
        ("same", "8", 1),
        ("same", "9", 1),
        ("removed", "10", 1),
        ("added", "ten", 1),
        ("same", "11", 1),
        ("same", "12", 1),
        ("skipped", "", 7),
    ]


@pytest.mark.parametrize(("old", "new"), [("a", "a\n"), ("a ", "a"), ("a\r\nb", "a\nb")])
def test_blanks_and_line_ends_count_as_changes(old, new):
    assert any(line.change != "same" for line in diff_lines(old, new))


def shown(old: str, new: str) -> AppTest:
    def page(old: str, new: str) -> None:
        from components.diff_view import diff_view

        diff_view(old, new, key="diff")

    return AppTest.from_function(page, args=(old, new), default_timeout=20).run()


def test_the_view_says_how_many_lines_changed():
    drawn = shown("a\nb", "a\nc\nd")
    assert not drawn.exception
    assert drawn.caption[0].value == "Lines added: 2, removed: 1."


def test_equal_texts_are_said_to_be_the_same():
    assert shown("a", "a").caption[0].value == "The texts are the same."
