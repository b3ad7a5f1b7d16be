"""Answers that nobody foresaw: right ones in other words pass, subtly wrong ones do not.

``answers/`` holds a file for each exercise: heads such as ``=== right: what is different`` or ``=== wrong: what is
amiss``, each with its code beneath.
"""

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from rewards_lib.executor import Executor
from rewards_lib.practice import CheckState, exercises, grade

FOLDER = Path(__file__).with_name("answers")
HEAD = re.compile(r"^=== (right|wrong): (.+)\n", re.MULTILINE)


class Answer(NamedTuple):
    """One answer to one exercise."""

    exercise: str
    is_right: bool
    title: str
    text: str


def answers():
    for name in exercises():
        _, *parts = HEAD.split((FOLDER / f"{name}.txt").read_text(encoding="utf-8"))
        for verdict, title, text in zip(parts[0::3], parts[1::3], parts[2::3], strict=True):
            yield Answer(name, verdict == "right", title, text)


ANSWERS = list(answers())


@pytest.fixture(scope="module")
def executor():
    with Executor() as running:
        yield running


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: f"{answer.exercise}: {answer.title}")
def test_another_right_answer_passes_and_another_wrong_one_is_told_why(answer, executor):
    found = grade(exercises()[answer.exercise], answer.text, executor)
    assert found.is_solved == answer.is_right, [(str(one.check.case), one.got) for one in found.outcomes]
    if not answer.is_right:
        first = next(one for one in found.outcomes if one.state is not CheckState.PASSED)
        assert found.message == first.check.says


def test_there_are_at_least_five_of_each_for_every_exercise():
    for name in exercises():
        own = [answer.is_right for answer in ANSWERS if answer.exercise == name]
        assert own.count(True) >= 5 <= own.count(False)
