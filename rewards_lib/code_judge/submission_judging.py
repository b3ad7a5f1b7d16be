"""The judging of one submission: its program and its checker made ready, its tests run side by side, the worst decides.

Invariant: an error that is no fault of the program stops the judging and is raised; there is no verdict then.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rewards_lib.code_judge import checking, programs, toolchains
from rewards_lib.code_judge.cancellation import Cancellation
from rewards_lib.code_judge.extraction import Program
from rewards_lib.code_judge.programs import ReadyProgram
from rewards_lib.code_judge.run_verdict import judge_run
from rewards_lib.code_judge.side_by_side import do_side_by_side
from rewards_lib.code_judge.submission import Submission
from rewards_lib.code_judge.verdicts import Execution, Judgement, TestCase, TestOutcome, Verdict, worst
from rewards_lib.contract import sentence

if TYPE_CHECKING:
    from rewards_lib.code_judge.judge import CodeJudge


class SubmissionJudging:
    """The judging of one submission."""

    def __init__(
        self, judge: CodeJudge, submission: Submission, cases: Sequence[TestCase], caller: str,
        cancellation: Cancellation | None,
    ) -> None:  # fmt: skip
        self._judge = judge
        self._submission = submission
        self._cases = cases
        self._caller = caller
        self._cancellation = cancellation

    def judge(self, toolchain: toolchains.Toolchain, program: Program, found: Judgement) -> Judgement:
        """Make the program and its checker ready, run the tests, and complete what is known."""
        ready, compilation, cached = self._make_ready(toolchain, program.code or "")
        if ready is None:
            failed = sentence("the compiler refuses the program")
            if compilation is not None and compilation.timed_out:
                failed = sentence("the compiler took more than {limit:g} s", limit=self._submission.compile_seconds)
            outcome = TestOutcome(0, self._cases[0], Verdict.COMPILE_ERROR, None, failed)
            return replace(
                found, verdict=Verdict.COMPILE_ERROR, compilation=compilation, message=failed, outcomes=(outcome,)
            )
        checker = None
        try:
            if self._submission.checker is not None:
                checker = self._ready_checker()
            outcomes = self._run_tests(ready, checker)
        finally:
            programs.close_all((ready, checker))
        if program.whole_text and outcomes[0].verdict is Verdict.COMPILE_ERROR:
            return replace(found, code="", message=sentence("no code block, and the text itself is no program"))
        verdict, message = worst([one.verdict for one in outcomes]), None
        if verdict is Verdict.RUNTIME_ERROR:
            self._judge.prove(toolchain, self._caller, self._cancellation)
        if outcomes[0].verdict is Verdict.COMPILE_ERROR:
            outcomes, message = outcomes[:1], outcomes[0].message
        return replace(
            found, verdict=verdict, outcomes=tuple(outcomes), compilation=compilation, cached_compile=cached,
            message=message,
        )  # fmt: skip

    def _make_ready(
        self, toolchain: toolchains.Toolchain, code: str
    ) -> tuple[ReadyProgram | None, Execution | None, bool]:
        return self._judge.make_ready(
            toolchain, code, self._submission.compile_seconds, self._caller, self._cancellation
        )

    def _ready_checker(self) -> ReadyProgram:
        checker = self._submission.checker
        assert checker is not None  # noqa: S101 -- asked for by the caller
        ready, compilation, _ = self._make_ready(toolchains.need_toolchain(checker.language), checker.code)
        if ready is None:
            raise checking.broken(compilation.stderr if compilation else "")
        return ready

    def _run_tests(self, program: ReadyProgram, checker: ReadyProgram | None) -> list[TestOutcome]:
        """One outcome for each test in order, up to the first failure unless all are asked for."""
        run_all = self._submission.run_all or self._submission.scoring == "fraction"
        outcomes = do_side_by_side(
            lambda index: self._run_test(index, program, checker), len(self._cases), self._judge.workers,
            stop=lambda outcome: not run_all and not outcome.passed,
        )  # fmt: skip
        if run_all:
            return outcomes
        last = next((place for place, one in enumerate(outcomes) if not one.passed), len(outcomes))
        return outcomes[: last + 1]

    def _run_test(self, index: int, program: ReadyProgram, checker: ReadyProgram | None) -> TestOutcome:
        case, submission = self._cases[index], self._submission
        limits = program.limits(submission.seconds, submission.memory_mb)
        with self._judge.run(program.order(limits), case.stdin, self._caller, self._cancellation) as report:
            plain = judge_run(index, case, report, limits, submission.rules, whole=submission.full_texts)
            if checker is None or plain.verdict not in (Verdict.ACCEPTED, Verdict.WRONG_ANSWER):
                return plain
            with (
                checking.check_order(checker, case, report.stdout) as order,
                self._judge.run(order, "", self._caller, self._cancellation) as checked,
            ):
                return checking.outcome(plain, checked)
