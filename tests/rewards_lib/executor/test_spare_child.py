"""The child that waits for a run: what it holds, what it lives through, and what it costs when there can be none."""

from __future__ import annotations

import json
import os
import resource
import socket
import subprocess
import sys
from collections.abc import Sequence

import pytest
from executor_inputs import HEADER, payload_of
from worker_processes import wait_until, zygotes

from rewards_lib.executor import FunctionSource
from rewards_lib.executor.worker.spare import SpareChild
from rewards_lib.executor.worker.zygote import Zygote
from rewards_lib.executor.zygotes import WorkerPlan, ZygoteProcess

pytestmark = [pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"), pytest.mark.usefixtures("bystanders")]
SOURCE = FunctionSource(HEADER + "def reward_fn(context, sample, completions):\n    return RewardFunctionResult([1])\n")


HELD = """
import os, stat
def reward_fn(context, sample, completions):
    for number in range(1024):
        try:
            mode = os.fstat(number).st_mode
        except OSError:
            continue
        print(number, "socket" if stat.S_ISSOCK(mode) else "pipe" if stat.S_ISFIFO(mode) else "device")
    return RewardFunctionResult([1])
"""


@pytest.mark.parametrize("switch", ["tier=A policy=off", "tier=B policy=off"])
def test_a_run_holds_its_own_pipes_and_nothing_of_the_zygote_or_of_runs_beside_it(make_confined, switch):
    executor = make_confined(switch)
    for _ in range(3):  # in a first child, and in spare ones
        run = executor.run_function(FunctionSource(HEADER + HELD), payload_of("x"))
        assert run.logs.split("\n")[:-1] == ["0 device", "1 pipe", "2 pipe", "3 pipe", "4 socket"]


SPARE_ALONE = """
import os, socket, time
from rewards_lib.executor.worker.spare import SpareChild
opened = [os.open("/dev/null", os.O_RDONLY) for _ in range(5)]
zygote = os.getpid()
def wait_for_the_end():
    {get_ready}
def work(request, descriptors):
    held = [number for number in range(3, 256) if os.path.exists(f"/proc/self/fd/{{number}}")]
    print(request.decode(), len(held), len(descriptors), flush=True)
    os._exit(0)
child = SpareChild(socket.SOCK_SEQPACKET, wait_for_the_end, work)
print(child.give(b"ran", opened[:2]), flush=True)
{afterwards}
"""


def spare_alone(get_ready: str, afterwards: str) -> list[str]:
    """What a program prints that forks a spare child and gives it a run."""
    program = SPARE_ALONE.format(get_ready=get_ready, afterwards=afterwards)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=20, check=False)
    return done.stdout.splitlines()


def test_a_spare_holds_its_end_of_one_socket_and_what_it_is_given():
    assert set(spare_alone("pass", "os.waitpid(child.pid, 0)")) == {"True", "ran 3 2"}


def test_a_child_whose_zygote_died_before_they_were_tied_together_does_not_run():
    """The signal of a parent's death is asked for after the fork: who died in between sends none."""
    wait = "\n    ".join(["", "while os.getppid() == zygote:", "    time.sleep(0.01)"])
    assert spare_alone(wait, "os._exit(0)") == ["True"]


def test_a_run_for_which_there_is_no_process_says_so_and_costs_the_zygote_nothing(own, monkeypatch):
    assert own.run_function(SOURCE, payload_of("x")).scores[0].value == 1.0
    before = zygotes()
    asked = []

    def refuse(_self: ZygoteProcess, request: dict[str, object], descriptors: Sequence[int] = ()) -> None:
        asked.append(request)
        os.write(descriptors[1], b'{"no_process": "[Errno 11] Resource temporarily unavailable"}')

    with monkeypatch.context() as patched:
        patched.setattr(ZygoteProcess, "send", refuse)
        run = own.run_function(SOURCE, payload_of("x"))
    assert (run.scores[0].value, len(asked)) == (None, 2)
    assert "no process for this run ([Errno 11]" in str(run.error)
    assert own.run_function(SOURCE, payload_of("x")).scores[0].value == 1.0
    assert before == zygotes()


CONFIG = {"zygote_filter": "", "child_filter": "", "tier": "B"}


@pytest.fixture
def zygote():
    near, far = socket.socketpair()
    with near, far:
        yield Zygote(far, CONFIG)


class Waiting(SpareChild):
    """A spare child that was made without a fork."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._socket, self.far = socket.socketpair()


def test_a_spare_that_was_reaped_is_sent_no_signal(zygote, monkeypatch):
    """Its number is free by then, and may be that of a process of somebody else."""
    ends = iter([(4_000_000, 9, resource.getrusage(resource.RUSAGE_SELF)), (0, 0, None)])
    signalled = []
    monkeypatch.setattr(os, "wait4", lambda *_: next(ends))
    monkeypatch.setattr(os, "kill", lambda *what: signalled.append(what))
    zygote._spare = Waiting(4_000_000)
    zygote._reap()
    assert (zygote._spare, signalled) == (None, [])


def test_a_fork_that_fails_ends_the_status_of_its_run_alone(zygote, monkeypatch):
    def no_more() -> int:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(os, "fork", no_more)
    reading, writing = os.pipe()
    before = len(os.listdir("/proc/self/fd"))
    zygote._start("1", b"{}", [os.open("/dev/null", os.O_RDONLY), writing])
    with os.fdopen(reading, "rb") as pipe:
        assert "no_process" in json.loads(pipe.read())
    zygote._keep_spare()
    assert (zygote._spare, zygote._live) == (None, {})
    assert len(os.listdir("/proc/self/fd")) == before - 1  # the payload's is closed with the request's others


def test_names_to_keep_warm_that_no_module_has_cost_the_zygote_nothing(own):
    """They are a child's word, and go into one message to the zygote and into this process's memory."""
    with own._pool.lease(WorkerPlan("A")) as process:
        before = zygotes()
        for place in range(20):
            process.keep_warm([f"m{place}_{number}" for number in range(300)] + ["x" * 300_000, 7, None])
        assert len(process._preloaded) <= 2_000
        assert process.is_alive
        assert wait_until(lambda: before == zygotes())
