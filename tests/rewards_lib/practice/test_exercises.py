"""Every exercise: its solution solves it, its starting text does not, and known mistakes get their message."""

import re

import pytest

from rewards_lib.executor import Executor
from rewards_lib.practice import CheckState, Level, exercises, grade, open_blanks
from rewards_lib.practice.exercise import BLANK

NAMES = list(exercises())
WRONG = [(name, number) for name in NAMES for number in range(len(exercises()[name].wrong_answers))]


@pytest.fixture(scope="module")
def executor():
    with Executor() as running:
        yield running


@pytest.mark.parametrize("name", NAMES)
def test_the_solution_passes_every_check(name, executor):
    exercise = exercises()[name]
    found = grade(exercise, exercise.solution, executor)
    assert found.is_solved, [(str(one.check.case), one.state, one.got) for one in found.outcomes]
    assert str(found.message) == f"Solved: all {len(exercise.checks)} cases pass."


@pytest.mark.parametrize("name", NAMES)
def test_the_starting_text_fails(name, executor):
    exercise = exercises()[name]
    found = grade(exercise, exercise.starting_text, executor)
    assert not found.is_solved
    assert str(found.message)


@pytest.mark.parametrize("name", NAMES)
def test_blanks_that_are_run_all_the_same_fail_as_well(name, executor):
    exercise = exercises()[name]
    found = grade(exercise, exercise.starting_text.replace(BLANK, "unknown_name"), executor)
    assert not found.is_solved


@pytest.mark.parametrize(("name", "number"), WRONG, ids=str)
def test_a_known_mistake_gets_the_message_that_was_written_for_it(name, number, executor):
    exercise = exercises()[name]
    wrong = exercise.wrong_answers[number]
    found = grade(exercise, wrong.text, executor)
    states = [one.state for one in found.outcomes]
    assert states[: wrong.fails] == [CheckState.PASSED] * wrong.fails, [one.got for one in found.outcomes]
    assert states[wrong.fails] in (CheckState.FAILED, CheckState.RAISED)
    assert found.message == exercise.checks[wrong.fails].says


@pytest.mark.parametrize("name", NAMES)
def test_every_message_is_brought_up_by_some_known_mistake(name):
    exercise = exercises()[name]
    found = {wrong.fails for wrong in exercise.wrong_answers}
    assert [str(check.case) for place, check in enumerate(exercise.checks) if place not in found] == []


def test_exercises_are_in_order_and_each_has_all_that_a_page_shows():
    assert [one.place for one in exercises().values()] == list(range(1, len(exercises()) + 1))
    for exercise in exercises().values():
        assert exercise.level in Level
        assert exercise.hints
        assert bool(exercise.start) != bool(open_blanks(exercise.starting_text))
        assert str(exercise.question).rstrip().endswith("?")
        assert len({str(check.case) for check in exercise.checks}) == len(exercise.checks)
        assert not re.search("[⟦⟧]", exercise.solution + exercise.starting_text)
