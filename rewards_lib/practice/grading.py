"""Grading: a learner's text against an exercise's checks, in the restricted executor.

Invariant: whatever the text does, there is one outcome for each check and one sentence that says what to do next.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass

from rewards_lib.contract import Completion, Finding, Isolation, Payload, Sample, Sentence, sentence
from rewards_lib.executor import Executor, FunctionRun, FunctionSource, Limits
from rewards_lib.practice.exercise import Check, Exercise, open_blanks
from rewards_lib.practice.harness import CheckState, Report, read_reports, with_checks

LIMITS = Limits(wall_seconds=5.0, memory_mb=256)
_LINE = re.compile(r'File "reward\.py", line (\d+)')


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """What became of one check."""

    check: Check
    state: CheckState
    got: str = ""
    """What came instead or as expected, as Python writes it; the exception where it raised."""
    line: int | None = None
    """The learner's line that raised, from 1."""


@dataclass(frozen=True, slots=True)
class Grade:
    """A text under all checks of its exercise."""

    outcomes: tuple[CheckOutcome, ...]
    """One for each check, in order."""
    message: Sentence
    """What to do next; praise when nothing is left."""
    findings: tuple[Finding, ...] = ()
    """Lines to mark in the editor."""
    printed: str = ""
    duration_ms: float | None = None
    isolation: Isolation | None = None

    @property
    def passed(self) -> int:
        """How many checks passed."""
        return sum(outcome.state is CheckState.PASSED for outcome in self.outcomes)

    @property
    def is_solved(self) -> bool:
        """Whether all did."""
        return self.passed == len(self.outcomes)


def grade(exercise: Exercise, text: str, executor: Executor) -> Grade:
    """Run a learner's text under the checks. A text with open blanks is not run."""
    if blanks := open_blanks(text):
        told = sentence("{count} blanks are still open, the first in line {line}.", count=len(blanks), line=blanks[0])
        marks = tuple(Finding("error", sentence("This blank is open."), rule="blank", line=line) for line in blanks)
        return Grade(_not_reached(exercise), told, marks)
    mark = f"practice-{secrets.token_hex(8)} "
    source = FunctionSource(with_checks(exercise, text, mark))
    run = executor.run_function(source, Payload(Sample(), (Completion(""),)), limits=LIMITS)
    reports, printed = read_reports(run.logs, mark)
    last_line = text.count("\n") + 1
    outcomes = tuple(_outcome(check, reports.get(place), last_line) for place, check in enumerate(exercise.checks))
    message, findings = _judge(outcomes, run, last_line)
    return Grade(outcomes, message, findings, printed, run.duration_ms, run.isolation)


def _not_reached(exercise: Exercise) -> tuple[CheckOutcome, ...]:
    return tuple(CheckOutcome(check, CheckState.NOT_REACHED) for check in exercise.checks)


def _outcome(check: Check, report: Report | None, last_line: int) -> CheckOutcome:
    if report is None:
        return CheckOutcome(check, CheckState.NOT_REACHED)
    lines = [int(found) for found in _LINE.findall(report.traceback)]
    own = [line for line in lines if line <= last_line]
    return CheckOutcome(check, report.state, report.got, own[-1] if own else None)


def _judge(
    outcomes: tuple[CheckOutcome, ...], run: FunctionRun, last_line: int
) -> tuple[Sentence, tuple[Finding, ...]]:
    """The sentence to say, and the lines to mark."""
    refused = tuple(one for one in run.findings if one.severity == "error")
    if refused:
        line = min(refused[0].line or 1, last_line)
        return sentence("Line {line}: {reason}", line=line, reason=refused[0].message), refused
    wrong = next((one for one in outcomes if one.state is not CheckState.PASSED), None)
    if wrong is None:
        return sentence("Solved: all {count} cases pass.", count=len(outcomes)), ()
    if wrong.state is CheckState.NOT_REACHED:
        return _not_ended(outcomes, wrong, run, last_line)
    marks: tuple[Finding, ...] = ()
    if wrong.line is not None:
        told = sentence("{text}", text=wrong.got)
        marks = (Finding("error", told, rule="raised", line=wrong.line),)
    return wrong.check.says, marks


def _not_ended(
    outcomes: tuple[CheckOutcome, ...], wrong: CheckOutcome, run: FunctionRun, last_line: int
) -> tuple[Sentence, tuple[Finding, ...]]:
    """The run ended before or during this check: a limit, an exception at the top level, a worker that was lost."""
    error = run.error or sentence("The run ended without an answer; try again.")
    started = any(one.state is not CheckState.NOT_REACHED for one in outcomes)
    line = run.error_line if run.error_line and run.error_line <= last_line else None
    marks = (Finding("error", error, rule="raised", line=line),) if line else ()
    if started:
        number = outcomes.index(wrong) + 1
        return sentence("Case {number} did not come to its end. {reason}", number=number, reason=error), marks
    return error, marks
