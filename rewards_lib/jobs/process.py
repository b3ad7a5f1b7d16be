"""The process of one job: its folder comes on the command line, what happens goes out as JSON lines.

It holds a lock on its folder while it lives, so that nobody starts the same job twice or takes a dead one for running.
Its input is a leash: a line on it, or its end, interrupts the work as Ctrl+C would. Invariant: the last line out says
how it ended.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import IO

from rewards_lib.contract import JsonObject, sentence
from rewards_lib.errors import RewardConsoleError, boundary
from rewards_lib.executor import Executor
from rewards_lib.jobs.job import JobRequest
from rewards_lib.rollouts import AttackOptions, ScoreOptions, attack_mix, open_rollouts, score_file
from rewards_lib.rollouts.file_scoring import AllFailedError
from rewards_lib.rollouts.recorded_rewards import write_recorded
from rewards_lib.rollouts.scored_file import open_scored
from rewards_lib.rollouts.tally import Tally
from rewards_lib.scoring import fixed_functions
from rewards_lib.whole_files import write_whole

REQUEST, LOCK, SCORED, ATTACK = "request.json", "lock", "scored.jsonl", "attack.json"
_TELL_SECONDS = 0.2


def main() -> None:
    """Do the work of the folder that the command line names."""
    messages = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever prints must not get among the messages
    folder = Path(sys.argv[2])
    with (folder / LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            busy = sentence("Another process is at work on this job.")
            _say(messages, {"state": "failed", "error": busy.to_json()})
            return
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job begins with it ignored
        threading.Thread(target=_hold_leash, daemon=True).start()
        outcome: JsonObject = {}
        try:
            with boundary(lambda error: outcome.update(_failure(error))):
                request = JobRequest.from_json(json.loads((folder / REQUEST).read_text(encoding="utf-8")))
                outcome |= {"state": "done", "result": _work(request, folder, messages)}
        except KeyboardInterrupt:
            outcome = {"state": "cancelled"}
        _say(messages, outcome)


def _hold_leash() -> None:
    os.read(0, 1)  # unbuffered: a reader of sys.stdin would hold its lock when the interpreter ends
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


def _failure(error: RewardConsoleError) -> JsonObject:
    told = error.message
    if error.place:
        told = sentence("{place}: {message}", place=error.place, message=told)
    if error.remedy:
        told = sentence("{message} {remedy}", message=told, remedy=error.remedy)
    return {"state": "failed", "error": told.to_json(), "is_one_cause": isinstance(error, AllFailedError)}


def _say(messages: IO[str], message: JsonObject) -> None:
    messages.write(json.dumps(message) + "\n")
    messages.flush()


def _work(request: JobRequest, folder: Path, messages: IO[str]) -> JsonObject:
    if request.kind == "attack":
        return _attack(request, folder)
    if request.kind == "read":
        result = write_recorded(
            open_rollouts(request.source, format_name=request.format_name, columns=request.columns), folder / SCORED
        )
    else:
        result = _score(request, folder, messages)
    open_scored(folder / SCORED)  # keeps the columns, so that the page need not make them
    return result


def _score(request: JobRequest, folder: Path, messages: IO[str]) -> JsonObject:
    if request.mix is None:
        raise ValueError("a job that scores has a mix")
    last_said = 0.0
    first = True

    def tell(tally: Tally, total: int) -> None:
        nonlocal last_said, first
        now = time.monotonic()
        if not first and now - last_said < _TELL_SECONDS and tally.rollouts < total:
            return
        message: JsonObject = {"done": tally.rollouts, "total": total, "unscored": tally.rollouts - tally.scored}
        _say(messages, message | ({"started_done": tally.rollouts} if first else {}))
        last_said, first = now, False

    options = ScoreOptions(
        workers=request.workers, resume=True, keep_going=request.keep_going, format_name=request.format_name,
        columns=request.columns,
    )  # fmt: skip
    return score_file(
        request.mix, request.source, folder / SCORED, resolve=fixed_functions(request.functions), options=options,
        on_progress=tell,
    ).to_json()  # fmt: skip


def _attack(request: JobRequest, folder: Path) -> JsonObject:
    if request.mix is None:
        raise ValueError("a job that attacks has a mix")
    file = open_rollouts(request.source, format_name=request.format_name, columns=request.columns)
    with Executor() as executor:
        found = attack_mix(
            request.mix, file, resolve=fixed_functions(request.functions), executor=executor,
            options=AttackOptions(samples=request.samples),
        )  # fmt: skip
    with write_whole(folder / ATTACK) as answer:
        answer.write(json.dumps(found).encode())
    return {key: found[key] for key in ("status", "error", "groups")}


if __name__ == "__main__":
    main()
