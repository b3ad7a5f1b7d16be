"""A judge that runs as a plain user: the same walls as under root, the number of processes included."""

from __future__ import annotations

from tests.plain_user import NEEDS_ROOT, run_as_plain_user

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


@NEEDS_ROOT
def test_a_plain_user_judges_behind_the_same_walls():
    got = run_as_plain_user(PROGRAM)
    assert got["sum"] == ["accepted", "3\n"]
    assert [got[deed][0] for deed in ("file", "kill", "loop")] == ["runtime_error", "runtime_error", "time_limit"]
    assert got["tier"] in {"A", "B"}
    assert int(got["count"] or 0) < 64
