"""Custom checkers: a program of the problem's author decides whether an output is right.

It is called as testlib's checkers are: ``checker input output answer``. Status 0 accepts, 1 and 2 (and 7, which
testlib uses for partial answers) refuse; anything else is a fault of the checker, never of the program. Invariant: it
runs behind the same confinement as the program, in a run of its own that alone sees the answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from rewards_lib.code_judge import anonymous_files
from rewards_lib.code_judge.programs import ReadyProgram
from rewards_lib.code_judge.run_verdict import ending, refuse_faults
from rewards_lib.code_judge.runs import RunOrder, RunReport
from rewards_lib.code_judge.verdicts import Difference, TestCase, TestOutcome, Verdict
from rewards_lib.contract import sentence
from rewards_lib.errors import InputError

CHECKER_SECONDS, CHECKER_MB = 10.0, 1024
_NAMES = ("input.txt", "output.txt", "answer.txt")
_REFUSES = (1, 2, 7)


def broken(said: str) -> InputError:
    """The error of a checker that does not compile or does not decide."""
    return InputError(
        "The checker is unusable: {said}", where="config.extra.checker", said=" ".join(said.split())[:400] or "-"
    )


@contextmanager
def check_order(checker: ReadyProgram, case: TestCase, output: int) -> Iterator[RunOrder]:
    """What a worker is told to let the checker look at one output."""
    contents = [anonymous_files.shared(text.encode("utf-8", "surrogatepass")) for text in (case.stdin, case.stdout)]
    with anonymous_files.closing(*contents):
        files = dict(zip(_NAMES, (contents[0], output, contents[1]), strict=True))
        limits = checker.limits(CHECKER_SECONDS, CHECKER_MB)
        yield checker.order(limits, arguments=_NAMES, files=files)


def outcome(plain: TestOutcome, report: RunReport) -> TestOutcome:
    """The outcome of a test by its checker's word. Raises InputError when the checker did not decide."""
    refuse_faults(report)
    if report.code == 0 and not report.ended_by:
        return replace(plain, verdict=Verdict.ACCEPTED, message=None, difference=None)
    if report.code not in _REFUSES or report.ended_by or report.compile_error or _has_crashed(report):
        raise broken(f"{ending(report)}. {report.stderr_text(2_000)}")
    said = " ".join((report.stderr_text(400) or "").split())
    reason = sentence("the checker refuses it: {said}", said=said) if said else sentence("the checker refuses it")
    return replace(plain, verdict=Verdict.WRONG_ANSWER, message=reason, difference=Difference(reason))


def _has_crashed(report: RunReport) -> bool:
    """An uncaught exception of Python is status 1 too."""
    return report.stderr_text().startswith("Traceback (most recent call last)")
