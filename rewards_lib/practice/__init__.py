"""Exercises of the field: code with blanks, rewards to make unhackable, graded in the restricted executor.

Invariant: a solution passes its own checks, a starting text does not, and every known mistake gets its own message.
"""

from rewards_lib.practice.cloze import Cloze, Hidden, TokenKind, check_answers, hide_tokens, is_right
from rewards_lib.practice.exercise import Check, Exercise, Level, WrongAnswer, fill_blanks, open_blanks
from rewards_lib.practice.exercises import exercises
from rewards_lib.practice.grading import CheckOutcome, Grade, grade
from rewards_lib.practice.harness import CheckState

__all__ = [
    "Check",
    "CheckOutcome",
    "CheckState",
    "Cloze",
    "Exercise",
    "Grade",
    "Hidden",
    "Level",
    "TokenKind",
    "WrongAnswer",
    "check_answers",
    "exercises",
    "fill_blanks",
    "grade",
    "hide_tokens",
    "is_right",
    "open_blanks",
]
