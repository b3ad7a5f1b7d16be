"""The code judge against a judge that compiles and starts anew for every test, in one run; and what must never happen.

    .venv/bin/python benchmarks/code_judge.py [--quick] [--rounds N] [--submissions N]

The reference does what SandboxFusion (bytedance/SandboxFusion) was measured to do: for each test a fresh folder, the
compiler without optimisation for C++, a fresh interpreter for Python, nothing confined. Both sides judge the same
submissions in turns; every C++ source is new, so that nothing is found compiled. Goals: 10 times the submissions a
second on C++ with 20 tests, 2 times on Python with 3 tests, with the confinement on; no wrong verdict in a known
stream of submissions, eight times more at once than there are workers; flat memory on long outputs; nothing left over.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from rewards_lib.code_judge import CodeJudge, Submission, Verdict, find_language

CPP = """#include <iostream>
// submission {number}
int main() {{
    long long a, b;
    std::cin >> a >> b;
    std::cout << a + b << '\\n';
}}
"""
PYTHON = "# submission {number}\na, b = map(int, input().split())\nprint(a + b)\n"
GOALS = {"cpp, 20 tests": 10.0, "python, 3 tests": 2.0}


def tests_of(count: int) -> list[dict[str, str]]:
    """Sums to be computed, one a test."""
    return [{"stdin": f"{n} {3 * n}\n", "stdout": f"{4 * n}\n"} for n in range(count)]


# --- speed ---------------------------------------------------------------------------------------------------------


def reference(language: str, source: str, tests: list[dict[str, str]]) -> bool:
    """Judge as the peer does: everything anew for every test."""
    for test in tests:
        with tempfile.TemporaryDirectory() as folder:
            if language == "cpp":
                Path(folder, "main.cpp").write_text(source)
                subprocess.run(["g++", "-std=c++17", "main.cpp", "-o", "test"], cwd=folder, check=True)
                command = ["./test"]
            else:
                Path(folder, "main.py").write_text(source)
                command = [sys.executable, "main.py"]
            done = subprocess.run(command, cwd=folder, input=test["stdin"], capture_output=True, text=True, check=False)
            if done.stdout.strip() != test["stdout"].strip():
                return False
    return True


def speed(judge: CodeJudge, language: str, source: str, count: int, rounds: int) -> dict[str, float]:
    """Submissions a second of both sides, in turns, and processor seconds of a submission."""
    tests = tests_of(count)
    chosen = find_language(language)
    stamp = time.time_ns()

    def ours(number: int) -> bool:
        text = source.format(number=f"{stamp}-{number}")
        return judge.judge(Submission(text, chosen, tests, is_program=True)).accepted

    assert ours(-1), "the judge is warm and right"
    seconds: dict[str, list[float]] = {"reference": [], "ours": [], "reference cpu": []}
    for number in range(rounds):
        before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        assert reference(language, source.format(number=number), tests)
        seconds["reference"].append(time.perf_counter() - started)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds["reference cpu"].append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        started = time.perf_counter()
        assert ours(number)
        seconds["ours"].append(time.perf_counter() - started)
    middle = {name: statistics.median(values) for name, values in seconds.items()}
    return {
        "reference_per_second": 1 / middle["reference"], "ours_per_second": 1 / middle["ours"],
        "ratio": middle["reference"] / middle["ours"], "reference_cpu_seconds": middle["reference cpu"],
    }  # fmt: skip


def warm_speed(judge: CodeJudge) -> float:
    """Submissions a second of one C++ program that was compiled before: what a group of equal rollouts costs."""
    submission = Submission(CPP.format(number="warm"), find_language("cpp"), tests_of(20), is_program=True)
    judge.judge(submission)
    started = time.perf_counter()
    for _ in range(5):
        assert judge.judge(submission).accepted
    return 5 / (time.perf_counter() - started)


# --- what must never happen ----------------------------------------------------------------------------------------

KNOWN: list[tuple[str, Verdict]] = [
    ("a, b = map(int, input().split())\nprint(a + b)", Verdict.ACCEPTED),
    ("a, b = map(int, input().split())\nprint(a - b - 1)", Verdict.WRONG_ANSWER),
    ("import time\nt = time.process_time()\nwhile time.process_time() - t < 0.3: pass\n"
     "a, b = map(int, input().split())\nprint(a + b)", Verdict.ACCEPTED),
    ("raise SystemExit(1)", Verdict.RUNTIME_ERROR),
    ("def f(:", Verdict.COMPILE_ERROR),
    ("x = bytearray(3 << 30)", Verdict.MEMORY_LIMIT),
]  # fmt: skip
ROUGH: list[tuple[str, Verdict]] = [
    *KNOWN,
    ("import time\ntime.sleep(60)", Verdict.TIME_LIMIT),
    ("import os\nos.abort()", Verdict.RUNTIME_ERROR),
    ("import os, time\nif os.fork() == 0: time.sleep(60)\na, b = map(int, input().split())\nprint(a + b)",
     Verdict.ACCEPTED),
]  # fmt: skip


def stream(judge: CodeJudge, known: list[tuple[str, Verdict]], count: int, at_once: int) -> dict[str, float]:
    """Judge known submissions, many at once; counts verdicts that are not the due one."""

    def wrong(number: int) -> bool:
        source, due = known[number % len(known)]
        submission = Submission(source, find_language("python"), tests_of(2)[1:], run_seconds=0.5, is_program=True)
        return judge.judge(submission).verdict is not due

    started = time.perf_counter()
    with ThreadPoolExecutor(at_once) as pool:
        bad = sum(pool.map(wrong, range(count)))
    return {"submissions": count, "wrong": bad, "seconds": time.perf_counter() - started}


def leftovers(judge: CodeJudge, count: int) -> dict[str, float]:
    """Judge many rough submissions; what has grown in this process, and what lives on, afterwards."""
    stream(judge, ROUGH, 2 * len(ROUGH), judge.workers)
    before = _state()
    result = stream(judge, ROUGH, count, 2 * judge.workers)
    after = _state()
    return result | {f"more_{name}": after[name] - before[name] for name in before}


def _state() -> dict[str, float]:
    status = Path("/proc/self/status").read_text()
    memory = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
    listed = subprocess.run(
        ["ps", "--ppid", str(os.getpid()), "-o", "pid="], capture_output=True, text=True, check=False
    )
    return {
        "descriptors": len(os.listdir("/proc/self/fd")), "memory_mb": memory / 1024,
        "children": len(listed.stdout.split()),
    }  # fmt: skip


def long_output(judge: CodeJudge, size: int) -> dict[str, float]:
    """A right output of many bytes: judged right, and what it costs this process."""
    source = f"import sys\nfor _ in range({size // 100_000}): sys.stdout.write('0123456789abcdefghi\\n' * 5_000)"
    expected = "0123456789abcdefghi\n" * (size // 20)
    submission = Submission(
        source, find_language("python"), [{"stdin": "", "stdout": expected}], is_program=True, run_seconds=20.0
    )
    before = _state()["memory_mb"]
    started = time.perf_counter()
    accepted = judge.judge(submission).accepted
    return {
        "bytes": size, "accepted": float(accepted), "seconds": time.perf_counter() - started,
        "more_memory_mb": _state()["memory_mb"] - before,
    }  # fmt: skip


# --- the run -------------------------------------------------------------------------------------------------------


def main() -> int:
    """Measure, print JSON, and fail where a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a few rounds only")
    parser.add_argument("--rounds", type=int, help="rounds of each speed (5; quick 2)")
    parser.add_argument("--submissions", type=int, help="of the streams (500 and 2000; quick 48)")
    options = parser.parse_args()
    rounds = options.rounds or (2 if options.quick else 5)
    overload, soak = (options.submissions or (48 if options.quick else 500)), (48 if options.quick else 2000)
    with tempfile.TemporaryDirectory() as home, CodeJudge(home=Path(home)) as judge:
        print(f"isolation {judge.isolation().tier}: {', '.join(judge.isolation().layers)}", file=sys.stderr)
        tasks: dict[str, Callable[[], object]] = {
            "cpp, 20 tests": lambda: speed(judge, "cpp", CPP, 20, rounds),
            "python, 3 tests": lambda: speed(judge, "python", PYTHON, 3, 10 * rounds),
            "cpp, 3 tests": lambda: speed(judge, "cpp", CPP, 3, rounds),
            "python, 20 tests": lambda: speed(judge, "python", PYTHON, 20, 2 * rounds),
            "cpp, 20 tests, compiled before, a second": lambda: warm_speed(judge),
            "300 KB out": lambda: long_output(judge, 300_000),
            "30 MB out": lambda: long_output(judge, 30_000_000),
            "overload": lambda: stream(judge, KNOWN, overload, 8 * judge.workers),
            "soak": lambda: leftovers(judge, options.submissions or soak),
        }
        results = {}
        for name, task in tasks.items():
            results[name] = task()
            print(name, results[name], file=sys.stderr)
    missed = [name for name, goal in GOALS.items() if results[name]["ratio"] < goal]
    missed += [name for name in ("overload", "soak") if results[name]["wrong"]]
    missed += [name for name in ("300 KB out", "30 MB out") if not results[name]["accepted"]]
    machine = {"processors": os.cpu_count(), "python": platform.python_version(), "system": platform.release()}
    print(
        json.dumps({"date": datetime.now(UTC).isoformat(), "machine": machine, "missed": missed, **results}, indent=1)
    )
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
