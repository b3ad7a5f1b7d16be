"""Which outputs count as the expected one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards_lib.code_judge.comparison import CompareRules, compare


def is_right(expected: str | bytes, actual: str | bytes, **rules) -> bool:
    expected, actual = (text.encode() if isinstance(text, str) else text for text in (expected, actual))
    return compare(expected, [actual], CompareRules(**rules)) is None


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        ("YES\r\nNO\r\n", "YES\nNO\n"),
        ("YES\nNO", "YES\rNO\r"),
        ("\ufeff5\n", "5"),
        ("5", "\ufeff5\n"),
        ("a \t\nb\n\n\n", "a\nb"),
        ("", "\n \n"),
        ("0.333333333333", "0.3333333"),
        ("0.3333333333 0.5", "0.3333333 0.5"),
        ("0.0", "1e-12"),
        ("3", "3.0"),
        ("1e20", "100000000000000000001.5"),
        ("5 2", "5.0000002 2.0"),
        ("nan inf", "nan inf"),
        ("1000000", "1000000.0000001"),
    ],
)
def test_these_outputs_are_right(expected, actual):
    assert is_right(expected, actual)


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        ("YES", "yes"),
        ("1\n2\n", "1\n\n2\n"),
        ("1 2", "1  2"),
        ("1 2", " 1 2"),
        ("1\n2", "1"),
        ("1", "1\n2"),
        ("1000000", "1000001"),
        (str(10**18), str(10**18 + 1)),
        (f"{10**18}.0", str(10**18 + 1)),
        ("1000000", "1000000.9"),
        ("0011", "11"),
        ("1e9", "1000001000.5e3"),
        ("0.5", "nan"),
        ("nan", "0.5"),
        ("0.5", "0.50001"),
        ("", "x"),
        ("x", ""),
        ("55", "5\n5"),
        ("answer", "the answer"),
        ("1e999999999", "1e-999999999"),
    ],
)
def test_these_outputs_are_wrong(expected, actual):
    assert not is_right(expected, actual)


def test_tokens_ignore_where_lines_and_blanks_are():
    assert is_right("1 1 2\n", "1\n1\n2\n", mode="tokens")
    assert is_right("1\n\n2", "1  2", mode="tokens")
    assert not is_right("1 1 2\n", "1 12\n", mode="tokens")
    assert not is_right("1 2", "1", mode="tokens")
    assert not is_right("1", "1 2", mode="tokens")


def test_case_and_tolerance_can_be_set():
    assert is_right("YES", "yes", ignore_case=True)
    assert is_right("0.5", "0.51", float_tol=0.1)
    assert not is_right("0.5", "0.5000001", float_tol=0)


def test_bytes_that_are_no_text_are_compared_and_shown_escaped():
    assert is_right(b"a\xff\x00b", b"a\xff\x00b\n")
    found = compare(b"ok\nabc\n", [b"ok\na\xff\x00b\n"], CompareRules())
    assert found is not None
    assert (found.line, found.expected, found.actual) == (2, "abc", "a\\xff\\x00b")


def test_the_first_difference_is_named_by_its_line():
    found = compare(b"1\n2\n3\n", [b"1\n2\n", b"4\n"], CompareRules())
    assert found is not None
    assert (found.line, found.expected, found.actual) == (3, "3", "4")


LINES = st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\r\n\ufeff"), max_size=12), max_size=8)
PIECES = st.lists(st.integers(1, 9), max_size=12)


def cut(data: bytes, sizes: list[int]) -> list[bytes]:
    pieces = []
    for size in sizes:
        pieces, data = [*pieces, data[:size]], data[size:]
    return [piece for piece in (*pieces, data) if piece]


@given(LINES, PIECES, st.sampled_from(["\n", "\r\n", "\r"]))
def test_how_an_output_is_cut_and_how_its_lines_end_changes_nothing(lines, sizes, end):
    expected = "\n".join(lines).encode()
    actual = "".join(f"{line}{end}" for line in lines).encode()
    assert compare(expected, cut(actual, sizes), CompareRules()) is None


@given(LINES, LINES, PIECES)
def test_lines_are_right_exactly_when_they_are_equal_without_their_ends(one, other, sizes):
    def plain(lines: list[str]) -> list[bytes]:
        kept = [line.encode().rstrip() for line in lines]
        while kept and not kept[-1]:
            kept.pop()
        return kept

    has_number = any(character.isdigit() for line in (*one, *other) for character in line)
    same = plain(one) == plain(other)
    found = compare("\n".join(one).encode(), cut("\n".join(other).encode(), sizes), CompareRules(float_tol=0))
    assert (found is None) == same or has_number


@given(st.binary(max_size=60), st.binary(max_size=60), st.sampled_from(["lines", "tokens"]), st.booleans())
def test_comparing_never_raises_and_equal_bytes_are_right(expected, actual, mode, ignore_case):
    rules = CompareRules(mode=mode, ignore_case=ignore_case)
    compare(expected, [actual], rules)
    assert compare(expected, [expected], rules) is None


@given(st.integers(-(10**40), 10**40), st.integers(-(10**40), 10**40))
def test_integers_are_exact(one, other):
    assert is_right(str(one), str(other)) == (one == other)


@given(st.floats(-1e12, 1e12), st.floats(0, 0.9))
def test_floats_within_the_tolerance_are_right_and_beyond_it_wrong(value, share):
    room = 1e-6 * max(1.0, abs(value))
    assert is_right(repr(value), f"{value + share * room:.20f}")
    assert not is_right(repr(value), f"{value + 3 * room:.20f}")
