"""A process of ours that scores chunks: frames in on standard input, frames out on standard output.

It ends when its input ends, so that it never outlives the run that started it; what it runs of the author's is confined
by its own executor. Invariant: one answer for each chunk, in order.
"""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from rewards_lib.contract import Isolation, JsonObject
from rewards_lib.errors import DependencyError, ExecutionError, RewardConsoleError
from rewards_lib.executor import Executor, FunctionSource, Limits
from rewards_lib.mix import Mix, read_mix, write_mix
from rewards_lib.plain_frames import pack_frame, read_frame, unpack_frame, write_frame
from rewards_lib.rollouts.chunk_scoring import ChunkResult, ChunkScorer
from rewards_lib.rollouts.rollout import Rollout
from rewards_lib.rollouts.tally import Tally
from rewards_lib.scoring import ResolvedFunction

_PROJECT_FOLDER = Path(__file__).resolve().parents[2]
_START = "import sys; sys.path.insert(0, sys.argv[1]); from rewards_lib.rollouts import worker_process as w; w.main()"


class WorkerProcess:
    """The parent's end of one process. Use as a context manager; one chunk at a time."""

    def __init__(
        self, mix: Mix, functions: Mapping[str, ResolvedFunction], limits: Limits | None, version: str
    ) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _START, str(_PROJECT_FOLDER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            start_new_session=True,  # an interrupt of the terminal is for the parent, which ends its workers
        )  # fmt: skip
        self._send(setup_of(mix, functions, limits, version))

    def score(self, rollouts: Sequence[Rollout]) -> ChunkResult:
        """Score a chunk. Raises DependencyError or ExecutionError when the process cannot, or is gone."""
        self._send([rollout.pack() for rollout in rollouts])
        answer = read_frame(self._pipe(self._process.stdout))
        if answer is None:
            raise ExecutionError("A worker process ended in the middle of a chunk.", remedy="Go on with --resume.")
        return read_answer(unpack_frame(answer))

    def _send(self, message: Any) -> None:
        try:
            write_frame(self._pipe(self._process.stdin), pack_frame(message))
        except BrokenPipeError:
            raise ExecutionError("A worker process ended by itself.", remedy="Go on with --resume.") from None

    @staticmethod
    def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
        if pipe is None:
            raise ValueError("the process has no pipe")
        return pipe

    def __enter__(self) -> WorkerProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _error: BaseException | None, _frames: TracebackType | None
    ) -> None:
        """End the process: by itself when all is done, at once when something went wrong."""
        if kind is not None:
            self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except BrokenPipeError:
                    continue
        self._process.wait()


def main() -> None:
    """Score the chunks that arrive on standard input until it ends."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints must not get among the answers
    messages: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
    busy = threading.Event()
    threading.Thread(target=_listen, args=(messages, busy), daemon=True).start()
    setup = messages.get()
    busy.clear()
    if setup is None:
        return
    # Its parent has one of these for each processor it wants used: none is idle to fork a child for each chunk.
    with Executor(batch_children=1, standing=1) as executor:
        scorer = make_scorer(unpack_frame(setup), executor)
        while (chunk := messages.get()) is not None:
            answer = pack_frame(answer_chunk(scorer, unpack_frame(chunk)))
            busy.clear()
            write_frame(answers, answer)


def _listen(messages: queue.SimpleQueue[bytes | None], busy: threading.Event) -> None:
    """Pass the input on. Its end in the middle of a chunk means that the parent is gone: end at once."""
    while (frame := read_frame(sys.stdin.buffer)) is not None:
        busy.set()
        messages.put(frame)
    if busy.is_set():
        os._exit(1)
    messages.put(None)


def setup_of(mix: Mix, functions: Mapping[str, ResolvedFunction], limits: Limits | None, version: str) -> JsonObject:
    """Write what a scorer elsewhere needs as plain values; ``make_scorer`` reads it."""
    return {
        "mix": write_mix(mix), "functions": pack_functions(functions), "limits": asdict(limits) if limits else None,
        "version": version,
    }  # fmt: skip


def make_scorer(setup: JsonObject, executor: Executor) -> ChunkScorer:
    """Make the scorer that ``setup_of`` describes."""
    return ChunkScorer(
        read_mix(setup["mix"]), unpack_functions(setup["functions"]),
        Limits(**setup["limits"]) if setup["limits"] else None, executor, setup["version"],
    )  # fmt: skip


def read_answer(row: JsonObject) -> ChunkResult:
    """Read what ``answer_chunk`` wrote. Raises DependencyError where the scorer could not work at all."""
    if "error" in row:
        raise DependencyError("{text}", text=row["error"])
    isolation = Isolation.from_json(row["isolation"]) if row["isolation"] else None
    return ChunkResult(row["lines"], Tally.from_json(row["tally"]), isolation)


def answer_chunk(scorer: ChunkScorer, chunk: list[list[Any]]) -> JsonObject:
    """Score packed rollouts and write the result as plain values; ``read_answer`` reads it."""
    try:
        result = scorer.score([Rollout.unpack(row) for row in chunk])
    except RewardConsoleError as error:
        return {"error": str(error)}
    isolation = result.isolation.to_json() if result.isolation else None
    return {"lines": result.lines, "tally": result.tally.to_json(), "isolation": isolation}


def pack_functions(functions: Mapping[str, ResolvedFunction]) -> JsonObject:
    """Write resolved functions as plain values, their secrets included: for a pipe, never for a disk."""
    return {
        name: [asdict(found.source), found.version, asdict(found.limits) if found.limits else None]
        for name, found in functions.items()
    }


def unpack_functions(rows: Mapping[str, Any]) -> dict[str, ResolvedFunction]:
    """Read what ``pack_functions`` wrote."""
    return {
        name: ResolvedFunction(
            FunctionSource(
                **source
                | {"allow_hosts": tuple(source["allow_hosts"]), "secrets": tuple(map(tuple, source.get("secrets", ())))}
            ),
            version,
            Limits(**limits) if limits else None,
        )
        for name, (source, version, limits) in rows.items()
    }
