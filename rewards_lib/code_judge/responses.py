"""Answers on the wire, in SandboxFusion's shape: its clients look at these fields, more keys are allowed.

Invariant: ``accepted`` is false only where a program was judged and failed; everything else is an error status.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping

from rewards_lib.code_judge.submission import Submission
from rewards_lib.code_judge.verdicts import Execution, Judgement, TestOutcome, Verdict
from rewards_lib.contract import JsonObject

CUT_CHARACTERS = 1_000
"""Of the texts of a test, unless the whole case is asked for."""


def submit_response(submission: Submission, judgement: Judgement) -> JsonObject:
    """The answer to ``/submit``."""
    return {
        "id": submission.id, "accepted": judgement.accepted, "extracted_code": judgement.code,
        "full_code": None, "test_code": None,
        "tests": [_test(submission, judgement, outcome) for outcome in judgement.outcomes],
        "extracted_type": None, "extra": _extra(judgement),
    }  # fmt: skip


def _test(submission: Submission, judgement: Judgement, outcome: TestOutcome) -> JsonObject:
    is_judged = outcome.verdict in (Verdict.ACCEPTED, Verdict.WRONG_ANSWER)
    most = None if submission.full_texts else CUT_CHARACTERS
    row: JsonObject = {
        "passed": outcome.passed,
        "exec_info": {
            "status": "Success" if is_judged else "Failed",
            "message": "" if outcome.passed else f"{outcome.verdict}: {outcome.message}",
            "compile_result": execution_row(judgement.compilation), "run_result": execution_row(outcome.execution),
            "executor_pod_name": None, "files": {},
        },
        "test_info": {
            "input": {"stdin": _cut(outcome.case.stdin, most)}, "output": {"stdout": _cut(outcome.case.stdout, most)},
        },
        "verdict": str(outcome.verdict), "index": outcome.index,
    }  # fmt: skip
    if outcome.difference and outcome.difference.line:
        found = outcome.difference
        row["difference"] = {"line": found.line, "expected": found.expected, "actual": found.actual}
    return row


def execution_row(execution: Execution | None) -> JsonObject | None:
    """How a program ran, as clients read it."""
    if execution is None:
        return None
    return {
        "status": "TimeLimitExceeded" if execution.timed_out else "Finished",
        "execution_time": round(execution.wall_seconds, 6), "return_code": execution.code,
        "stdout": execution.stdout, "stderr": execution.stderr, "cpu_time": round(execution.cpu_seconds, 6),
        "peak_mb": round(execution.peak_mb, 1),
    }  # fmt: skip


def _extra(judgement: Judgement) -> JsonObject:
    first = judgement.first_failure
    return {
        "verdict": str(judgement.verdict), "passed": judgement.passed, "total": judgement.total,
        "score": judgement.score, "cpu_s": round(judgement.cpu_seconds, 6),
        "wall_s": round(judgement.wall_seconds, 6), "peak_mb": round(judgement.peak_mb, 1),
        "isolation": judgement.isolation.to_json() if judgement.isolation else None,
        "incomplete_fence": judgement.incomplete_fence, "cached_compile": judgement.cached_compile,
        "message": str(judgement.message or (first.message if first else "") or ""),
        "first_failure": first.index if first else None, "language": judgement.language,
    }  # fmt: skip


def _cut(text: str, most: int | None) -> str:
    return text if most is None or len(text) <= most else text[:most] + "..."


def run_response(compilation: Execution | None, execution: Execution | None, files: Mapping[str, bytes]) -> JsonObject:
    """The answer to ``/run_code`` for a program that was compiled, and run if that went well."""
    compiled = compilation is None or execution is not None
    well = compiled and execution is not None and execution.code == 0 and not execution.timed_out
    return {
        "status": "Success" if well else "Failed", "message": "",
        "compile_result": execution_row(compilation), "run_result": execution_row(execution),
        "executor_pod_name": None,
        "files": {name: b64encode(content).decode() for name, content in files.items()},
    }  # fmt: skip


def fault_response(message: str) -> JsonObject:
    """The answer to ``/run_code`` when the judge is at fault: nothing was found out about the program."""
    return {
        "status": "SandboxError", "message": message, "compile_result": None, "run_result": None,
        "executor_pod_name": None, "files": {},
    }  # fmt: skip
