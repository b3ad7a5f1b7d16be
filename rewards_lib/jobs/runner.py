"""Starts jobs, listens to them, and finds them again: after a reload from memory, after a restart from the store.

Invariant: one thread listens to each process and alone changes that job; the store is told before anybody who asks.
"""

from __future__ import annotations

import fcntl
import json
import secrets
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from rewards_lib.contract import JsonObject, Sentence
from rewards_lib.errors import NotFoundError, StoreError
from rewards_lib.jobs.job import Job, JobRequest
from rewards_lib.jobs.process import LOCK, REQUEST
from rewards_lib.rollouts.journal import read_progress
from rewards_lib.rollouts.uploads import size_of_folder
from rewards_lib.store import Store
from rewards_lib.whole_files import write_whole

_PROJECT_FOLDER = Path(__file__).resolve().parents[2]
_START = "import sys; sys.path.insert(0, sys.argv[1]); from rewards_lib.jobs import process; process.main()"
_STORE_SECONDS = 2.0


@dataclass(slots=True)
class _Running:
    """A process of this console and the job as it last said."""

    process: subprocess.Popen[bytes]
    job: Job
    is_cancelled: bool = False
    stored_at: datetime | None = None


class JobRunner:
    """The jobs of one console. One object serves all threads."""

    def __init__(self, store: Callable[[], Store], folder: Path) -> None:
        """Keep records in ``store`` and files below ``folder``, which is made when the first job starts."""
        self._store = store
        self._folder = folder
        self._running: dict[str, _Running] = {}
        self._lock = threading.Lock()
        self._resuming = threading.Lock()

    def start(self, request: JobRequest) -> Job:
        """Start a job. Raises StoreError when its folder or its record cannot be written."""
        job_id = f"{datetime.now(UTC):%y%m%d-%H%M%S}-{secrets.token_hex(2)}"
        folder = self._folder / job_id
        try:
            folder.mkdir(parents=True)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise StoreError("The folder cannot be made: {reason}.", where=str(folder), reason=reason) from None
        return self._launch(Job(job_id, request, "running", folder))

    def resume(self, job_id: str, *, keep_going: bool | None = None) -> Job:
        """Go on with a job that was stopped, cancelled or failed; a running one is left alone. Raises NotFoundError.

        ``keep_going`` scores on although the first rollouts all fail for one cause; None leaves it as it was.
        """
        with self._resuming:  # two visitors who press at once: the second finds it running
            return self._resume(job_id, keep_going)

    def _resume(self, job_id: str, keep_going: bool | None) -> Job:
        job = self.load(job_id)
        if job.state == "running":
            return job
        request = job.request if keep_going is None else replace(job.request, keep_going=keep_going)
        fresh = replace(job, request=request, state="running", error=None, finished_at=None, is_one_cause=False)
        return self._launch(fresh)

    def cancel(self, job_id: str) -> None:
        """Ask a running job to end; what it finished is kept. A job of another console is left alone."""
        with self._lock:
            running = self._running.get(job_id)
            if running is None:
                return
            running.is_cancelled = True
        _let_go(running.process)

    def find(self, job_id: str) -> Job | None:
        """The job as it stands now; None when there is none of that id."""
        with self._lock:
            running = self._running.get(job_id)
            if running is not None:
                return running.job
        item = self._store().find_item("job", job_id)
        return None if item is None else self._as_it_is(Job.from_json(item.id, self._folder / item.id, item.content))

    def load(self, job_id: str) -> Job:
        """The job as it stands now. Raises NotFoundError."""
        job = self.find(job_id)
        if job is None:
            raise NotFoundError("There is no job {id} any more.", id=job_id)
        return job

    def list(self) -> list[Job]:
        """All jobs, the newest first."""
        found = [self.find(item.id) for item in self._store().list_items("job")]
        return sorted((job for job in found if job is not None), key=lambda job: job.id, reverse=True)

    def remove(self, job_id: str) -> None:
        """Forget a job, its files and the attacks on its result; what runs is cancelled first.

        Raises StoreError for a job that another console runs.
        """
        for own in (*(attack.id for attack in self._attacks_on(job_id)), job_id):
            self.cancel(own)
            self.wait(own)
            if _is_locked(self._folder / own / LOCK):
                raise StoreError("Another console is at work on the job {id}.", id=own, remedy="Cancel it there first.")
            self._store().remove_item("job", own)
            shutil.rmtree(self._folder / own, ignore_errors=True)

    def size_bytes(self, job_id: str) -> int:
        """What the files of a job, and of the attacks on its result, take on the disk."""
        return sum(
            size_of_folder(self._folder / own) for own in (job_id, *(one.id for one in self._attacks_on(job_id)))
        )

    def _attacks_on(self, job_id: str) -> Iterator[Job]:
        return (job for job in self.list() if job.request.of == job_id)

    def wait(self, job_id: str, seconds: float | None = None) -> None:
        """Wait until a job of this console has ended."""
        with self._lock:
            running = self._running.get(job_id)
        if running is not None:
            running.process.wait(seconds)
        for thread in threading.enumerate():
            if thread.name == f"job-{job_id}":
                thread.join(seconds)

    def close(self) -> None:
        """End all jobs of this console; they can be resumed."""
        with self._lock:
            names = list(self._running)
        for name in names:
            self.cancel(name)
            self.wait(name)

    # --- one process -----------------------------------------------------------------------------------------------

    def _launch(self, job: Job) -> Job:
        job = replace(job, started_at=datetime.now(UTC), started_done=job.done)
        with write_whole(job.folder / REQUEST) as file:
            file.write(json.dumps(job.request.to_json()).encode())
        self._keep(job)
        with (job.folder / "log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-c", _START, str(_PROJECT_FOLDER), str(job.folder)], stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=log, start_new_session=True,
            )  # fmt: skip
        running = _Running(process, job)
        with self._lock:
            self._running[job.id] = running
        threading.Thread(target=self._listen, args=(running,), name=f"job-{job.id}", daemon=True).start()
        return job

    def _listen(self, running: _Running) -> None:
        last: JsonObject = {}
        for line in running.process.stdout or ():
            try:
                last = json.loads(line)
            except ValueError:  # the half of a line that a killed process wrote
                continue
            with self._lock:
                running.job = running.job.after(last)
            self._keep_now_and_then(running)
        running.process.wait()
        for pipe in (running.process.stdout, running.process.stdin):
            if pipe is not None and not pipe.closed:
                _close(pipe)
        ended = self._ended(running, last)
        try:
            self._keep(ended)
        except StoreError:  # the job's folder tells as much: it is found again as stopped
            pass
        finally:
            with self._lock:
                running.job = ended
                self._running.pop(ended.id, None)

    def _ended(self, running: _Running, last: JsonObject) -> Job:
        job = replace(running.job, finished_at=datetime.now(UTC))
        if last.get("state") == "done":
            counted = last["result"].get("rollouts", job.done)
            return replace(job, state="done", result=last["result"], done=counted, total=max(counted, job.total))
        if last.get("state") == "failed":
            is_one_cause = bool(last.get("is_one_cause"))
            return replace(job, state="failed", error=Sentence.from_json(last["error"]), is_one_cause=is_one_cause)
        return replace(job, state="cancelled" if running.is_cancelled else "stopped")

    def _keep_now_and_then(self, running: _Running) -> None:
        now = datetime.now(UTC)
        if running.stored_at is None or (now - running.stored_at).total_seconds() > _STORE_SECONDS:
            running.stored_at = now
            with suppress(StoreError):  # the next one may be kept, and the last is
                self._keep(running.job)

    def _keep(self, job: Job) -> None:
        self._store().put_item("job", job.id, job.to_json())

    def _as_it_is(self, job: Job) -> Job:
        """A record that says running although no process holds its lock: the console or the process was killed."""
        if job.state != "running" or _is_locked(job.folder / LOCK):
            return job
        progress = read_progress(job.scored_path)
        done = progress.tally.rollouts if progress else job.done
        return replace(job, state="stopped", done=done)


def _is_locked(path: Path) -> bool:
    try:
        with path.open("r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _let_go(process: subprocess.Popen[bytes]) -> None:
    """Let go of the leash: the process ends what it does."""
    if process.stdin is not None and not process.stdin.closed:
        _close(process.stdin)


def _close(pipe: IO[bytes]) -> None:
    try:
        pipe.close()
    except BrokenPipeError:
        return
