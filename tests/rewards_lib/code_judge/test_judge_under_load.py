"""A busy machine delays verdicts and changes none."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from rewards_lib.code_judge import Verdict

TIMES = 8
BURN = "import os\nparent = os.getppid()\nwhile os.getppid() == parent:\n    for _ in range(10**5): pass"


@pytest.fixture
def busy_machine():
    """Eight programs a processor that burn it, each in a session of its own, so that each gets its share."""
    burning = [
        subprocess.Popen([sys.executable, "-c", BURN], start_new_session=True)
        for _ in range(TIMES * (os.cpu_count() or 1))
    ]
    yield
    for one in burning:
        one.kill()
        one.wait()


def test_a_right_program_is_accepted_although_it_takes_longer_than_the_wall_limit(verdict_of, busy_machine):
    """0.5 s of processor time under a limit of 0.6 s, on a machine that gives it an eighth: the wall limit is 2.6 s."""
    started = time.monotonic()
    source = "import time\nwhile time.process_time() < 0.5: pass\nprint('ok')"
    got = verdict_of(source, "", "ok", run_seconds=0.6)
    assert got.accepted, got.outcomes
    assert time.monotonic() - started > 0.6


def test_a_wrong_a_slow_and_a_sleeping_program_are_judged_as_ever(verdict_of, busy_machine):
    assert verdict_of("print(1)", "", "2", run_seconds=0.5).verdict is Verdict.WRONG_ANSWER
    assert verdict_of("while True: pass", run_seconds=0.2).verdict is Verdict.TIME_LIMIT
    assert verdict_of("import time\ntime.sleep(60)", run_seconds=0.1).verdict is Verdict.TIME_LIMIT
