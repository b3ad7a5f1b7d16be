"""docs/practice.md: the exercise it shows is one, and every field of an exercise is described."""

import re
from dataclasses import fields
from pathlib import Path

from rewards_lib.executor import Executor
from rewards_lib.practice import Exercise, grade

TEXT = (Path(__file__).resolve().parents[3] / "docs" / "practice.md").read_text(encoding="utf-8")


def test_every_field_of_an_exercise_is_described():
    assert [field.name for field in fields(Exercise) if f"`{field.name}`" not in TEXT] == []


def test_the_exercise_of_the_document_can_be_solved_and_gets_its_message():
    names: dict[str, object] = {}
    exec(re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)[0], names)
    exercise = names["EXERCISE"]
    with Executor() as executor:
        assert grade(exercise, exercise.solution, executor).is_solved
        wrong = grade(exercise, exercise.wrong_answers[0].text, executor)
    assert str(wrong.message) == "Twice 4 is 8."
