"""The code that runs an exercise's checks behind a learner's, in the restricted executor.

Invariant: every check that ended has printed one marked line before the next began, so that a check that never ends
costs itself and those behind it, and the report still says which it was.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from rewards_lib.practice.exercise import Exercise

SHOWN_CHARACTERS = 200

# Its names begin with practice_, so that they meet none of the learner's.
_HARNESS = """

import json as practice_json
import traceback as practice_traceback
from rl_types import RewardFunctionResult as PracticeResult


def practice_same(got, wanted):
    if isinstance(wanted, bool) or wanted is None:
        return got is wanted
    if isinstance(wanted, (int, float)):
        return isinstance(got, (int, float)) and abs(got - wanted) <= 1e-6
    if isinstance(wanted, list):
        if not isinstance(got, (list, tuple)) or len(got) != len(wanted):
            return False
        return all(practice_same(one, other) for one, other in zip(got, wanted))
    if isinstance(wanted, dict):
        if not isinstance(got, dict) or set(got) != set(wanted):
            return False
        return all(practice_same(got[key], wanted[key]) for key in wanted)
    return isinstance(got, str) and got == wanted


def practice_say(place, state, text, where=""):
    row = practice_json.dumps([place, state, text[:{shown}], where[-2000:]])
    print("\\n{mark}" + row, flush=True)


def reward_fn(context, sample, completions):
    cases = [
{cases}
    ]
    for place, (call, wanted) in enumerate(cases):
        try:
            got = call()
        except Exception as error:
            practice_say(place, "raised", type(error).__name__ + ": " + str(error), practice_traceback.format_exc())
        else:
            practice_say(place, "passed" if practice_same(got, wanted) else "failed", repr(got))
    return PracticeResult([0.0] * len(completions))
"""


class CheckState(StrEnum):
    """What became of a check."""

    PASSED = "passed"
    FAILED = "failed"
    RAISED = "raised"
    NOT_REACHED = "not reached"
    """The run ended before it, or during it."""


@dataclass(frozen=True, slots=True)
class Report:
    """What one check printed."""

    state: CheckState
    got: str
    """What came, or the exception with its text."""
    traceback: str = ""


def with_checks(exercise: Exercise, text: str, mark: str) -> str:
    """Put the checks behind a learner's text; the lines of the text keep their numbers."""
    cases = "\n".join(f"        (lambda: {check.call}, {check.gives!r})," for check in exercise.checks)
    harness = _HARNESS.replace("{cases}", cases).replace("{mark}", mark).replace("{shown}", str(SHOWN_CHARACTERS))
    return "\n\n".join((text, exercise.support, harness))


def read_reports(printed: str, mark: str) -> tuple[dict[int, Report], str]:
    """Read what the checks printed: by their place, and what the learner's own code printed beside it."""
    reports: dict[int, Report] = {}
    own: list[str] = []
    for line in printed.splitlines():
        row = _row(line.removeprefix(mark)) if line.startswith(mark) else None
        if row is None:
            own.append(line)
        else:
            place, state, got, traceback = row
            reports[place] = Report(CheckState(state), got, traceback)
    return reports, "\n".join(own).strip()


def _row(text: str) -> list[Any] | None:
    """A marked line; None when it was cut where the output grew too long."""
    try:
        row: list[Any] = json.loads(text)
    except ValueError:
        return None
    return row
