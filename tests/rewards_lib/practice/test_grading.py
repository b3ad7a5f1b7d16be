"""Whatever a learner writes, grading gives one outcome a check and one sentence."""

import pytest

from rewards_lib.executor import Executor
from rewards_lib.practice import CheckState, exercises, grade

EXERCISE = exercises()["mask_shift"]
GOOD = EXERCISE.solution


@pytest.fixture(scope="module")
def executor():
    with Executor() as running:
        yield running


def states(found):
    return [outcome.state for outcome in found.outcomes]


def test_open_blanks_are_counted_and_marked_and_nothing_runs(executor):
    found = grade(EXERCISE, EXERCISE.starting_text, executor)
    assert str(found.message) == "3 blanks are still open, the first in line 3."
    assert [mark.line for mark in found.findings] == [3, 12, 13]
    assert (found.isolation, set(states(found))) == (None, {CheckState.NOT_REACHED})


def test_a_syntax_error_is_told_with_its_line(executor):
    found = grade(EXERCISE, "def shift_mask(mask):\n    return mask[1:\n", executor)
    assert str(found.message).startswith("Line 2:") or str(found.message).startswith("Line 3:")
    assert not found.is_solved


def test_a_refused_construct_is_told_with_its_line(executor):
    found = grade(EXERCISE, "import subprocess\n" + GOOD, executor)
    assert str(found.message).startswith("Line 1: Reward code cannot start programs")


def test_an_exception_at_the_top_level_is_told_with_its_line(executor):
    found = grade(EXERCISE, GOOD + "\n1 / 0\n", executor)
    assert "ZeroDivisionError" in str(found.message)
    assert found.findings[0].line == GOOD.count("\n") + 2
    assert set(states(found)) == {CheckState.NOT_REACHED}


def test_an_exception_inside_a_check_names_the_learners_line_and_the_others_still_run(executor):
    found = grade(EXERCISE, GOOD.replace("return mask[1:]", "return mask[1:] if len(mask) > 3 else 1 / 0"), executor)
    raised = found.outcomes[1]
    assert (raised.state, raised.line, raised.got) == (CheckState.RAISED, 3, "ZeroDivisionError: division by zero")
    assert found.findings[0].line == 3
    assert states(found)[0] is CheckState.PASSED


def test_a_check_that_never_ends_is_named_and_those_before_it_count(executor):
    endless = GOOD.replace("    trained =", "    while True:\n        pass\n    trained =")
    found = grade(EXERCISE, endless, executor)
    passed = states(found).count(CheckState.PASSED)
    assert states(found) == [CheckState.PASSED] * passed + [CheckState.NOT_REACHED] * (len(EXERCISE.checks) - passed)
    assert passed > 0
    assert str(found.message).startswith(f"Case {passed + 1} did not come to its end.")


def test_what_the_learner_prints_is_kept_apart_from_the_verdicts(executor):
    chatty = GOOD.replace(
        "    return mask[1:]", '    print("practice-0 [0, \\"passed\\", \\"\\", \\"\\"]", mask)\n    return []'
    )
    found = grade(EXERCISE, chatty, executor)
    assert found.outcomes[0].state is CheckState.FAILED
    assert "practice-0" in found.printed
    assert "failed" not in found.printed


def test_a_learners_name_may_be_any_of_the_usual_ones(executor):
    taken = "json = traceback = place = cases = call = 1\n\n\ndef reward_fn(a, b, c):\n    return None\n\n\n" + GOOD
    assert grade(EXERCISE, taken, executor).is_solved


def test_no_text_is_too_odd_to_be_graded(executor):
    for text in ("", "\0", "'''", "\\", "def", "é = 1", "x = 1\n" * 50):
        found = grade(EXERCISE, text, executor)
        assert not found.is_solved
        assert str(found.message)
