"""The command line: results as JSON on standard output, everything else on standard error.

Exit status 0 is success, 1 a result whose status is failure, 2 unusable input. Commands import what they need inside
their function, so that ``--help`` and the light commands start at once.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from rewards_lib.cli_cases import test_cases
from rewards_lib.cli_code_judge import add_code_judge_command
from rewards_lib.cli_options import Commands, add_run_options, limits_of, secrets_of
from rewards_lib.cli_output import CONSOLE_URL, print_next, print_result
from rewards_lib.cli_publish import add_publish_commands
from rewards_lib.cli_rollouts import add_rollout_commands
from rewards_lib.errors import InputError, RewardConsoleError, boundary
from rewards_lib.strict_json import read_json, read_text

if TYPE_CHECKING:
    from rewards_lib.mix import Mix
    from rewards_lib.scoring import FunctionResolver


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    status = 2

    def tell(error: RewardConsoleError) -> None:
        nonlocal status
        print_result({"status": "failure", "error": str(error)})
        print(f"{error}", file=sys.stderr)
        status = error.exit_status

    with boundary(tell):
        options = _parser().parse_args(arguments)
        status = int(options.run(options))
    return status


class _Parser(argparse.ArgumentParser):
    """Turns wrong flags into the same JSON as any other unusable input."""

    def error(self, message: str) -> NoReturn:
        """Raise InputError instead of leaving."""
        raise InputError(
            "{problem}.",
            problem=message[:1].upper() + message[1:],
            remedy="See `python -m {program} --help`.",
            program=self.prog,
        )


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="rewards_lib",
        description="Rewards for fine-tuning language models: write, test, prove and watch them.",
        epilog="Results are JSON on standard output. Exit status: 0 success, 1 the result is a failure, 2 bad input.",
    )
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for add in (
        _add_test, _add_check, _add_presets, add_rollout_commands, _add_metrics, add_publish_commands,
        add_code_judge_command,
    ):  # fmt: skip
        add(commands)
    return parser


# --- test ----------------------------------------------------------------------------------------------------------


def _add_test(commands: Commands) -> None:
    command = commands.add_parser(
        "test",
        help="score one payload",
        description="Score the completions of one payload under a mix, a custom "
        "function or one preset, and print the rewards with everything that led to them. With --cases: run regression "
        "cases, exit 1 when one does not hold.",
    )
    what = command.add_mutually_exclusive_group()
    what.add_argument("--mix", type=Path, metavar="M.json", help="a mix file")
    what.add_argument("--function", type=Path, metavar="F.py", help="a custom function: a file with reward_fn")
    what.add_argument("--preset", metavar="NAME", help="one preset; `presets` lists them")
    command.add_argument("--requirements", type=Path, metavar="R.txt", help="the function's requirements")
    command.add_argument("--params", metavar="JSON", help="the preset's parameters")
    command.add_argument("--payload", metavar="P.json", help="the request; - reads standard input")
    command.add_argument(
        "--cases",
        metavar="FILE|NAME",
        help="instead of a payload: a file of regression cases, or the mix whose kept ones",
    )
    add_run_options(command)
    command.set_defaults(run=_test)


def _test(options: argparse.Namespace) -> int:
    from rewards_lib.executor import Executor
    from rewards_lib.payloads import read_payload
    from rewards_lib.scoring import score_payload

    if options.cases:
        return test_cases(options, _mix_of)
    if not (options.mix or options.function or options.preset):
        raise InputError("One of --mix, --function and --preset is needed.")
    if not options.payload:
        raise InputError("A payload or cases are needed.", where="--payload, --cases")
    mix, resolve = _mix_of(options)
    text = sys.stdin.read() if options.payload == "-" else read_text(Path(options.payload))
    payload = read_payload(text, name=Path(options.payload).name if options.payload != "-" else "standard input")
    with Executor() as executor:
        result = score_payload(mix, payload, executor=executor, resolve=resolve, limits=limits_of(options))
    print_result(result.to_json())
    print_next(
        f"compose it on {CONSOLE_URL}/compose, or send this request on {CONSOLE_URL}/test"
        if result.status == "success"
        else f"mend what the error names and run this again; {CONSOLE_URL}/functions marks a function's lines"
    )
    return 0 if result.status == "success" else 1


def _mix_of(options: argparse.Namespace) -> tuple[Mix, FunctionResolver]:
    """The mix that the options name, and the resolver for its functions."""
    from rewards_lib.function_sources import function_alone, read_function, resolver
    from rewards_lib.mix import Mix, Rule, read_mix
    from rewards_lib.presets import check_params
    from rewards_lib.store import Store

    _refuse_idle_flags(options)
    if options.mix:
        mix = read_mix(read_text(options.mix))
        secrets = secrets_of(options)
        return mix, resolver(folder=options.mix.parent, store=Store, allow_hosts=options.allow_host, secrets=secrets)
    if options.function:
        found = read_function(options.function, requirements=options.requirements)
        source = replace(found.source, allow_hosts=tuple(options.allow_host), secrets=secrets_of(options))
        return function_alone(options.function.stem, replace(found, source=source))
    params = check_params(options.preset, read_json(options.params or "{}", name="--params"))
    return Mix(
        name=options.preset, rules=(Rule(name=options.preset, preset=options.preset, params=params),)
    ), resolver()


def _refuse_idle_flags(options: argparse.Namespace) -> None:
    """A flag that would do nothing is a mistake of the caller."""
    idle = {
        "--params": options.params is not None and not options.preset,
        "--requirements": options.requirements is not None and not options.function,
        "--allow-host": bool(options.allow_host) and bool(options.preset),
        "--secret": bool(options.secret) and bool(options.preset),
    }
    for flag, is_idle in idle.items():
        if is_idle:
            raise InputError("This flag does nothing here.", where=flag, remedy="Leave it out.")


# --- check, presets, metrics ---------------------------------------------------------------------------------------


def _add_check(commands: Commands) -> None:
    command = commands.add_parser(
        "check",
        help="what the executor would refuse, without running anything",
        description="List every construct of a file that the executor refuses.",
    )
    command.add_argument("file", type=Path, metavar="FILE.py")
    command.set_defaults(run=_check)


def _check(options: argparse.Namespace) -> int:
    from rewards_lib.executor import check_once

    findings = check_once(read_text(options.file), advice=True)
    refused = [finding for finding in findings if finding.severity == "error"]
    print_result({"status": "failure" if refused else "success", "findings": [one.to_json() for one in findings]})
    if not refused:
        print_next(f"python -m rewards_lib test --function {options.file} --payload request.json")
    return 1 if refused else 0


def _add_presets(commands: Commands) -> None:
    command = commands.add_parser(
        "presets",
        help="the catalogue of presets",
        description="List the presets: name, label, summary, parameters, worked example.",
    )
    command.set_defaults(run=_presets)


def _presets(_: argparse.Namespace) -> int:
    from rewards_lib.presets import catalogue

    print_result({"presets": catalogue()})
    print_next(f"python -m rewards_lib test --preset NAME --payload request.json, or {CONSOLE_URL}/compose")
    return 0


def _add_metrics(commands: Commands) -> None:
    command = commands.add_parser(
        "metrics",
        help="read a training export",
        description="Read training exports and print what is wrong with the runs: findings, checks, series, families, "
        "notes. A file is recognised by its content; a folder holds TensorBoard event files.",
    )
    command.add_argument("files", type=Path, nargs="+", metavar="FILE")
    command.add_argument("--step-range", metavar="A:B", help="only the steps from A to B, both included")
    command.add_argument("--smooth", type=float, metavar="W", help="add smoothed series, weight 0 to below 1")
    command.add_argument(
        "--mix", type=Path, metavar="M.json", help="check that final rewards are the mix's weighted sum"
    )
    command.add_argument("--rules", type=Path, metavar="R.yaml", help="own rules, in the shape of rules.yaml")
    command.add_argument("--fail-on", choices=("hard", "warning"), help="exit 1 on a finding this bad")
    command.set_defaults(run=_metrics)


def _metrics(options: argparse.Namespace) -> int:
    from rewards_lib.training_metrics import SEVERITIES, metrics_report, read_rules, rule_book

    own = read_rules(read_text(options.rules), name=options.rules.name) if options.rules else ()
    report = metrics_report(
        options.files,
        step_range=_step_range(options.step_range),
        smooth=options.smooth,
        weights=_weights(options.mix),
        book=rule_book().with_rules(own),
    )
    print_result(report)
    print_next(f"drop the file on {CONSOLE_URL}/training_metrics to see its charts")
    failing = SEVERITIES[: SEVERITIES.index(options.fail_on) + 1] if options.fail_on else ()
    return int(any(finding["severity"] in failing for finding in report["findings"]))


def _weights(mix: Path | None) -> dict[str, float] | None:
    """The weights of a mix file by the names of its rules; None without one."""
    if mix is None:
        return None
    from rewards_lib.mix import read_mix

    return {rule.name: float(rule.weight) for rule in read_mix(read_text(mix)).rules}


def _step_range(text: str | None) -> tuple[float | None, float | None] | None:
    if text is None:
        return None
    first, colon, last = text.partition(":")
    try:
        if not colon:
            raise ValueError
        return (float(first) if first else None, float(last) if last else None)
    except ValueError:
        raise InputError(
            "{text} is not a range of steps.",
            where="--step-range",
            text=text,
            remedy="Write A:B, for example 100:200; either side may be empty.",
        ) from None
