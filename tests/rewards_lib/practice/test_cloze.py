"""Hidden tokens: the same for a seed, within the share, each right or wrong by itself."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rewards_lib.errors import InputError
from rewards_lib.practice import Hidden, TokenKind, check_answers, exercises, hide_tokens, is_right

CODES = [exercise.solution for exercise in exercises().values()]
shares = st.floats(0.1, 0.6)
seeds = st.integers(0, 2**31)


@settings(max_examples=80, deadline=None)
@given(st.sampled_from(CODES), shares, seeds)
def test_one_seed_hides_the_same_tokens_and_the_share_that_was_asked_for(code, share, seed):
    cloze = hide_tokens(code, share=share, seed=seed)
    assert cloze == hide_tokens(code, share=share, seed=seed)
    assert len(cloze.hidden) == max(1, round(share * cloze.candidates))
    assert [token.number for token in cloze.hidden] == list(range(1, len(cloze.hidden) + 1))


@settings(max_examples=80, deadline=None)
@given(st.sampled_from(CODES), shares, seeds)
def test_the_segments_together_are_the_code_and_hidden_tokens_do_not_overlap(code, share, seed):
    cloze = hide_tokens(code, share=share, seed=seed)
    parts = [one.text if isinstance(one, Hidden) else one for one in cloze.segments()]
    assert "".join(parts) == code
    assert all(one.end <= other.start for one, other in zip(cloze.hidden, cloze.hidden[1:], strict=False))


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(CODES), seeds)
def test_the_hidden_tokens_themselves_are_right_and_no_answer_is_wrong(code, seed):
    cloze = hide_tokens(code, share=0.4, seed=seed)
    assert set(check_answers(cloze, {token.number: f" {token.text} " for token in cloze.hidden}).values()) == {True}
    assert set(check_answers(cloze, {}).values()) == {False}


def test_another_seed_hides_others():
    assert len({hide_tokens(CODES[0], share=0.3, seed=seed).hidden for seed in range(5)}) > 1


def test_neither_comments_nor_docstrings_nor_separators_are_hidden():
    code = 'def f(a, b):  # why\n    """What it does."""\n    return [a, b][0] + 1\n'
    every = {token.text for seed in range(40) for token in hide_tokens(code, share=0.6, seed=seed).hidden}
    assert every == {"def", "f", "a", "b", "return", "0", "+", "1"}


@pytest.mark.parametrize(
    ("token", "answer", "right"),
    [
        (Hidden(1, 0, 3, "1.0", TokenKind.NUMBER), "1.", True),
        (Hidden(1, 0, 3, "1.0", TokenKind.NUMBER), "1", False),
        (Hidden(1, 0, 3, "'a'", TokenKind.TEXT), '"a"', True),
        (Hidden(1, 0, 5, 'r"\\d"', TokenKind.TEXT), "'\\\\d'", True),
        (Hidden(1, 0, 3, "'a'", TokenKind.TEXT), "a", False),
        (Hidden(1, 0, 2, "==", TokenKind.OPERATOR), "==", True),
        (Hidden(1, 0, 2, "==", TokenKind.OPERATOR), "is", False),
        (Hidden(1, 0, 4, "mask", TokenKind.NAME), "Mask", False),
        (Hidden(1, 0, 1, "1", TokenKind.NUMBER), "(" * 5000, False),
        (Hidden(1, 0, 1, "1", TokenKind.NUMBER), "\0", False),
    ],
)
def test_numbers_and_texts_count_by_value_everything_else_as_it_is_written(token, answer, right):
    assert is_right(token, answer) is right


@pytest.mark.parametrize("share", [0.05, 0.7, 0, 1])
def test_a_share_out_of_range_is_refused(share):
    with pytest.raises(InputError, match="must lie between"):
        hide_tokens(CODES[0], share=share, seed=0)


@pytest.mark.parametrize("code", ["def", "x = '''", "  x\n y"])
def test_what_is_not_python_is_refused(code):
    with pytest.raises(InputError, match="not Python"):
        hide_tokens(code, share=0.2, seed=0)
