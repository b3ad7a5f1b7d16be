"""Whatever is written, comparing it ends soon and raises nothing."""

from time import process_time

import pytest

from rewards_lib.mathematics.equality import Verdict, decide, names_several
from rewards_lib.reward_tools import calculate, math_equal

MANY = "1" * 5_000

TOO_MANY_DIGITS = [
    "1e" + "9" * 5_000, "1E-" + "9" * 5_000, "1e" + "0" * 5_000 + "1", MANY + ".(3)", MANY + ".3...",
    "٣" * 5_000 + ".(٣)", "三分之" + MANY, MANY + "½", "\\frac" + MANY,
    "x^{" + MANY + "}", "\\sqrt[" + MANY + "]{2}", MANY + "_2",
]  # fmt: skip


@pytest.mark.parametrize("written", TOO_MANY_DIGITS)
def test_numbers_of_more_digits_than_python_reads_raise_nothing(written):
    for truth, answer in (("5", written), (written, "5"), ("1/3", f"0.333333{written}")):
        decision = decide(truth, answer, use_algebra=False)
        assert decision.verdict in (Verdict.DIFFERENT, Verdict.UNDECIDED, Verdict.UNREADABLE_TRUTH)
    assert math_equal(written, 5) in (False, None)
    assert not names_several(written)
    calculate(written[:1_900])


def test_a_power_of_ten_that_is_never_computed_is_still_no_small_number():
    assert decide("5", "1e9999999").verdict is Verdict.DIFFERENT
    assert decide("1e5001", "10^{5001}").verdict is Verdict.EQUAL


MATRIX = "\\begin{pmatrix}1&2\\\\3&4\\end{pmatrix}"


def sets_of_sets(depth, first):
    inner = [sets_of_sets(depth - 1, first + place * 3 ** (depth - 1)) for place in range(3)] if depth else []
    return "\\{" + ",".join(inner) + "\\}" if depth else f"\\sqrt{{{first}}}"


MUCH_WORK = [
    ("5", "(" * 9_000 + "5" + ")" * 9_000),
    ("5", "{" * 9_000 + "6, 7" + "}" * 9_000),
    (MATRIX, MATRIX * 20),
    (MATRIX, MATRIX * 500),
    (",".join(f"x^2+{n}" for n in range(39)), ",".join(f"x^2-{n + 1}" for n in range(39))),
    (sets_of_sets(4, 2), sets_of_sets(4, 90)),
    ("5", "+".join(["\\sqrt[64]{5^{50000}}"] * 100)),
]


@pytest.mark.parametrize(("truth", "answer"), MUCH_WORK)
def test_a_short_answer_that_asks_for_much_work_is_given_little(truth, answer):
    started = process_time()
    for pair in ((truth, answer), (answer, truth)):
        decide(*pair, use_algebra=False)
    assert process_time() - started < 3


def test_brackets_around_an_answer_are_taken_off_however_many_they_are():
    assert decide("5", "(" * 900 + "5" + ")" * 900).verdict is Verdict.EQUAL
    assert decide("(1,2)", "((1,2))").verdict is Verdict.EQUAL
    assert decide("[1,2]", "{(1,2)}").verdict is Verdict.DIFFERENT
    assert decide("6", "(2)(3)").verdict is Verdict.EQUAL


def test_a_long_list_is_matched_in_any_order_and_spelling():
    roots = [f"\\sqrt{{{n}}}" for n in range(2, 34)]
    turned = [f"{n}^{{1/2}}" for n in range(33, 1, -1)]
    assert decide(",".join(roots), ",".join(turned)).verdict is Verdict.EQUAL
    assert decide(",".join(roots), ",".join([*turned, "1/2"])).verdict is Verdict.DIFFERENT
    assert decide("1/2, 1", "0.5, 1, 2/4, 1.0").verdict is Verdict.EQUAL
    assert decide(MATRIX * 3, "\\begin{pmatrix}37&54\\\\81&118\\end{pmatrix}").verdict is Verdict.EQUAL
