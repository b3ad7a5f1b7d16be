"""Jobs run in processes of their own, are found again from the store, and are resumed to the same bytes."""

import fcntl
import json
import os
import signal
import threading
import time
from contextlib import contextmanager, suppress

import pytest

from rewards_lib.errors import StoreError
from rewards_lib.jobs import JobRequest, JobRunner
from rewards_lib.jobs.process import LOCK
from rewards_lib.mix import read_mix
from rewards_lib.rollouts import score_file
from rewards_lib.rollouts.scored_file import columns_path
from rewards_lib.scoring import without_functions
from rewards_lib.store import Store

TEXT = read_mix('{"name": "text", "rules": [{"name": "has", "preset": "contains"}]}')
BROKEN = read_mix(
    '{"name": "b", "rules": [{"name": "n", "preset": "numeric_close", "params": {"answer_field": "no"}}]}'
)
PAUSES = """
import os, signal, sys
sys.path.insert(0, sys.argv[1])
from rewards_lib.jobs import process
say = process._say
def say_and_pause(messages, message):
    say(messages, message)
    if message.get("done"):
        process._say = say
        os.kill(os.getpid(), signal.SIGSTOP)
process._say = say_and_pause
process._TELL_SECONDS = 0
process.main()
"""


@pytest.fixture
def store(tmp_path):
    opened = Store(f"sqlite:///{tmp_path / 'store.sqlite3'}")
    yield opened
    opened.close()


@pytest.fixture
def runner(store, tmp_path):
    running = JobRunner(lambda: store, tmp_path / "jobs")
    yield running
    running.close()


def rollouts(path, count):
    lines = []
    for number in range(count):
        sample = {
            "messages": [{"role": "user", "content": f"What is {number // 4}?"}],
            "extra": {"answer": str(number)},
        }
        lines.append(json.dumps({"sample": sample, "completion": f"It is {number}", "reward": number % 2}) + "\n")
    path.write_text("".join(lines))
    return path


def ask(path, kind="score", mix=TEXT, **more):
    return JobRequest(kind, path, path.name, mix, "text · draft", **more)


def finished(runner, job):
    runner.wait(job.id)
    return runner.load(job.id)


@contextmanager
def paused_in_its_midst(runner, path):
    """A job whose process stands still since its first progress, however busy the machine is; at the end it goes on."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rewards_lib.jobs.runner._START", PAUSES)
        job = runner.start(ask(path))
    process = runner._running[job.id].process
    os.waitid(os.P_PID, process.pid, os.WSTOPPED)
    deadline = time.monotonic() + 60
    while not runner.load(job.id).done and time.monotonic() < deadline:
        time.sleep(0.01)
    yield job
    with suppress(ProcessLookupError):
        os.kill(process.pid, signal.SIGCONT)


def test_a_job_scores_a_file_and_keeps_its_columns(runner, tmp_path):
    job = finished(runner, runner.start(ask(rollouts(tmp_path / "r.jsonl", 40))))
    assert (job.state, job.done, job.total, job.unscored) == ("done", 40, 40, 0)
    assert job.result["mean"] == 1.0
    assert columns_path(job.scored_path).exists()


def test_a_job_is_found_again_by_another_console(runner, store, tmp_path):
    job = finished(runner, runner.start(ask(rollouts(tmp_path / "r.jsonl", 8))))
    other = JobRunner(lambda: store, tmp_path / "jobs")
    assert other.load(job.id) == job
    assert [one.id for one in other.list()] == [job.id]


def test_a_cancelled_job_keeps_what_it_finished_and_resumes_to_the_bytes_of_an_uninterrupted_one(runner, tmp_path):
    source = rollouts(tmp_path / "r.jsonl", 2_000)
    with paused_in_its_midst(runner, source) as job:
        runner.cancel(job.id)
        asked = time.monotonic()
    cancelled = finished(runner, job)
    assert time.monotonic() - asked < 10
    assert cancelled.state == "cancelled"
    assert 0 < cancelled.done < 2_000
    again = finished(runner, runner.resume(job.id))
    assert (again.state, again.done) == ("done", 2_000)
    assert again.started_done >= cancelled.done
    score_file(TEXT, source, tmp_path / "whole.jsonl", resolve=without_functions)
    assert again.scored_path.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


def test_a_console_that_ignores_interrupts_cancels_its_jobs_all_the_same(runner, tmp_path):
    """What a shell starts in the background ignores them, and hands that on."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with paused_in_its_midst(runner, rollouts(tmp_path / "r.jsonl", 2_000)) as job:
            runner.cancel(job.id)
    finally:
        signal.signal(signal.SIGINT, before)
    assert finished(runner, job).state == "cancelled"


def test_a_killed_job_is_found_as_stopped_with_its_progress(runner, store, tmp_path):
    with paused_in_its_midst(runner, rollouts(tmp_path / "r.jsonl", 2_000)) as job:
        os.kill(runner._running[job.id].process.pid, signal.SIGKILL)
        runner.wait(job.id)
    stopped = JobRunner(lambda: store, tmp_path / "jobs").load(job.id)
    assert stopped.state == "stopped"
    assert 0 < stopped.done < stopped.total == 2_000


def test_a_record_that_says_running_without_a_process_is_told_as_stopped(runner, store, tmp_path):
    job = finished(runner, runner.start(ask(rollouts(tmp_path / "r.jsonl", 8))))
    store.put_item("job", job.id, job.to_json() | {"state": "running"})
    assert runner.load(job.id).state == "stopped"


def test_a_job_whose_first_rollouts_all_fail_for_one_cause_pauses_and_goes_on_when_told(runner, tmp_path):
    job = finished(runner, runner.start(ask(rollouts(tmp_path / "r.jsonl", 80), mix=BROKEN)))
    assert (job.state, job.is_one_cause) == ("failed", True)
    assert "all failed for one cause" in str(job.error)
    gone_on = finished(runner, runner.resume(job.id, keep_going=True))
    assert (gone_on.state, gone_on.result["failed"]) == ("done", 80)


def test_a_job_ends_although_a_line_of_its_process_is_cut_and_the_store_is_away(store, tmp_path, monkeypatch):
    class Away(Store):
        def put_item(self, kind, own_id, content):
            if content.get("done"):
                raise StoreError("The disk is full.")
            return super().put_item(kind, own_id, content)

    away = Away(f"sqlite:///{tmp_path / 'store.sqlite3'}")
    half = 'import sys; sys.stdout.write(\'{"done": 3, "total": 9}\\n{"do\'); sys.stdout.flush()'
    monkeypatch.setattr("rewards_lib.jobs.runner._START", half)
    runner = JobRunner(lambda: away, tmp_path / "jobs")
    job = finished(runner, runner.start(ask(rollouts(tmp_path / "r.jsonl", 8))))
    assert job.state == "stopped"
    assert not runner._running
    away.close()


def test_a_job_that_two_resume_at_once_runs_once(runner, tmp_path, monkeypatch):
    job = finished(runner, runner.start(ask(rollouts(tmp_path / "r.jsonl", 80), mix=BROKEN)))
    launched = []
    launch, load = runner._launch, runner.load
    both = threading.Barrier(2)

    def load_together(job_id):
        found = load(job_id)
        with suppress(threading.BrokenBarrierError):
            both.wait(0.5)
        return found

    monkeypatch.setattr(runner, "load", load_together)
    monkeypatch.setattr(runner, "_launch", lambda job: launched.append(job.id) or launch(job))
    threads = [threading.Thread(target=runner.resume, args=(job.id,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert launched == [job.id]


def test_the_rewards_of_a_file_are_read_without_scoring(runner, tmp_path):
    job = finished(runner, runner.start(ask(rollouts(tmp_path / "r.jsonl", 8), kind="read", mix=None)))
    rows = [json.loads(line) for line in job.scored_path.read_text().splitlines()]
    assert [row["reward"] for row in rows] == [0.0, 1.0] * 4


def test_an_unusable_file_fails_in_a_sentence(runner, tmp_path):
    (tmp_path / "r.jsonl").write_text('{"a": 1}\n')
    job = finished(runner, runner.start(ask(tmp_path / "r.jsonl")))
    assert job.state == "failed"
    assert "belong to no known format" in str(job.error)


def test_a_removed_job_leaves_no_file(runner, tmp_path):
    job = finished(runner, runner.start(ask(rollouts(tmp_path / "r.jsonl", 8))))
    runner.remove(job.id)
    assert runner.find(job.id) is None
    assert not job.folder.exists()


def test_with_a_result_go_the_attacks_on_it_and_their_size_is_told_before(runner, tmp_path):
    source = rollouts(tmp_path / "r.jsonl", 8)
    job = finished(runner, runner.start(ask(source)))
    alone = runner.size_bytes(job.id)
    attack = finished(runner, runner.start(ask(source, kind="attack", of=job.id)))
    assert runner.size_bytes(job.id) > alone >= job.scored_path.stat().st_size
    runner.remove(job.id)
    assert runner.list() == []
    assert not attack.folder.exists()
    assert runner.size_bytes(job.id) == 0


def test_a_job_of_another_console_is_not_removed_under_its_hands(runner, store, tmp_path):
    other = JobRunner(lambda: store, tmp_path / "jobs")
    job = finished(runner, runner.start(ask(rollouts(tmp_path / "r.jsonl", 8))))
    with (job.folder / LOCK).open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(StoreError, match="Another console"):
            other.remove(job.id)
    assert job.scored_path.exists()


@pytest.mark.parametrize("request_row", [None, {"title": "old.jsonl"}, {"title": "old.jsonl", "kind": "score"}])
def test_a_record_of_another_version_hides_no_other_job_and_can_be_removed(runner, store, tmp_path, request_row):
    job = finished(runner, runner.start(ask(rollouts(tmp_path / "r.jsonl", 8))))
    store.put_item("job", "000101-000000-abcd", {"state": "done", "request": request_row})
    old = runner.load("000101-000000-abcd")
    assert (old.state, "another version" in str(old.error)) == ("failed", True)
    assert [one.id for one in runner.list()] == [job.id, old.id]
    runner.remove(old.id)
    assert [one.id for one in runner.list()] == [job.id]
