"""What an exercise is: a task, code with blanks or code to mend, checks with a message each, hints, a solution.

Invariant: the text that a learner starts from and the solution come from one code, so that they cannot part.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from rewards_lib.contract import Sentence

BLANK = "____"
"""What stands for a blank in the text that a learner starts from."""
_MARKED = re.compile("⟦(.*?)⟧", re.DOTALL)

Plain: TypeAlias = "bool | int | float | str | list[Plain] | dict[str, Plain] | None"
"""What a check may expect: what can be written down."""


class Level(StrEnum):
    """How much an exercise asks for."""

    FIRST_STEPS = "first steps"
    NEEDS_CARE = "needs care"
    HARD = "hard"


@dataclass(frozen=True, slots=True)
class Check:
    """One case: an expression over the learner's code, and what is said when it gives something else."""

    case: Sentence
    """What is tried, in a few words."""
    call: str
    """A Python expression; it sees the learner's names and those of the exercise's ``support``."""
    gives: Plain
    says: Sentence
    """What is probably wrong when it gives something else or raises."""


@dataclass(frozen=True, slots=True)
class WrongAnswer:
    """A mistake that learners make, and the case that must find it: held by a test, not shown."""

    text: str
    fails: int
    """The place of the first check that fails, from 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exercise:
    """One exercise. ``docs/practice.md`` says how to write another."""

    place: int
    """Where it stands in the list, from 1."""
    title: Sentence
    level: Level
    minutes: int
    task: Sentence
    """Markdown: what it is about and what to write."""
    code: str
    """The solution, its blanks marked ⟦so⟧; unmarked where ``start`` is given."""
    checks: tuple[Check, ...]
    hints: tuple[Sentence, ...]
    """One after the other, from a nudge to nearly the answer."""
    why: Sentence
    """Markdown: what the solution does and why; shown with it."""
    question: Sentence
    """To think about; there is no answer key."""
    wrong_answers: tuple[WrongAnswer, ...]
    start: str = ""
    """What to begin with, where code is to be mended rather than filled in."""
    support: str = ""
    """Code that the checks use, run behind the learner's."""

    @property
    def solution(self) -> str:
        """The whole code."""
        return _MARKED.sub(r"\1", self.code)

    @property
    def starting_text(self) -> str:
        """The code with its blanks open, or the code to mend."""
        return self.start or _MARKED.sub(BLANK, self.code)


def fill_blanks(code: str, answers: Mapping[int, str]) -> str:
    """Fill the marked blanks of a code: those whose number (from 1) is named with that text, the others rightly.

    >>> fill_blanks("return ⟦a⟧ + ⟦b⟧", {2: "c"})
    'return a + c'
    """
    numbers = iter(range(1, code.count("⟦") + 1))
    return _MARKED.sub(lambda found: answers.get(next(numbers), found[1]), code)


def open_blanks(text: str) -> list[int]:
    r"""The lines (from 1) in which blanks are still open, one entry a blank.

    >>> open_blanks("a = ____\nreturn ____ + ____")
    [1, 2, 2]
    """
    return [number for number, line in enumerate(text.splitlines(), 1) for _found in range(line.count(BLANK))]
