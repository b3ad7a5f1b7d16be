"""What SandboxFusion was measured to answer, and what this judge answers: the same, or what docs/code_judge.md argues.

One row a recorded pair: the peer was bytedance/SandboxFusion at 469de08, isolation none; None is an error status.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rewards_lib.code_judge import LANGUAGES, Verdict, read_submission
from rewards_lib.errors import InputError

SUM = "a, b = map(int, input().split())\nprint(a + b)"
SUM_TESTS = [("1 2\n", "3\n"), ("10 20\n", "30\n"), ("-5 5\n", "0\n")]
CPP = '#include <cstdio>\nint main() {{ long long a, b; scanf("%lld %lld", &a, &b); {body} }}'


def block(code: str, tag: str = "python") -> str:
    return f"Here it is.\n```{tag}\n{code}\n```\n"


PAIRS: dict[str, tuple[str, list[tuple[str, str]], dict[str, Any], bool | None, str]] = {
    "bigint_off_by_one": (block("print(10**18 + 1)"), [("", f"{10**18}\n")], {}, True, "wrong_answer"),
    "case_insensitive": (block("print('yes')"), [("", "YES\n")], {}, True, "wrong_answer"),
    "crlf_expected": (block("print('YES')\nprint('NO')"), [("", "YES\r\nNO\r\n")], {}, True, "accepted"),
    "blank_line_in_the_middle": (block("print('1\\n\\n2')"), [("", "1\n2\n")], {}, False, "wrong_answer"),
    "one_float": (block("print(0.3333333)"), [("", "0.333333333333\n")], {}, True, "accepted"),
    "two_floats_a_line": (block("print(0.3333333, 0.5)"), [("", "0.333333333333 0.5\n")], {}, False, "accepted"),
    "float_against_zero": (block("print(1e-12)"), [("", "0.0\n")], {}, False, "accepted"),
    "integer_as_float": (block("print('3.0')"), [("", "3\n")], {}, True, "accepted"),
    "cpp_compile_error": (block("int main() { no(); }", "cpp"), SUM_TESTS, {"language": "cpp"}, False, "compile_error"),
    "cpp_loop": (
        block(CPP.format(body="for (volatile int x = 0;; x++);"), "cpp"), SUM_TESTS,
        {"language": "cpp", "run_timeout": 0.3}, False, "time_limit",
    ),
    "cpp_wrong_answer": (
        block(CPP.format(body='printf("%lld\\n", a * b);'), "cpp"), SUM_TESTS, {"language": "cpp"}, False,
        "wrong_answer",
    ),
    "no_tests": (block("raise SystemExit(1)"), [], {}, True, "422"),
    "block_of_another_language": (block("int main() {}", "cpp"), SUM_TESTS, {}, False, "no_code"),
    "no_language": (block(SUM), SUM_TESTS, {"language": None}, None, "400"),
    "no_block": ("I would add the two numbers.", SUM_TESTS, {}, False, "no_code"),
    "exit_without_output": (block("import sys; sys.exit(0)"), SUM_TESTS, {}, False, "wrong_answer"),
    "three_gigabytes": (block("x = bytearray(3 << 30)\nprint(3)"), [("", "3\n")], {}, True, "memory_limit"),
    "looks_around": (
        block("import os\nprint(os.getuid() == 0 and os.path.exists('/etc/passwd'))"), [("", "True\n")], {}, True,
        "wrong_answer",
    ),
    "runtime_error": (block("1 / 0"), SUM_TESTS, {}, False, "runtime_error"),
    "five_megabytes_in": (block("print(len(input()))"), [("x" * 5_000_000, "5000000\n")], {}, True, "accepted"),
    "hundred_kilobytes_out": (block("print('x' * 100_000)"), [("", "x" * 100_000 + "\n")], {}, True, "accepted"),
    "syntax_error": (block("def f(:"), SUM_TESTS, {}, False, "compile_error"),
    "wrong_answer": (block(SUM.replace("+", "-")), SUM_TESTS, {}, False, "wrong_answer"),
    "wrong_answer_run_all": (
        block("a, b = map(int, input().split())\nprint(abs(a) + abs(b))"), SUM_TESTS,
        {"extra": {"run_all_cases": True}}, False, "wrong_answer",
    ),
    "typed_tests": (block(SUM), [("typed", "")], {}, None, "accepted"),
    "think_block": (f"<think>\n{block('print(0)')}</think>\n{block(SUM)}", SUM_TESTS, {}, False, "accepted"),
    "two_blocks": (block("print('draft')") + "Fixed:\n" + block(SUM), SUM_TESTS, {}, False, "accepted"),
    "unknown_dataset_type": (block(SUM), SUM_TESTS, {"dataset_type": "NopeDataset"}, None, "400"),
}  # fmt: skip


def request_of(completion, tests, config) -> dict[str, Any]:
    cases = [{"input": {"stdin": stdin}, "output": {"stdout": stdout}} for stdin, stdout in tests]
    if tests[:1] == [("typed", "")]:
        cases = [{"type": "StandardIO", "data": {"input": {"stdin": "1 2\n"}, "output": {"stdout": "3\n"}}}]
    own = {"dataset_type": "CommonOJDataset", "language": "python", "run_timeout": 2, "provided_data": {"test": cases}}
    return {"id": 1, "completion": completion, "config": own | config}


@pytest.mark.parametrize("name", PAIRS)
def test_each_recorded_pair_has_its_verdict(judge, name):
    completion, tests, config, _, expected = PAIRS[name]
    try:
        got = str(judge.judge(read_submission(request_of(completion, tests, config))).verdict)
    except InputError as error:
        got = str(error.http_status)
    assert got == expected


def test_each_pair_that_the_peer_answers_otherwise_is_listed_with_its_reason():
    text = (Path(__file__).parents[3] / "docs" / "code_judge.md").read_text()
    told = {True: "accepted", False: "refused", None: "an error"}
    differing = [
        name for name, (*_, peer, ours) in PAIRS.items()
        if peer is not (True if ours == "accepted" else None if ours in {"400", "422"} else False)
    ]  # fmt: skip
    assert len(differing) == 10
    assert [name for name in differing if f"| `{name}` | {told[PAIRS[name][3]]} | {PAIRS[name][4]} |" not in text] == []


def test_every_verdict_and_every_language_stands_in_the_document():
    text = (Path(__file__).parents[3] / "docs" / "code_judge.md").read_text()
    assert [name for name in (*Verdict, *LANGUAGES) if f"| `{name}` |" not in text] == []
