"""A judge that runs as a plain user: the same walls as under root, the number of processes included."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from rewards_lib.executor import places

NOBODY = 65534
PROGRAM = '''
import json
from rewards_lib.code_judge import LANGUAGES, CodeJudge, Submission
COUNT = """
import os, time
n = 0
for _ in range(80):
    try:
        pid = os.fork()
    except OSError:
        break
    if pid == 0:
        time.sleep(9); os._exit(0)
    n += 1
print(n)
"""
with CodeJudge(workers=1) as judge:
    def run(source, stdout="", language="python"):
        tests = [{"stdin": "1 2", "stdout": stdout}]
        submission = Submission(source, LANGUAGES[language], tests, is_program=True, run_seconds=1.0)
        outcome = judge.judge(submission).outcomes[0]
        return [str(outcome.verdict), outcome.execution.stdout if outcome.execution else ""]
    print(json.dumps({
        "tier": judge.isolation().tier, "sum": run(LANGUAGES["python"].sample, "3"),
        "file": run("open('/etc/passwd')"), "kill": run("import os; os.kill(os.getppid(), 9)"),
        "count": run(COUNT)[1], "loop": run("while True: pass"),
    }))
'''


def interpreter_for_everybody() -> str | None:
    """This Python where another user may run it, else the system's of the same version."""
    system = shutil.which(f"python{sys.version_info[0]}.{sys.version_info[1]}", path="/usr/local/bin:/usr/bin")
    candidates = [places.interpreter(), *([os.path.realpath(system)] if system else [])]
    return next((path for path in candidates if places.is_reachable_by_nobody([path])), None)


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder that the plain user owns; pytest's own are closed to others."""
    with tempfile.TemporaryDirectory() as folder:
        os.chown(folder, NOBODY, NOBODY)
        yield Path(folder)


@pytest.mark.skipif(sys.platform != "linux" or os.getuid() != 0, reason="changing the user needs root")
def test_a_plain_user_judges_behind_the_same_walls(home):
    python = interpreter_for_everybody()
    if python is None or not places.is_reachable_by_nobody([str(places.PROJECT_FOLDER), *places.own_packages()]):
        pytest.skip("no interpreter, or not this folder, can be read by another user")
    environment = {
        "PATH": "/usr/bin:/bin", "HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": os.pathsep.join([str(Path.cwd()), *places.own_packages()]),
    }  # fmt: skip
    done = subprocess.run(
        [python, "-c", PROGRAM], env=environment, cwd="/", capture_output=True, text=True, check=False, timeout=60,
        user=NOBODY, group=NOBODY, extra_groups=[],
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    got = json.loads(done.stdout)
    assert got["sum"] == ["accepted", "3\n"]
    assert [got[deed][0] for deed in ("file", "kill", "loop")] == ["runtime_error", "runtime_error", "time_limit"]
    assert got["tier"] in {"A", "B"}
    assert int(got["count"] or 0) < 64
