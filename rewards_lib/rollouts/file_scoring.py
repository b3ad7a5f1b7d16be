"""A file of rollouts under a mix, streamed: chunks over worker processes, in order, resumable behind a kill.

Invariant: the output's bytes depend on the input, the mix and the chunk size; neither on the number of workers nor on
whether the run was interrupted. Memory does not grow with the file.
"""

from __future__ import annotations

import hashlib
import json
import os
import queue
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TextIO

from rewards_lib.contract import Isolation, JsonObject
from rewards_lib.errors import ExecutionError, InputError
from rewards_lib.executor import Executor, Limits
from rewards_lib.executor.stopping import StopSwitch
from rewards_lib.mix import Mix, mix_version
from rewards_lib.mix_result import weakest
from rewards_lib.rollouts.chunk_scoring import ChunkResult, ChunkScorer
from rewards_lib.rollouts.formats.columns import ColumnMap
from rewards_lib.rollouts.grouping import FIRST_CHUNK, GroupedRollouts
from rewards_lib.rollouts.journal import Journal, Progress
from rewards_lib.rollouts.output import GrowingOutput
from rewards_lib.rollouts.ray_worker import RayWorker, ray_session
from rewards_lib.rollouts.reading import RolloutFile, open_rollouts
from rewards_lib.rollouts.rollout import BadRow, Rollout
from rewards_lib.rollouts.tally import Tally
from rewards_lib.rollouts.worker_process import WorkerProcess
from rewards_lib.scoring import FunctionResolver, ResolvedFunction

CHUNK_SIZE = 256
_SHOWN_BAD_ROWS = 20
_MOST_CHUNKS_AT_ONCE = 4
"""In one process, which is busy with them itself; more workers are more processes."""
_READ_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class ScoreOptions:
    """How a file is scored."""

    workers: int = 1
    engine: Literal["local", "ray"] = "local"
    """Where the workers run; the output is the same."""
    resume: bool = False
    """Go on behind the last whole chunk of an interrupted run."""
    keep_going: bool = False
    """Do not stop when the first rollouts all fail for one cause."""
    chunk_size: int = CHUNK_SIZE
    """Rollouts a chunk, rounded up to whole groups; what a kill costs at most."""
    limits: Limits | None = None
    """Of one call of a custom function; None leaves each function its own."""
    format_name: str | None = None
    columns: ColumnMap | None = None


@dataclass(frozen=True, slots=True)
class FileScore:
    """What came of scoring a file."""

    tally: Tally
    groups: int
    bad_rows: int
    first_bad_rows: tuple[BadRow, ...]
    file: RolloutFile
    out: Path
    mix_version: str
    seconds: float
    resumed_at: int
    """Rollouts that an earlier run had scored already."""
    isolation: Isolation | None
    """Of this run; None when it had nothing left to score."""
    is_complete: bool
    """False when the run was cancelled."""

    def to_json(self) -> JsonObject:
        """The result as the command line prints it."""
        tally = self.tally
        error = ""
        if tally.failed:
            worst = max(tally.causes.values(), key=lambda cause: cause.count)
            error = f"{tally.failed} of {tally.rollouts} rollouts could not be scored; most often: {worst.why}"
        if not self.is_complete:
            error = f"Stopped after {tally.rollouts} rollouts. Go on with --resume."
        new = tally.rollouts - self.resumed_at
        return {
            "status": "failure" if error else "success", "error": error, "out": str(self.out),
            "format": self.file.format.name, "grouped_by": self.file.format.group_by,
            "rollouts": tally.rollouts, "groups": self.groups, "scored": tally.scored,
            "unscored": tally.rollouts - tally.scored, "abstained": tally.abstained, "failed": tally.failed,
            "mean": tally.total / tally.scored if tally.scored else None,
            "failures": [
                cause.to_json() for cause in sorted(tally.causes.values(), key=lambda cause: -cause.count)
            ],
            "bad_rows": self.bad_rows, "first_bad_rows": [row.to_json() for row in self.first_bad_rows],
            "isolation": self.isolation.to_json() if self.isolation else None,
            "mix_version": self.mix_version, "resumed_at": self.resumed_at, "seconds": round(self.seconds, 3),
            "rollouts_per_second": round(new / self.seconds, 1) if self.seconds > 0 else None,
        }  # fmt: skip


OnProgress = Callable[[Tally, int], None]
"""Gets what was counted so far and the rollouts in all: once when they are counted, then after every chunk."""


class AllFailedError(ExecutionError):
    """The first rollouts all failed for one cause: going on would spend time on what helps nobody."""

    code = "all_failed"


def score_file(
    mix: Mix,
    source: Path,
    out: Path,
    *,
    resolve: FunctionResolver,
    options: ScoreOptions | None = None,
    executor: Executor | None = None,
    on_progress: OnProgress | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> FileScore:
    """Score every rollout of a file and write one line for each, in the file's order.

    ``out`` is JSONL, JSONL.gz or parquet by its ending; rows that are no rollouts go to ``OUT.bad.jsonl``. Failures of
    single rollouts are counted in the result. ``executor`` is used, and left open, where one worker scores. Raises
    InputError for unusable files and flags, and AllFailedError when the first rollouts all fail for one cause, which
    ``keep_going`` overrides.
    """
    started = time.monotonic()
    options = options or ScoreOptions()
    _check(source, out, options)
    functions = {rule.function: resolve(rule) for rule in mix.rules if rule.function is not None}
    version = mix_version(mix, {r.name: functions[r.function].sha256 for r in mix.rules if r.function is not None})
    file = open_rollouts(source, format_name=options.format_name, columns=options.columns)
    bad_rows = _BadRows(out)
    grouped = GroupedRollouts(file, on_bad_row=bad_rows.keep)
    bad_rows.close()
    run = _description(file, version, options, functions)
    journal, output = Journal(out), GrowingOutput(out, is_scattered=grouped.is_scattered)
    earlier = journal.resume(run) if options.resume else None
    progress = earlier or Progress(0, 0, Tally())
    output.open(progress.size)
    journal.start(run, earlier)
    is_complete, isolation = False, None
    on_progress = on_progress or (lambda _tally, _total: None)
    on_progress(progress.tally, grouped.rollouts)
    try:
        with _scorers(mix, functions, options, version, executor) as score:
            for reached, confined in _scored(grouped, options, score, output, journal, progress):
                progress, isolation = reached, weakest([isolation, confined])
                on_progress(progress.tally, grouped.rollouts)
                _stop_early(progress.tally, options)
                if should_stop():
                    break
        is_complete = progress.tally.rollouts == grouped.rollouts
        if is_complete:
            output.finish(grouped.put_in_file_order if grouped.is_scattered else None)
    finally:
        output.close()
        journal.close(complete=is_complete)
    if is_complete:
        output.discard_growing()
    return FileScore(
        progress.tally, grouped.groups, grouped.bad_rows, tuple(bad_rows.first), file, out, version,
        time.monotonic() - started, earlier.tally.rollouts if earlier else 0, isolation, is_complete,
    )  # fmt: skip


def _check(source: Path, out: Path, options: ScoreOptions) -> None:
    if not 1 <= options.workers <= 256:
        raise InputError("There are 1 to 256 workers.", where="--workers")
    if options.chunk_size < 1:
        raise InputError("A chunk has at least one rollout.", where="--chunk-size")
    if not source.is_file():
        raise InputError("There is no file {path}.", where="--rollouts", path=str(source))
    if out.exists() and out.samefile(source):
        raise InputError("The output would overwrite the rollouts.", where="--out")
    if not out.parent.is_dir():
        raise InputError("There is no folder {folder}.", where="--out", folder=str(out.parent))


def _description(
    file: RolloutFile, version: str, options: ScoreOptions, functions: Mapping[str, ResolvedFunction]
) -> JsonObject:
    """Everything that decides the output's bytes."""
    digest = hashlib.sha256()
    with file.path.open("rb") as stream:
        while piece := stream.read(_READ_BYTES):
            digest.update(piece)
    return {
        "rollouts": digest.hexdigest(), "mix": version, "chunk_size": options.chunk_size,
        "format": file.format.name, "columns": repr(file.columns),
        "limits": [repr(options.limits or found.limits) for found in functions.values()],
    }  # fmt: skip


def _stop_early(tally: Tally, options: ScoreOptions) -> None:
    cause = tally.single_cause
    if cause is None or options.keep_going or tally.rollouts < FIRST_CHUNK:
        return
    raise AllFailedError(
        "The first {count} rollouts all failed for one cause: {why}",
        count=tally.rollouts,
        why=cause.why.rstrip(".") + ".",
        remedy="Mend it, or score on with --keep-going --resume.",
    )


def _scored(
    grouped: GroupedRollouts, options: ScoreOptions, score: ScoreChunks, output: GrowingOutput, journal: Journal,
    progress: Progress,
) -> Iterator[tuple[Progress, Isolation | None]]:  # fmt: skip
    """Score the chunks that are left, write them, and yield how far the run has come after each, and how confined."""
    chunks = enumerate(grouped.chunks(options.chunk_size))
    left = (chunk for number, chunk in chunks if number >= progress.chunks)
    for result in score(left):
        size = output.append(result.lines)
        tally = Tally()
        tally.add(progress.tally)
        tally.add(result.tally)
        progress = Progress(progress.chunks + 1, size, tally)
        journal.add(progress)
        yield progress, result.isolation


# --- who scores ----------------------------------------------------------------------------------------------------

ScoreChunks = Callable[[Iterator[list[Rollout]]], Iterator[ChunkResult]]
"""Scores chunks and yields their results in order."""


@contextmanager
def _scorers(
    mix: Mix, functions: Mapping[str, ResolvedFunction], options: ScoreOptions, version: str, given: Executor | None
) -> Iterator[ScoreChunks]:
    """One local worker scores in this process; others are processes or actors, each with its own executor."""
    if options.workers == 1 and options.engine == "local":
        with nullcontext(given) if given else Executor(batch_children=1) as executor:
            yield from _scorer_here(mix, functions, options, version, executor)
        return
    with ExitStack() as stack:
        make: type[WorkerProcess] | type[RayWorker] = WorkerProcess
        if options.engine == "ray":
            stack.enter_context(ray_session(options.workers))
            make = RayWorker
        # The threads are left last: they wait for answers, which end when the workers do.
        threads = stack.enter_context(ThreadPoolExecutor(options.workers, thread_name_prefix="chunk"))
        idle: queue.SimpleQueue[WorkerProcess | RayWorker] = queue.SimpleQueue()
        for _ in range(options.workers):
            started: WorkerProcess | RayWorker = make(mix, functions, options.limits, version)
            stack.enter_context(started)
            idle.put(started)

        def score_one(chunk: list[Rollout]) -> ChunkResult:
            worker = idle.get()
            try:
                return worker.score(chunk)
            finally:
                idle.put(worker)

        yield lambda chunks: _in_order(chunks, threads, score_one, ahead=options.workers + 1)


def _scorer_here(
    mix: Mix, functions: Mapping[str, ResolvedFunction], options: ScoreOptions, version: str, executor: Executor
) -> Iterator[ScoreChunks]:
    """Score in this process; an author's code works on the next chunks while this process reads and writes."""
    if not functions:
        scorer = ChunkScorer(mix, functions, options.limits, executor, version)
        yield lambda chunks: map(scorer.score, chunks)
        return
    at_once, switch = min(os.cpu_count() or 1, _MOST_CHUNKS_AT_ONCE), StopSwitch()
    with executor.ending(switch.press), ThreadPoolExecutor(at_once, thread_name_prefix="chunk") as threads:
        scorer = ChunkScorer(mix, functions, options.limits, executor.stopped_by(switch), version)
        try:
            yield lambda chunks: _in_order(chunks, threads, scorer.score, ahead=at_once)
        finally:
            switch.press()  # the threads end when what they wait for does


def _in_order(
    chunks: Iterator[list[Rollout]], threads: ThreadPoolExecutor, score_one: Callable[[list[Rollout]], ChunkResult],
    *, ahead: int,
) -> Iterator[ChunkResult]:  # fmt: skip
    """Keep the workers busy a few chunks ahead, and no further: memory must not grow behind one slow chunk."""
    pending: deque[Future[ChunkResult]] = deque()
    try:
        for chunk in chunks:
            pending.append(threads.submit(score_one, chunk))
            if len(pending) > ahead:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    finally:
        for future in pending:
            future.cancel()


class _BadRows:
    """Keeps rows that are no rollouts apart, beside the output; no file is made where there are none."""

    def __init__(self, out: Path) -> None:
        self.path = out.with_name(out.name + ".bad.jsonl")
        self.path.unlink(missing_ok=True)
        self.first: list[BadRow] = []
        self._stack = ExitStack()
        self._file: TextIO | None = None

    def keep(self, row: BadRow) -> None:
        if len(self.first) < _SHOWN_BAD_ROWS:
            self.first.append(row)
        if self._file is None:
            self._file = self._stack.enter_context(self.path.open("w", encoding="utf-8", errors="replace"))
        self._file.write(json.dumps(row.to_json(), ensure_ascii=False) + "\n")

    def close(self) -> None:
        self._stack.close()
