"""Verdicts that are easy to get wrong: tricks that must earn nothing, and right programs that must not be refused."""

from __future__ import annotations

import pytest

from rewards_lib.code_judge import Submission, Verdict, find_language
from rewards_lib.code_judge.comparison import CompareRules
from rewards_lib.code_judge.submission import Checker
from rewards_lib.errors import InputError

SUM = "a, b = map(int, input().split())\nprint(a + b)\n"
SUM_TESTS = [
    {"stdin": "1 2\n", "stdout": "3\n"},
    {"stdin": "10 20\n", "stdout": "30\n"},
    {"stdin": "-5 5\n", "stdout": "0\n"},
]


@pytest.mark.parametrize(
    "source",
    [
        "import sys; sys.exit(0)",
        "class Always:\n    def __eq__(self, other): return True\nprint(Always())",
        "print(1)",
        "print('1\\n2\\n3')",
        "print('the answer is 1\\n2')",
        "import builtins\nbuiltins.print = lambda *_: None\nprint('1\\n2')",
        "import atexit, os\natexit.register(os._exit, 0)",
        "import os\nos.close(1)",
        "open('/dev/stdout', 'r').read()",
        "import gc\nprint([o for o in gc.get_objects() if isinstance(o, str) and o.startswith('1\\n2')])",
        "import os\nprint(os.environ, open('main.py').read())",
    ],
)
def test_tricks_earn_nothing(verdict_of, source):
    assert not verdict_of(source, "", "1\n2\n").accepted


@pytest.mark.parametrize(
    ("source", "stdin", "stdout"),
    [
        ("import sys\nprint(sum(map(int, sys.stdin.buffer.read().split())))", "1 2 3\n", "6\n"),
        ("def main():\n    print(int(input()) ** 2)\nif __name__ == '__main__':\n    main()", "7\n", "49"),
        ("print(10 ** 5000)", "", "1" + "0" * 5000),
        ("import sys\nsys.setrecursionlimit(10 ** 6)\nf = lambda n: n and 1 + f(n - 1)\nprint(f(99_999))", "", "99999"),
        ("import threading as t\nt.stack_size(1 << 27)\nt.Thread(target=print, args=(5,)).start()", "", "5"),
        ("import resource as r\nr.setrlimit(r.RLIMIT_STACK, (r.RLIM_INFINITY,) * 2)\nprint(1)", "", "1"),
        ("import sys\nsys.stdout.write('no line end')", "", "no line end\n"),
        ("print(input())\nprint('é', '中文', '😀')", "ü\n", "ü\né 中文 😀\n"),
        ("import sys\nprint(len(sys.stdin.read()))", "x" * 5_000_000, "5000000"),
        ("try:\n    input()\nexcept EOFError:\n    print('end')", "", "end"),
        ("from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\nprint(P(1))", "", "P(x=1)"),
        ("import pickle\nclass A: pass\nprint(pickle.loads(pickle.dumps(A())).__class__.__module__)", "", "__main__"),
        ("import subprocess\nprint(1)", "", "1"),
        ("import asyncio\nasync def f(): return 3\nprint(asyncio.run(f()))", "", "3"),
        ("import sys\nprint(1)\nsys.exit()", "", "1"),
        ("print(__file__.endswith('main.py'), __import__('sys').argv)", "", "True ['main.py']"),
        ("open('notes.txt', 'w').write('x')\nprint(open('notes.txt').read())", "", "x"),
        ("print(open('/dev/stdin').readline().strip())", "first\nsecond\n", "first"),
    ],
)  # fmt: skip
def test_programs_run_as_a_fresh_interpreter_would_run_them(verdict_of, source, stdin, stdout):
    got = verdict_of(source, stdin, stdout)
    assert got.accepted, got.outcomes


@pytest.mark.parametrize(
    ("source", "status", "told"),
    [
        ("raise ValueError('no')", 1, "ValueError: no"),
        ("import sys\nsys.exit('bye')", 1, "bye"),
        ("import sys\nsys.exit(300)", 44, ""),
        ("import os\nos.abort()", -6, ""),
        ("print(1)\n1 / 0", 1, 'File "main.py", line 2, in <module>'),
    ],
)
def test_a_program_that_fails_is_a_runtime_error_whatever_it_printed(verdict_of, source, status, told):
    got = verdict_of(source, "", "1\n")
    execution = got.outcomes[0].execution
    assert got.verdict is Verdict.RUNTIME_ERROR
    assert execution is not None
    assert execution.code == status
    assert told in execution.stderr
    assert "rewards_lib" not in execution.stderr


def test_a_state_of_one_test_is_not_seen_by_the_next(verdict_of):
    source = (
        "import math, os, random\n"
        "print(hasattr(math, 'mark'), os.listdir('.'), 'MARK' in os.environ)\n"
        "math.mark = 1; os.environ['MARK'] = '1'; open('left', 'w').write('x'); os.mkdir('folder')\n"
    )
    expected = "False ['main.py'] False\n"
    got = verdict_of(source, tests=[{"stdin": "", "stdout": expected}] * 6)
    assert got.accepted, got.outcomes


def test_random_numbers_differ_from_run_to_run(judge):
    source = "import random\nprint(random.random())"
    submission = Submission(
        source, find_language("python"), [{"stdin": "", "stdout": ""}] * 4, run_all=True, is_program=True
    )
    printed = {one.execution.stdout for one in judge.judge(submission).outcomes if one.execution}
    assert len(printed) == 4


def test_judging_stops_at_the_first_failure_unless_all_are_asked_for(verdict_of):
    source = "a, b = map(int, input().split())\nprint(a + b if a > 5 else 0)"
    stopped = verdict_of(source, tests=SUM_TESTS)
    assert [one.index for one in stopped.outcomes] == [0]
    whole = verdict_of(source, tests=SUM_TESTS, run_all=True)
    assert [one.passed for one in whole.outcomes] == [False, True, True]
    assert (whole.passed, whole.total, whole.score) == (2, 3, 0.0)


def test_fraction_runs_every_test(verdict_of):
    got = verdict_of("a, b = map(int, input().split())\nprint(abs(a) + b)", tests=SUM_TESTS, scoring="fraction")
    assert (got.verdict, got.passed, got.total) == (Verdict.WRONG_ANSWER, 2, 3)
    assert got.score == pytest.approx(2 / 3)


def test_the_worst_test_decides(verdict_of):
    source = "n = int(input())\nprint(n)\nif n > 1: raise SystemExit(1)"
    tests = [{"stdin": f"{n}\n", "stdout": "5\n"} for n in (1, 2)]
    assert verdict_of(source, tests=tests, run_all=True).verdict is Verdict.RUNTIME_ERROR


def test_no_tests_are_refused_and_never_a_pass(verdict_of):
    with pytest.raises(InputError, match="no tests"):
        verdict_of("print(1)", tests=[])


@pytest.mark.parametrize("size", [300_000, 30_000_000])
def test_long_outputs_are_judged_right(verdict_of, size):
    source = f"import sys\nsys.stdout.write('0123456789\\n' * {size // 11})"
    expected = "0123456789\n" * (size // 11)
    assert verdict_of(source, "", expected, run_seconds=10.0).accepted
    wrong = verdict_of(source, "", expected[:-2] + "8\n", run_seconds=10.0)
    assert wrong.verdict is Verdict.WRONG_ANSWER
    difference = wrong.outcomes[0].difference
    assert difference is not None
    assert difference.line == size // 11


def test_bytes_that_are_no_text_are_shown_escaped(verdict_of):
    got = verdict_of("import os\nos.write(1, b'a\\xff\\x00b')", "", "ab")
    assert got.verdict is Verdict.WRONG_ANSWER
    assert got.outcomes[0].difference is not None
    assert got.outcomes[0].difference.actual == "a\\xff\\x00b"


def test_a_rule_of_comparison_reaches_the_tests(verdict_of):
    assert verdict_of("print('yes  3.1')", "", "YES\n3.14", rules=CompareRules("tokens", 0.1, True)).accepted


def test_a_program_is_compiled_once_and_found_again(verdict_of):
    source = '#include <stdio.h>\nint main(void) { puts("once"); }'
    first = verdict_of(source, "", "once", "c", tests=[{"stdin": "", "stdout": "once"}] * 3)
    again = verdict_of(source, "", "once", "c")
    assert (first.cached_compile, again.cached_compile) == (False, True)
    assert first.accepted
    assert again.accepted


def test_sleeping_is_a_time_limit_and_short_limits_hold(verdict_of):
    slept = verdict_of("import time\ntime.sleep(30)", run_seconds=0.2)
    assert slept.verdict is Verdict.TIME_LIMIT
    assert "no end within" in str(slept.outcomes[0].message)
    assert verdict_of("while True: pass", run_seconds=0.3).verdict is Verdict.TIME_LIMIT


# --- checkers ------------------------------------------------------------------------------------------------------

CHECKER = """
import sys
n, got = int(open(sys.argv[1]).read()), open(sys.argv[2]).read().split()
if sum(map(int, got)) != n:
    sys.stderr.write("the parts do not sum up")
    sys.exit(1)
"""
SPLIT_TESTS = [{"stdin": "10\n", "stdout": "5 5\n"}]


def checker(code: str) -> Checker:
    return Checker(find_language("python"), code)


def test_a_checker_accepts_any_right_answer(verdict_of):
    assert verdict_of("print(3, 7)", tests=SPLIT_TESTS, checker=checker(CHECKER)).accepted
    got = verdict_of("print(3, 8)", tests=SPLIT_TESTS, checker=checker(CHECKER))
    assert got.verdict is Verdict.WRONG_ANSWER
    assert "the parts do not sum up" in str(got.outcomes[0].message)


@pytest.mark.parametrize("code", ["def f(:", "1 / 0", "import sys; sys.exit(3)", "while True: print('x' * 10**6)"])
def test_a_checker_that_fails_is_no_verdict(verdict_of, code):
    with pytest.raises(InputError, match="checker"):
        verdict_of("print(3, 7)", tests=SPLIT_TESTS, checker=checker(code))


def test_a_checker_is_not_asked_about_a_program_that_failed(verdict_of):
    got = verdict_of("raise SystemExit(1)", tests=SPLIT_TESTS, checker=checker("raise SystemExit(3)"))
    assert got.verdict is Verdict.RUNTIME_ERROR
