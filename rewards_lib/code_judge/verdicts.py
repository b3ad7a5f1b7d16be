"""The judge's words: verdicts, what came of one test, and what came of a submission.

Invariant: a fault of the judge is ``judge_error`` or an exception, never a verdict about the program.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from rewards_lib.contract import Isolation, Sentence


class Verdict(StrEnum):
    """What the judge says about a program; listed from best to worst, and the worst test decides."""

    ACCEPTED = "accepted"
    WRONG_ANSWER = "wrong_answer"
    OUTPUT_LIMIT = "output_limit"
    TIME_LIMIT = "time_limit"
    MEMORY_LIMIT = "memory_limit"
    RUNTIME_ERROR = "runtime_error"
    COMPILE_ERROR = "compile_error"
    NO_CODE = "no_code"
    JUDGE_ERROR = "judge_error"


def worst(verdicts: Sequence[Verdict]) -> Verdict:
    """The verdict that decides; accepted when there is none to decide otherwise."""
    order = list(Verdict)
    return max(verdicts, key=order.index, default=Verdict.ACCEPTED)


@dataclass(frozen=True, slots=True)
class TestCase:
    """One test: what the program reads and what it is to write."""

    __test__ = False  # for pytest, which collects by name
    stdin: str
    stdout: str


@dataclass(frozen=True, slots=True)
class Difference:
    """Where an output first departs from what was expected."""

    reason: Sentence
    line: int = 0
    """From 1; 0 where no line can be named."""
    expected: str = ""
    """That line, cut and escaped for display."""
    actual: str = ""


@dataclass(frozen=True, slots=True)
class Execution:
    """How one program ran: compiler or test."""

    code: int | None
    """Exit status, negative for a signal; None when it was ended or never started."""
    cpu_seconds: float = 0.0
    wall_seconds: float = 0.0
    peak_mb: float = 0.0
    stdout: str = ""
    """Cut; bytes that are no UTF-8 escaped."""
    stderr: str = ""
    timed_out: bool = False


@dataclass(frozen=True, slots=True)
class TestOutcome:
    """What came of one test."""

    __test__ = False
    index: int
    """From 0, as in the list of tests."""
    case: TestCase
    verdict: Verdict
    execution: Execution | None = None
    message: Sentence | None = None
    """Why the verdict is what it is; None when accepted."""
    difference: Difference | None = None

    @property
    def passed(self) -> bool:
        """Whether the test was passed."""
        return self.verdict is Verdict.ACCEPTED


@dataclass(frozen=True, slots=True)
class Judgement:
    """What came of a submission."""

    verdict: Verdict
    total: int
    """Tests there are, run or not."""
    outcomes: tuple[TestOutcome, ...] = ()
    """One entry for each test that was run, in order; with a stop at the first failure, up to it."""
    code: str = ""
    """The program that was taken out of the completion."""
    language: str = ""
    message: Sentence | None = None
    """Why there is no test outcome: no code, a compiler's complaint."""
    compilation: Execution | None = None
    cached_compile: bool = False
    incomplete_fence: bool = False
    wall_seconds: float = 0.0
    isolation: Isolation | None = None
    scoring: Scoring = field(default="all")

    @property
    def accepted(self) -> bool:
        """Whether every test was passed."""
        return self.verdict is Verdict.ACCEPTED

    @property
    def passed(self) -> int:
        """How many tests were passed."""
        return sum(outcome.passed for outcome in self.outcomes)

    @property
    def score(self) -> float:
        """1 or 0 under ``all``, the share of tests passed under ``fraction``."""
        if self.scoring == "fraction":
            return self.passed / self.total if self.total else 0.0
        return float(self.accepted)

    @property
    def first_failure(self) -> TestOutcome | None:
        """The first test that was not passed."""
        return next((outcome for outcome in self.outcomes if not outcome.passed), None)

    @property
    def peak_mb(self) -> float:
        """The most memory that a test took."""
        return max((one.execution.peak_mb for one in self.outcomes if one.execution), default=0.0)

    @property
    def cpu_seconds(self) -> float:
        """Processor time over all tests."""
        return sum(one.execution.cpu_seconds for one in self.outcomes if one.execution)


Scoring: TypeAlias = str
"""``all`` or ``fraction``."""
