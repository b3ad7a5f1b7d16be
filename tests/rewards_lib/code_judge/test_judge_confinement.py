"""Hostile programs: contained in every tier, judged, and gone when the verdict is there.

The number of processes is proved to be limited by a harmless count before anything here forks without end.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from rewards_lib.code_judge import LANGUAGES, CodeJudge, Submission, Verdict, find_language
from rewards_lib.code_judge.languages import SAMPLE_INPUT, SAMPLE_OUTPUT
from rewards_lib.code_judge.toolchains import find_toolchain
from rewards_lib.code_judge.workers import WorkerPlan
from rewards_lib.errors import DependencyError

PLANS = {
    "best": (),
    "own namespace": (WorkerPlan("A", own_namespace=True),),
    "no namespaces": (WorkerPlan("B"),),
}
COUNT = """
import os, time
started = 0
for _ in range(100):
    try:
        pid = os.fork()
    except OSError:
        break
    if pid == 0:
        time.sleep(20); os._exit(0)
    started += 1
print(started)
"""


@pytest.fixture(scope="module", params=PLANS)
def confined(request, tmp_path_factory):
    with CodeJudge(home=tmp_path_factory.mktemp("judge"), workers=1, plans=PLANS[request.param]) as judge:
        try:
            judge.isolation()
        except DependencyError as error:
            pytest.skip(str(error))
        yield judge


def judged(judge, source, stdout="", language="python", **more):
    more = {"run_seconds": 1.0} | more
    return judge.judge(
        Submission(source, find_language(language), [{"stdin": "", "stdout": stdout}], is_program=True, **more)
    )


def printed(judge, source):
    execution = judged(judge, source).outcomes[0].execution
    return execution.stdout.strip() if execution else ""


def test_the_number_of_processes_is_limited(confined):
    assert int(printed(confined, COUNT) or 0) < 64


def test_a_fork_bomb_ends_with_its_run(confined):
    assert int(printed(confined, COUNT) or 0) < 64  # proved first
    got = judged(
        confined, "import os\nwhile True:\n    try:\n        os.fork()\n    except OSError: pass", run_seconds=0.3
    )
    assert got.verdict is Verdict.TIME_LIMIT
    assert judged(confined, "print(1)", "1").accepted


@pytest.mark.parametrize(
    "deed",
    [
        "open('/etc/passwd').read()",
        "open('/etc/shadow').read()",
        f"open({__file__!r}).read()",
        "open('/proc/1/environ', 'rb').read()",
        "import os; os.listdir('/')",
        "import os; os.listdir('/root')",
        "import os; os.listdir('/home')",
        "open('/var/tmp/x', 'w')",
        "open('/usr/x', 'w')",
        "import os; os.kill(os.getppid(), 9)",
        "import os; os.execv('/usr/bin/env', ['env'])",
        "import socket; socket.socket()",
        "import socket; socket.socket(socket.AF_UNIX)",
        "import urllib.request; urllib.request.urlopen('http://127.0.0.1:22')",
        "import ctypes; libc = ctypes.CDLL(None, use_errno=True); assert libc.unshare(0x10000000) == 0",
        "import os; os.setuid(0)",
        "import os; os.setpriority(os.PRIO_PROCESS, 0, -5)",
        "import os; os.mkfifo('/tmp/../x')",
    ],
)
def test_what_lies_outside_is_out_of_reach(confined, deed):
    got = judged(confined, f"{deed}\nprint('done')", "done")
    assert got.verdict is Verdict.RUNTIME_ERROR, got.outcomes


def test_no_secret_of_the_service_is_in_reach(confined, monkeypatch):
    monkeypatch.setenv("SECRET_OF_THE_SERVICE", "s3cret-value")
    seen = printed(confined, "import os\nprint(os.environ)\nprint(open('/proc/self/environ').read())")
    assert "s3cret-value" not in seen


STAYS_BEHIND = """
import ctypes, os, time
try:
    if os.fork() == 0:
        os.setsid()
        ctypes.CDLL(None).prctl(15, b"left-behind-77")  # its name in the list of processes
        time.sleep(977)
except OSError:
    pass
time.sleep(0.1)
print(1)
"""


def test_children_that_stay_behind_are_gone_with_the_verdict(confined):
    got = judged(confined, STAYS_BEHIND, "1")
    assert got.accepted
    assert got.wall_seconds < 5
    listed = subprocess.run(["ps", "-eo", "comm"], capture_output=True, text=True, check=True).stdout
    assert "left-behind-77" not in listed


def test_memory_and_output_are_bounded(confined):
    assert judged(confined, "x = bytearray(3 << 30)").verdict is Verdict.MEMORY_LIMIT
    assert judged(confined, "import os\nwhile True: os.write(1, b'x' * 10**6)").verdict is Verdict.OUTPUT_LIMIT
    assert judged(confined, "import os\nwhile True: os.write(2, b'x' * 10**6)").verdict is Verdict.OUTPUT_LIMIT


def test_what_a_program_leaves_in_its_folder_is_gone_for_the_next(confined):
    assert judged(
        confined, "import os\nfor _ in range(1500):\n    os.mkdir('d'); os.chdir('d')\nprint(1)", "1"
    ).accepted
    assert judged(confined, "import os\nprint(os.listdir('.'))", "['main.py']").accepted


@pytest.mark.parametrize("name", ["/etc/passwd", "/etc/shadow", "/dev/zero", "/proc/self/environ", "/proc/1/environ"])
def test_a_compiler_reads_no_more_than_its_own(confined, name):
    got = judged(confined, f'#include "{name}"\nint main(void) {{ return 0; }}', language="c", compile_seconds=1.0)
    assert got.verdict is Verdict.COMPILE_ERROR
    told = got.compilation.stderr if got.compilation else ""
    assert "root:" not in told
    assert "PATH=" not in told.replace("PATH=/usr/bin:/bin", "")


@pytest.mark.parametrize(
    "language", [one for one in LANGUAGES.values() if one.is_compiled and not one.library], ids=lambda one: one.name
)
def test_a_compiler_works_wherever_it_is_installed(confined, language):
    """Below root's home too, where rustup puts it: a user of its own reads there by a capability."""
    if find_toolchain(language) is None:
        pytest.skip(f"{', '.join(language.tools)} is not installed")
    tests = [{"stdin": SAMPLE_INPUT, "stdout": SAMPLE_OUTPUT}]
    assert confined.judge(Submission(language.sample, language, tests, is_program=True)).accepted


def test_the_answer_says_how_it_was_confined(confined):
    isolation = judged(confined, "print(1)", "1").isolation
    assert isolation is not None
    assert "seccomp" in isolation.layers
    assert isolation.tier in {"A", "B"}


@pytest.mark.skipif(sys.platform != "linux" or os.getuid() != 0, reason="a user of its own needs root")
def test_a_tier_that_is_required_and_not_there_is_refused(tmp_path):
    with (
        CodeJudge(home=tmp_path, require="A", plans=(WorkerPlan("B"),)) as judge,
        pytest.raises(DependencyError, match="tier A"),
    ):
        judged(judge, "print(1)")
