"""Several threads and processes at one file, and processes that are killed."""

import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rewards_lib.store import DraftConflict, Store

ROOT = Path(__file__).resolve().parents[3]

SAVER = """
import sys
from rewards_lib.store import Store
store, base, count = Store(sys.argv[1]), None, 0
while True:
    count += 1
    content = {"count": count, "filler": "x" * 20_000}
    base = store.save_draft("function", sys.argv[2], content, base_revision=base).revision
    print(count, flush=True)
"""

PUBLISHER = """
import json, sys
from concurrent.futures import ThreadPoolExecutor
from rewards_lib.store import Store
store = Store(sys.argv[1])
with ThreadPoolExecutor(8) as pool:
    made = pool.map(lambda n: store.publish("function", "f", {"by": sys.argv[2], "n": n}).number, range(40))
    print(json.dumps(list(made)))
"""


def start(program: str, *arguments: str) -> subprocess.Popen:
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path / 'new' / 'store.sqlite3'}"


def test_a_kill_in_the_middle_of_saves_loses_nothing_acknowledged(url):
    for run in range(3):
        process = start(SAVER, url, f"f{run}")
        for _ in range(20 + run):
            acknowledged = int(process.stdout.readline())
        os.kill(process.pid, signal.SIGKILL)
        rest, _ = process.communicate()
        acknowledged = int(([str(acknowledged), *rest.split()])[-1])
        store = Store(url)
        # One more may have reached the disk before its acknowledgement reached us.
        assert store.load_draft("function", f"f{run}").content["count"] in (acknowledged, acknowledged + 1)
        store.close()


def test_two_processes_with_eight_threads_publish_without_gaps(url):
    """Both also create the file and its tables, in the same moment."""
    processes = [start(PUBLISHER, url, by) for by in ("a", "b")]
    outputs = [process.communicate() for process in processes]
    assert [process.returncode for process in processes] == [0, 0], outputs
    numbers = [number for text, _ in outputs for number in json.loads(text)]
    assert sorted(numbers) == list(range(1, 81))


def test_eight_threads_create_and_publish_without_gaps(store):
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda n: store.publish("mix", "m", {"n": n}).number, range(80)))
    assert sorted(made) == list(range(1, 81))


def test_of_eight_threads_that_save_over_one_revision_one_wins(store):
    base = store.save_draft("mix", "m", {}, base_revision=None).revision

    def save(thread: int) -> bool:
        try:
            store.save_draft("mix", "m", {"by": thread}, base_revision=base)
        except DraftConflict:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(save, range(8))) == 1


def test_what_one_process_publishes_another_loads_at_once(url):
    here, there = Store(url), Store(url)
    here.publish("function", "f", {"n": 1})
    assert there.load_version("function", "f").number == 1
    here.publish("function", "f", {"n": 2})
    assert there.load_version("function", "f").number == 2
    here.close()
    there.close()
