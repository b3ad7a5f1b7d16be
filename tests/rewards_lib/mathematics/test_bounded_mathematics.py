"""Whatever is written, comparing it ends soon and raises nothing."""

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
