"""The command ``code-judge``: run a submission, compare outputs, extract a program, serve.

Invariant: exit status 0 means that there is a verdict, whichever; 1 a fault of the judge, 2 unusable input.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from rewards_lib.cli_options import Commands, add_allow_host
from rewards_lib.cli_output import CONSOLE_URL, print_next, print_result
from rewards_lib.errors import InputError
from rewards_lib.strict_json import read_json, read_text


def add_code_judge_command(commands: Commands) -> None:
    """Register the command of this module."""
    command = commands.add_parser(
        "code-judge",
        help="programs against tests",
        description="Judge programs against tests, behind the executor's confinement, as a command or as a service.",
    )
    actions = command.add_subparsers(title="actions", required=True, metavar="ACTION")
    for add in (_add_run, _add_compare, _add_extract, _add_serve):
        add(actions)


def _add_limits(command: argparse.ArgumentParser) -> None:
    command.add_argument("--workers", type=int, metavar="N", help="programs that run at a time (one a processor)")
    add_allow_host(command, told="a host that tests may be fetched from")


def _judge(options: argparse.Namespace, *, is_brief: bool = True) -> Any:
    from rewards_lib.code_judge import CodeJudge

    if options.workers is not None and not 1 <= options.workers <= 1024:
        raise InputError("Workers must be 1 to 1024.", where="--workers")
    return CodeJudge(workers=options.workers, allow_hosts=options.allow_host, is_brief=is_brief)


# --- run -----------------------------------------------------------------------------------------------------------


def _add_run(actions: Commands) -> None:
    command = actions.add_parser(
        "run", help="judge one submission", description="Judge a /submit request and print the service's answer."
    )
    command.add_argument("--submission", required=True, metavar="S.json", help="the request; - reads standard input")
    _add_limits(command)
    command.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    from rewards_lib.code_judge import read_submission
    from rewards_lib.code_judge.responses import submit_response

    text = sys.stdin.read() if options.submission == "-" else read_text(Path(options.submission))
    submission = read_submission(read_json(text, name="submission"))
    with _judge(options) as judge:
        judgement = judge.judge(submission)
    print_result(submit_response(submission, judgement))
    print_next(f"see the tests side by side on {CONSOLE_URL}/code_judge")
    return 0


# --- compare and extract -------------------------------------------------------------------------------------------


def _add_compare(actions: Commands) -> None:
    command = actions.add_parser(
        "compare", help="compare two outputs",
        description='Read {"expected", "actual"} from standard input and tell whether the output is right.',
    )  # fmt: skip
    command.add_argument("--mode", choices=("lines", "tokens"), default="lines", help="what is compared (lines)")
    command.add_argument("--float-tol", type=float, default=1e-6, metavar="T", help="tolerance of floats (1e-6)")
    command.add_argument("--ignore-case", action="store_true", help="take upper and lower case for the same")
    command.set_defaults(run=_compare)


def _compare(options: argparse.Namespace) -> int:
    from rewards_lib.code_judge.comparison import CompareRules, compare

    if not 0 <= options.float_tol <= 1:
        raise InputError("The tolerance must be a number from 0 to 1.", where="--float-tol")
    row = read_json(sys.stdin.read(), name="standard input")
    expected, actual = (row.get(key) if isinstance(row, dict) else None for key in ("expected", "actual"))
    if not isinstance(expected, str) or not isinstance(actual, str):
        raise InputError("{shape} with two texts is expected.", where="standard input", shape='{"expected", "actual"}')
    rules = CompareRules(options.mode, options.float_tol, options.ignore_case)
    found = compare(expected.encode("utf-8", "surrogatepass"), [actual.encode("utf-8", "surrogatepass")], rules)
    reason = "" if found is None else str(found.reason)
    print_result({"passed": found is None, "reason": reason, "line": found.line if found else None})
    return 0


def _add_extract(actions: Commands) -> None:
    command = actions.add_parser(
        "extract", help="the program in a completion",
        description="Read a completion from standard input and print the program that would be judged.",
    )  # fmt: skip
    command.add_argument("--language", required=True, metavar="L", help="python, cpp, c, javascript, java, ...")
    command.set_defaults(run=_extract, workers=None, allow_host=[])


def _extract(options: argparse.Namespace) -> int:
    from rewards_lib.code_judge import find_language
    from rewards_lib.code_judge.extraction import extract_program

    language = find_language(options.language)
    program = extract_program(sys.stdin.read(), language)
    code, why = program.code, str(program.why or "")
    if code is not None and program.whole_text:
        with _judge(options) as judge:  # parsing is left to a worker: the text may be made to break a parser
            if not judge.is_valid_python(code):
                code, why = None, "no code block, and the text itself is no program"
    print_result({"code": code, "language": language.name, "reason": why, "incomplete_fence": program.incomplete_fence})
    return 0


# --- serve ---------------------------------------------------------------------------------------------------------


def _add_serve(actions: Commands) -> None:
    command = actions.add_parser(
        "serve", help="serve /submit and /run_code",
        description="Serve the code judge over HTTP as SandboxFusion's clients know it.",
    )  # fmt: skip
    command.add_argument("--host", default="127.0.0.1", help="the address to listen on (127.0.0.1)")
    command.add_argument("--port", type=int, default=8602, help="the port (8602)")
    command.add_argument(
        "--trusted-host", action="append", default=[], metavar="H", help="a name requests may call this host by"
    )
    _add_limits(command)
    command.set_defaults(run=_serve)


def _serve(options: argparse.Namespace) -> int:
    from rewards_lib.code_judge.service import serve

    with _judge(options, is_brief=False) as judge:
        print_next(f"curl http://{options.host}:{options.port}/healthz")
        serve(judge, host=options.host, port=options.port, trusted_hosts=tuple(options.trusted_host))
    return 0
