"""The judge: takes a submission, makes its program ready once, runs the tests side by side, and says the verdict.

Invariant: what it returns is about the program alone. Whatever else goes wrong (a missing compiler, tests that cannot
be fetched, an overloaded machine) is raised as an error of the family, and nobody can take it for a wrong answer.
"""

from __future__ import annotations

import atexit
import contextlib
import itertools
import os
import threading
import time
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from rewards_lib.code_judge import anonymous_files, headers, programs, toolchains
from rewards_lib.code_judge.binary_cache import BinaryCache
from rewards_lib.code_judge.cancellation import Cancellation
from rewards_lib.code_judge.extraction import Program, extract_program
from rewards_lib.code_judge.headers import PrecompiledHeaders
from rewards_lib.code_judge.languages import LANGUAGES, SAMPLE_INPUT
from rewards_lib.code_judge.libraries import CompiledLibraries
from rewards_lib.code_judge.programs import ReadyProgram
from rewards_lib.code_judge.run_verdict import broken_limit, ending, execution_of, refuse_faults
from rewards_lib.code_judge.runs import RunOrder, RunReport
from rewards_lib.code_judge.submission import MEMORY_MB, CodeRun, Submission
from rewards_lib.code_judge.submission_judging import SubmissionJudging
from rewards_lib.code_judge.test_fetching import TestFetcher
from rewards_lib.code_judge.test_lists import address_of, read_tests
from rewards_lib.code_judge.verdicts import Execution, Judgement, TestCase, Verdict
from rewards_lib.code_judge.workers import RunCancelledError, Worker, WorkerLostError, WorkerPlan, WorkerPool
from rewards_lib.contract import Isolation, JsonObject, Tier
from rewards_lib.data_directory import data_directory
from rewards_lib.errors import BusyError, DependencyError, boundary
from rewards_lib.executor.run_queue import RunQueue

MOST_SUBMISSIONS = 256
"""Being judged or waiting, over everybody; one more is told that the judge is busy."""
_WAIT_SECONDS = 600.0
_PROOF_SECONDS = 60.0
_judges: weakref.WeakSet[CodeJudge] = weakref.WeakSet()
_T = TypeVar("_T")


class CodeJudge:
    """Owns the workers. Thread-safe; close it, or use it as a context manager."""

    def __init__(
        self, *, workers: int | None = None, home: Path | None = None, allow_hosts: Sequence[str] = (),
        require: Tier | None = None, plans: Sequence[WorkerPlan] = (), most_submissions: int = MOST_SUBMISSIONS,
        is_brief: bool = False,
    ) -> None:  # fmt: skip
        """``is_brief`` is for a judge of one submission: it begins nothing that pays off later."""
        folder = (home or data_directory()) / "code_judge"
        self.workers = workers or os.cpu_count() or 1
        prepared = folder / "prepared"
        with contextlib.suppress(OSError):  # without it nothing is precompiled, which ``CompiledLibraries`` tells
            prepared.mkdir(parents=True, exist_ok=True)
        self._headers = PrecompiledHeaders(prepared / "headers", self._compile_header, builds_itself=not is_brief)
        self._libraries = CompiledLibraries(prepared / "libraries")
        self._pool = WorkerPool(toolchains.readable_anywhere(), require, plans, prepared=prepared)
        self._queue = RunQueue(at_once=self.workers, most_waiting=1 << 20, wait_seconds=_WAIT_SECONDS, kept_free=0)
        self._cache = BinaryCache(folder / "binaries")
        self._fetcher = TestFetcher(folder / "tests", allow_hosts)
        self._admitted = threading.BoundedSemaphore(most_submissions)
        self._most_submissions = most_submissions
        self._numbers = itertools.count()
        self.judged = 0
        self.used_languages: set[str] = set()
        self._proven: set[str] = set()
        """Languages whose toolchain has shown that it compiles and runs what is right."""
        _judges.add(self)

    # --- the outside -----------------------------------------------------------------------------------------------

    def judge(
        self, submission: Submission, *, cancellation: Cancellation | None = None, counts: bool = True
    ) -> Judgement:
        """Judge a submission; one that does not count leaves no mark in ``judged`` and ``used_languages``.

        Raises InputError for unusable tests, ToolchainError for a language this machine lacks, UpstreamError and
        HostRefusedError for tests that cannot be fetched, BusyError when there is too much to do, DependencyError
        when programs cannot be run at all.
        """
        with self._admission() as caller:
            started = time.monotonic()
            toolchain = toolchains.need_toolchain(submission.language)
            cases = self._cases(submission)
            program = (
                Program(submission.completion) if submission.is_program
                else extract_program(submission.completion, submission.language)
            )  # fmt: skip
            found = Judgement(
                Verdict.NO_CODE, len(cases), language=submission.language.name, code=program.code or "",
                message=program.why, incomplete_fence=program.incomplete_fence, scoring=submission.scoring,
            )  # fmt: skip
            if program.code is not None:
                run = SubmissionJudging(self, submission, cases, caller, cancellation)
                found = run.judge(toolchain, program, found)
            if counts:
                self.judged += 1
                self.used_languages.add(submission.language.name)
            return replace(found, wall_seconds=time.monotonic() - started, isolation=self.isolation())

    def run_code(
        self, request: CodeRun, *, cancellation: Cancellation | None = None
    ) -> tuple[Execution | None, Execution | None, dict[str, bytes]]:
        """Run a program once: how compiling went, how running went (None when it was not run), and its files.

        Raises what ``judge`` does for a missing language, an overloaded machine and a toolchain that is broken.
        """
        with self._admission() as caller:
            toolchain = toolchains.need_toolchain(request.language)
            program, compilation, _cached = self.make_ready(
                toolchain, request.code, request.compile_seconds, caller, cancellation
            )
            if program is None:
                return compilation, None, {}
            placed = {name: anonymous_files.shared(content, "file") for name, content in request.files.items()}
            try:
                with anonymous_files.closing(*placed.values()):
                    return compilation, *self._run_once(request, program, placed, caller, cancellation)
            finally:
                program.close()

    def _run_once(
        self, request: CodeRun, program: ReadyProgram, placed: dict[str, int], caller: str,
        cancellation: Cancellation | None,
    ) -> tuple[Execution, dict[str, bytes]]:  # fmt: skip
        limits = program.limits(request.run_seconds, request.memory_mb)
        order = program.order(limits, files=placed, fetch=request.fetch_files)
        with self.run(order, request.stdin, caller, cancellation) as report:
            refuse_faults(report)
            broken = broken_limit(report, limits)
            execution = execution_of(report, whole=True)
            if broken and broken[0] is Verdict.TIME_LIMIT:
                execution = replace(execution, code=None, timed_out=True)
            elif broken and report.ended_by:
                execution = replace(execution, code=report.code, stderr=f"{execution.stderr}{broken[1]}\n")
            files = {name: anonymous_files.read_head(fd) for name, fd in report.fetched.items()}
        if not broken and execution.code != 0:
            self.prove(program.toolchain, caller, cancellation)
        return execution, files

    def is_valid_python(self, source: str) -> bool:
        """Whether a text is a Python program, found out where it can do no harm."""
        chain = toolchains.need_toolchain(LANGUAGES["python"])
        program = ReadyProgram(chain, anonymous_files.shared(source.encode("utf-8", "surrogatepass")), "")
        try:
            order = program.order(program.limits(5.0, 1024))
            order = replace(order, python={**(order.python or {}), "only_compile": True})
            with self.run(order, "", "check", None) as report:
                refuse_faults(report)
                return not report.compile_error
        finally:
            program.close()

    def isolation(self) -> Isolation:
        """How programs are confined on this machine. Raises DependencyError where they cannot be run as required."""
        return self._pool.isolation()

    def health(self) -> JsonObject:
        """What a monitor wants to know; starts a worker when none has been started yet."""
        return {
            "workers": self.workers, "running": self._queue.running, "waiting": self._queue.waiting,
            "judged": self.judged, "workers_started": self._pool.started, "workers_replaced": self._pool.replaced,
            "compile_cache": {"hits": self._cache.hits, "misses": self._cache.misses},
            "isolation": self.isolation().to_json(), "toolchains": toolchains.found_languages(),
        }  # fmt: skip

    def replace_workers(self) -> None:
        """Let every idle worker end; new ones start when they are needed."""
        self._pool.drain()

    def close(self) -> None:
        """End the workers, and with them the runs in progress."""
        self._pool.close()

    def __enter__(self) -> CodeJudge:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    # --- for the judging of one submission -------------------------------------------------------------------------

    def run(self, order: RunOrder, stdin: str, caller: str, cancellation: Cancellation | None) -> RunReport:
        """Run one program on a worker; once more on a fresh one when the worker was lost on the way."""
        content = anonymous_files.shared(stdin.encode("utf-8", "surrogatepass"), "stdin")
        with anonymous_files.closing(content), self._queue.turn(caller):
            for is_last in (False, True):
                os.lseek(content, 0, os.SEEK_SET)
                try:
                    with self._worker() as worker:
                        return worker.run(order, content, cancellation.descriptor if cancellation else None)
                except RunCancelledError:
                    raise BusyError("The request was cancelled. Nothing was judged.") from None
                except WorkerLostError as error:
                    if is_last:
                        raise DependencyError("The worker was lost twice: {why}.", why=error.why) from None
        raise AssertionError("unreachable: the second try returns or raises")

    @contextmanager
    def _worker(self) -> Iterator[Worker]:
        worker = self._pool.borrow()
        broken = True
        try:
            yield worker
            broken = False
        except RunCancelledError:
            broken = False
            raise
        finally:
            self._pool.give_back(worker, broken=broken)

    def make_ready(
        self, toolchain: toolchains.Toolchain, source: str, seconds: float, caller: str,
        cancellation: Cancellation | None,
    ) -> tuple[ReadyProgram | None, Execution | None, bool]:  # fmt: skip
        """Compile where the language asks for it: the program (None on a compile error), how that went, and whether
        it was found compiled.
        """
        if not toolchain.language.is_compiled:
            return _uncompiled(toolchain, source), None, False
        key = self._cache.key(*programs.cache_parts(toolchain, source))
        with self._cache.making(key):
            found = self._cache.find(key)
            if found is not None:
                return ReadyProgram(toolchain, found, source), Execution(0), True
            ready, execution = self._compile(toolchain, source, seconds, caller, cancellation, key)
            language = toolchain.language
            if ready is None and language.no_package and language.no_package in execution.stderr:
                ready, execution = self._compile(toolchain, source, seconds, caller, cancellation, key, whole=True)
        if ready is None:
            self.prove(toolchain, caller, cancellation)
        return ready, execution, False

    def prove(self, toolchain: toolchains.Toolchain, caller: str, cancellation: Cancellation | None) -> None:
        """Hold no failure against a program as long as its language's own sample fails too.

        A toolchain may fail for reasons of its own: parts of it that the isolation hides, a broken installation.
        Raises DependencyError when it does.
        """
        language = toolchain.language
        if not language.tools or language.name in self._proven:
            return
        why = self._sample_fails(toolchain, caller, cancellation)
        if why is not None:
            raise DependencyError(
                "The toolchain of {language} fails even on a program that is right: {why}. Nothing was judged.",
                language=language.title, why=why.strip()[:500],
                remedy="Check how it is installed; it must be readable where programs are confined.",
            )  # fmt: skip
        self._proven.add(language.name)

    def _sample_fails(
        self, toolchain: toolchains.Toolchain, caller: str, cancellation: Cancellation | None
    ) -> str | None:
        """What is said when the sample of a language does not compile or run; None when it does both."""
        sample = toolchain.language.sample
        if toolchain.language.is_compiled:
            key = self._cache.key(*programs.cache_parts(toolchain, sample))
            ready, execution = self._compile(toolchain, sample, _PROOF_SECONDS, caller, cancellation, key)
            if ready is None:
                return execution.stderr
        else:
            ready = _uncompiled(toolchain, sample)
        try:
            order = ready.order(ready.limits(_PROOF_SECONDS, MEMORY_MB))
            with self.run(order, SAMPLE_INPUT, caller, cancellation) as report:
                refuse_faults(report)
                return None if report.code == 0 else f"{ending(report)}. {report.stderr_text()}"
        finally:
            ready.close()

    def _compile(
        self, toolchain: toolchains.Toolchain, source: str, seconds: float, caller: str,
        cancellation: Cancellation | None, key: str, *, whole: bool = False,
    ) -> tuple[ReadyProgram | None, Execution]:  # fmt: skip
        """Compile once; ``whole`` with every package of the language, not the common ones alone."""
        header, library = self._headers.place_for(toolchain, source), self._libraries.place_for(toolchain, whole=whole)
        seen = self._pool.seen
        with (
            programs.compile_order(toolchain, source, seconds, header=seen(header), library=seen(library)) as order,
            self.run(order, "", caller, cancellation) as report,
        ):
            refuse_faults(report)
            execution = execution_of(report)
            binary = report.fetched.pop(toolchain.language.artifact, None)
            if binary is not None:
                anonymous_files.seal(binary)
                self._cache.keep(key, binary)
                return ReadyProgram(toolchain, binary, source), execution
            broken = broken_limit(report, order.limits)
            if broken:
                is_late = broken[0] is Verdict.TIME_LIMIT
                told = f"{broken[1]}\n{execution.stderr}"
                execution = replace(execution, code=execution.code or 1, stderr=told, timed_out=is_late)
            elif not execution.stderr:
                execution = replace(execution, stderr=str(ending(report)))
        return None, execution

    def _compile_header(self, toolchain: toolchains.Toolchain) -> int | None:
        """For ``PrecompiledHeaders``; whatever keeps it from being made costs its speed and nothing else."""
        found: list[int | None] = []
        with boundary(lambda _error: found.append(None)):
            flags = headers.flags_of(toolchain.language)
            with programs.header_order(toolchain, flags) as order, self.run(order, "", "header", None) as report:
                found.append(report.fetched.pop("header.gch", None))
        return found[0]

    @contextmanager
    def _admission(self) -> Iterator[str]:
        if not self._admitted.acquire(blocking=False):
            raise BusyError(
                "The code judge is busy: {most} submissions are being judged or wait. Nothing was judged; try again "
                "soon.", most=self._most_submissions,
            )  # fmt: skip
        try:
            yield f"submission {next(self._numbers)}"
        finally:
            self._admitted.release()

    def _cases(self, submission: Submission) -> list[TestCase]:
        address = address_of(submission.tests)
        if address is None:
            return read_tests(submission.tests)
        return self._fetcher.fetch(address, submission.allow_hosts)


def _uncompiled(toolchain: toolchains.Toolchain, source: str) -> ReadyProgram:
    content = anonymous_files.shared(source.encode("utf-8", "surrogatepass"), "source")
    return ReadyProgram(toolchain, content, source)


@atexit.register
def _close_all() -> None:
    for judge in list(_judges):
        judge.close()
