"""From how a run went to a verdict.

Invariant: the order of the questions is the order below; a program is asked for the right output only when it kept
within its limits and ended with status 0.
"""

from __future__ import annotations

import signal

from rewards_lib.code_judge import anonymous_files
from rewards_lib.code_judge.comparison import CompareRules, compare
from rewards_lib.code_judge.runs import RunLimits, RunReport
from rewards_lib.code_judge.verdicts import Difference, Execution, TestCase, TestOutcome, Verdict
from rewards_lib.contract import Sentence, sentence
from rewards_lib.errors import BusyError, DependencyError

SHOWN_CHARACTERS = 65_536
"""Of each output, unless all of it is asked for."""
_OUT_OF_MEMORY = (
    "MemoryError", "std::bad_alloc", "Cannot allocate memory", "cannot allocate", "OutOfMemoryError",
    "heap out of memory", "memory allocation of", "out of memory", "invalid array length", "Array buffer allocation",
)  # fmt: skip
"""What runtimes say on standard error when they are refused memory; only a failed program is asked."""


def execution_of(report: RunReport, *, whole: bool = False) -> Execution:
    """How a program ran, its output cut for display unless ``whole``."""
    most = None if whole else SHOWN_CHARACTERS
    ended = report.ended_by == "wall" or _used_up(report, None)
    return Execution(
        None if report.ended_by else report.code, report.cpu_seconds, report.wall_seconds, report.peak_mb,
        _text(report.stdout, most), _text(report.stderr, most), ended,
    )  # fmt: skip


def _text(descriptor: int, most: int | None) -> str:
    return anonymous_files.read_head(descriptor, most).decode("utf-8", "backslashreplace")


def refuse_faults(report: RunReport) -> None:
    """Raise what is no fault of the program: BusyError on an overloaded machine, DependencyError otherwise."""
    if report.ended_by == "starved":
        raise BusyError(
            "The machine is overloaded: a program got {cpu:.2f} s of processor time in {wall:.0f} s. Nothing was "
            "judged.",
            cpu=report.cpu_seconds, wall=report.wall_seconds,
        )  # fmt: skip
    if report.ended_by == "cancelled":
        raise BusyError("The request was cancelled. Nothing was judged.")
    if report.fault:
        raise DependencyError("The program could not be started: {fault}.", fault=report.fault)


def broken_limit(report: RunReport, limits: RunLimits) -> tuple[Verdict, Sentence] | None:
    """Which limit a run went over, and a sentence about it; None when it kept within all."""
    if report.ended_by == "memory" or report.peak_mb > limits.memory_mb:
        return Verdict.MEMORY_LIMIT, sentence("more than {limit} MB of memory", limit=limits.memory_mb)
    if report.code == -signal.SIGXFSZ or _is_full(report, limits):
        return Verdict.OUTPUT_LIMIT, sentence("more than {limit} MB of output", limit=limits.output_mb)
    if report.ended_by == "wall":
        template = "no end within {wall:g} s, with {cpu:.2f} s of processor time used"
        return Verdict.TIME_LIMIT, sentence(template, wall=limits.wall_seconds, cpu=report.cpu_seconds)
    if _used_up(report, limits):
        return Verdict.TIME_LIMIT, sentence("more than {limit:g} s of processor time", limit=limits.cpu_seconds)
    return None


def _used_up(report: RunReport, limits: RunLimits | None) -> bool:
    over = limits is not None and report.cpu_seconds > limits.cpu_seconds
    return over or report.ended_by == "cpu" or report.code == -signal.SIGXCPU


def _is_full(report: RunReport, limits: RunLimits) -> bool:
    """A runtime that ignores the signal gets an error when it writes beyond the limit; the file ends there."""
    most = limits.output_mb << 20
    return max(anonymous_files.size_of(report.stdout), anonymous_files.size_of(report.stderr)) >= most


def _was_refused_memory(report: RunReport) -> bool:
    said = anonymous_files.read_tail(report.stderr, 8_192).decode("utf-8", "replace")
    return any(words in said for words in _OUT_OF_MEMORY)


def ending(report: RunReport) -> Sentence:
    """Say how a program that failed ended."""
    if report.code < 0:
        try:
            name = signal.Signals(-report.code).name
        except ValueError:
            name = str(-report.code)
        return sentence("ended by the signal {signal}", signal=name)
    return sentence("exit status {code}", code=report.code)


def judge_run(
    index: int, case: TestCase, report: RunReport, limits: RunLimits, rules: CompareRules, *, whole: bool
) -> TestOutcome:
    """Judge one test by how its run went. Raises BusyError or DependencyError for what is no fault of the program."""
    refuse_faults(report)
    execution = execution_of(report, whole=whole)
    if report.compile_error:
        return TestOutcome(index, case, Verdict.COMPILE_ERROR, execution, sentence("the source is not valid"))
    broken = broken_limit(report, limits)
    if broken:
        return TestOutcome(index, case, broken[0], execution, broken[1])
    if report.code != 0 and _was_refused_memory(report):
        told = sentence("memory was refused beyond {limit} MB", limit=limits.memory_mb)
        return TestOutcome(index, case, Verdict.MEMORY_LIMIT, execution, told)
    if report.code != 0:
        return TestOutcome(index, case, Verdict.RUNTIME_ERROR, execution, ending(report))
    expected = case.stdout.encode("utf-8", "surrogatepass")
    difference = compare(expected, anonymous_files.pieces(report.stdout), rules)
    return outcome_of(index, case, execution, difference)


def outcome_of(index: int, case: TestCase, execution: Execution, difference: Difference | None) -> TestOutcome:
    """Accepted without a difference, a wrong answer with one."""
    if difference is None:
        return TestOutcome(index, case, Verdict.ACCEPTED, execution)
    if difference.line:
        message = sentence("line {line}: {reason}", line=difference.line, reason=difference.reason)
    else:
        message = difference.reason
    return TestOutcome(index, case, Verdict.WRONG_ANSWER, execution, message, difference)
