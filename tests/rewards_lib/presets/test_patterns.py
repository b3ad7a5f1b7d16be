"""Patterns that can explode are told by reading them; matches are found where the rule would find them."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards_lib.presets import check_params, review_params
from rewards_lib.presets.patterns import MAX_MATCHES, explosive_parts, find_matches

EXPLOSIVE = [
    r"(a+)+$", r"(a*)*", r"(\w+\s*)+$", r"(ab*|a)+c", r"(.*)*", r"^(\d+)*$", r"([a-z]+)*\d", r"(a+b?)+", r"((a+))+",
    r"(?:\s*a+\s*)+x", r"(a{1,30}){1,30}$", r"(x|x+)+y", r"(?i:(A+a?)+)$", r"(?:.*,)*x", r"(\d+|\s+|\d+x)+$",
    r"(?:.*foo)*$", r"\s*\s*\s*x", r".*.*.*=.*",
]  # fmt: skip
HARMLESS = [
    r"Answer:\s*(-?\d+)", r"\\boxed\{([^{}]*)\}", r"^<think>.*?</think>\s*<answer>.*?</answer>$", r"(a+b)+",
    r"(foo|bar)+", r"(\d+,)*\d+", r"(?:\d{3},)*", r"(?>a+)+", r"(a++)+", r"[a-z]+\d+", r"(\w+ )+", r"(a?xa+)+",
    r"#### (-?[\d,]+(?:\.\d+)?)", r"(\s*\d+;)+", r"(?:ab|cd)*", r"(?:[^\"]*\")*", r"(?m)^Step \d+: .+$", r"(abc|abd)+",
    "(", "a{2,1}",
]  # fmt: skip


@pytest.mark.parametrize("pattern", EXPLOSIVE)
def test_a_pattern_that_can_explode_is_told(pattern):
    assert explosive_parts(pattern)


@pytest.mark.parametrize("pattern", HARMLESS)
def test_a_harmless_pattern_is_not(pattern):
    assert explosive_parts(pattern) == []


@given(st.text(alphabet="ab()[]|*+?{}2,.\\d^$<=!-P:", max_size=25), st.text("imsx", max_size=4))
def test_no_pattern_makes_reading_it_raise(pattern, flags):
    explosive_parts(pattern, flags)


def test_the_mix_is_warned_of_it():
    [finding] = review_params("regex_match", check_params("regex_match", {"pattern": "(a+)+"}))
    assert (finding.severity, finding.path) == ("warning", "params.pattern")


def matches(text, **params):
    return find_matches({"params": check_params("regex_match", params), "text": text})


def test_matches_are_places_in_the_completion_and_the_group_where_one_is_compared():
    text = "<think>Answer: 1</think> Answer: 41, Answer: 42"
    found = matches(text, pattern=r"Answer: (\d+)", group=1)
    assert [text[slice(*span)] for span in found["spans"]] == ["41", "42"]
    assert matches(text, pattern="</think>")["spans"] == [[16, 24]]


def test_a_part_that_is_not_there_is_told_and_many_matches_are_cut():
    assert matches("no box", pattern="x", extract="boxed")["missing"]
    found = matches("a" * 80, pattern="a")
    assert (len(found["spans"]), found["more"], found["spans"][-1]) == (MAX_MATCHES, True, [79, 80])


@given(st.text(max_size=40), st.sampled_from(["a", r"\w+", ".", "", "(x)|y"]), st.sampled_from(["search", "fullmatch"]))
def test_every_place_lies_inside_the_text(text, pattern, mode):
    for start, end in matches(text, pattern=pattern or "^", mode=mode, group=1 if "(" in pattern else 0)["spans"]:
        assert 0 <= start <= end <= len(text)
        assert mode == "fullmatch" or re.search(pattern or "^", text[start:end]) or start == end
