"""The commands over files of rollouts: ``score``, ``analyze``, ``compare``, ``attack``.

Invariant: standard output holds the JSON result alone; progress and advice go to standard error.
"""

from __future__ import annotations

import argparse
import math
import shlex
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rewards_lib.cli_datasets import add_dataset_command
from rewards_lib.cli_options import Commands, add_run_options, limits_of, secrets_of
from rewards_lib.cli_output import CONSOLE_URL, print_next, print_result
from rewards_lib.errors import ExecutionError, InputError
from rewards_lib.strict_json import read_text

if TYPE_CHECKING:
    from rewards_lib.contract import JsonObject
    from rewards_lib.rollouts import RewardTable
    from rewards_lib.rollouts.reading import RolloutFile
    from rewards_lib.rollouts.survey import Survey
    from rewards_lib.rollouts.tally import Tally

_BAR_WIDTH = 24
_BAR_SECONDS = 0.2


def add_rollout_commands(commands: Commands) -> None:
    """Register the commands of this module."""
    for add in (_add_score, _add_analyze, _add_compare, _add_attack, add_dataset_command):
        add(commands)


def _add_mix_and_rollouts(command: argparse.ArgumentParser) -> None:
    command.add_argument("--mix", type=Path, required=True, metavar="M.json", help="a mix file")
    command.add_argument("--rollouts", type=Path, required=True, metavar="IN", help="a file of rollouts")
    add_run_options(command)
    _add_reading(command)


def _add_reading(command: argparse.ArgumentParser, whose: str = "the file's") -> None:
    command.add_argument("--format", metavar="NAME", help=f"{whose} format, where guessing it by its keys is wrong")
    command.add_argument(
        "--column",
        action="append",
        default=[],
        metavar="PART=COLUMN",
        help="name a column by hand: prompt=, completion=, answer=, group=, id=, reward=; may be repeated",
    )


def _reading(options: argparse.Namespace) -> dict[str, Any]:
    """The options of ``open_rollouts``."""
    from rewards_lib.rollouts import ColumnMap

    if not options.column:
        return {"format_name": options.format}
    if options.format:
        raise InputError("A format names its own columns.", where="--column", remedy="Leave --format or --column out.")
    named = dict(pair.partition("=")[::2] for pair in options.column)
    unknown = set(named) - set(ColumnMap.__dataclass_fields__)
    if unknown or not {"prompt", "completion"} <= named.keys():
        raise InputError(
            "Columns are named as prompt=COLUMN and completion=COLUMN at least.",
            where="--column",
            remedy="Further parts are answer, group, id and reward.",
        )
    return {"columns": ColumnMap(**named)}


def _mix_and_resolver(options: argparse.Namespace) -> tuple[Any, Any]:
    from rewards_lib.function_sources import resolver
    from rewards_lib.mix import read_mix
    from rewards_lib.store import Store

    mix = read_mix(read_text(options.mix))
    secrets = secrets_of(options)
    return mix, resolver(folder=options.mix.parent, store=Store, allow_hosts=options.allow_host, secrets=secrets)


# --- score ---------------------------------------------------------------------------------------------------------


def _add_score(commands: Commands) -> None:
    command = commands.add_parser(
        "score",
        help="score a file of rollouts",
        description="Score every rollout of a file under a mix, streaming. The output has one line a rollout, in the "
        "file's order; rows that are no rollouts go to OUT.bad.jsonl.",
    )
    _add_mix_and_rollouts(command)
    command.add_argument("--out", type=Path, required=True, metavar="OUT", help=".jsonl, .jsonl.gz or .parquet")
    command.add_argument("--workers", type=int, default=1, metavar="N", help="processes that score (1)")
    command.add_argument(
        "--engine",
        choices=["local", "ray"],
        default="local",
        help="where the workers run; ray is installed apart (local)",
    )
    command.add_argument("--resume", action="store_true", help="go on behind the last whole chunk of a stopped run")
    command.add_argument(
        "--keep-going", action="store_true", help="score on when the first rollouts all fail for one cause"
    )
    command.add_argument("--chunk-size", type=int, default=256, metavar="N", help="rollouts a chunk (256)")
    command.set_defaults(run=_score)


def _score(options: argparse.Namespace) -> int:
    from rewards_lib.rollouts import ScoreOptions, score_file

    mix, resolve = _mix_and_resolver(options)
    how = ScoreOptions(
        workers=options.workers, engine=options.engine, resume=options.resume, keep_going=options.keep_going,
        chunk_size=options.chunk_size, limits=limits_of(options), **_reading(options),
    )  # fmt: skip
    bar = _ProgressBar()
    try:
        result = score_file(mix, options.rollouts, options.out, resolve=resolve, options=how, on_progress=bar.tell)
    except KeyboardInterrupt:
        raise ExecutionError("Stopped.", remedy="Go on with --resume; at most one chunk is scored again.") from None
    finally:
        bar.close()
    row = result.to_json()
    print_result(row)
    if result.bad_rows:
        print(f"{result.bad_rows} rows are no rollouts; they are in {options.out}.bad.jsonl", file=sys.stderr)
    print_next(f"{_next_command(result.file, options)}, or open it on {CONSOLE_URL}/rollouts")
    return 0 if row["status"] == "success" else 1


def _next_command(file: RolloutFile, options: argparse.Namespace) -> str:
    """Where the file came with rewards, what they and the new ones differ in; else what the new ones say."""
    from rewards_lib.rollouts.reading import SNIFFED_ROWS
    from rewards_lib.rollouts.survey import survey

    if not survey(file, most=SNIFFED_ROWS).rewarded:
        return shlex.join(["python", "-m", "rewards_lib", "analyze", str(options.out)])
    reading = ["--format", options.format] if options.format else []
    reading += [part for pair in options.column for part in ("--column", pair)]
    return shlex.join(["python", "-m", "rewards_lib", "compare", str(options.rollouts), str(options.out), *reading])


# --- analyze, compare ----------------------------------------------------------------------------------------------


def _add_analyze(commands: Commands) -> None:
    command = commands.add_parser(
        "analyze",
        help="what the rewards of a file say",
        description="Best, mean and worst of n, pass at k, groups without signal, rules, advantages and whether the "
        "model is ready for RL. Takes what `score` wrote, or a trainer's own file with its rewards.",
    )
    command.add_argument("file", type=Path, metavar="SCORED")
    command.add_argument(
        "--what-if", type=Path, metavar="M.json", help="as if the rules had the weights of this mix, without scoring"
    )
    command.add_argument("--right-from", type=float, metavar="R", help="the reward from which a rollout is right")
    command.add_argument("--by", metavar="FIELD", help="the same figures by a field of sample.extra")
    _add_reading(command)
    command.set_defaults(run=_analyze)


def _analyze(options: argparse.Namespace) -> int:
    from rewards_lib.mix import read_mix
    from rewards_lib.rollouts import analyze, open_rollouts, read_table, reweigh
    from rewards_lib.rollouts.survey import survey

    file = open_rollouts(options.file, **_reading(options))
    table = read_table(file, by=options.by)
    weights = None
    if options.what_if:
        wanted = {rule.name: rule.weight for rule in read_mix(read_text(options.what_if)).rules}
        table, weights = reweigh(table, wanted), {name: float(weight) for name, weight in wanted.items()}
    result = analyze(table, right=options.right_from, weights=weights)
    surveyed = survey(file)
    result["notes"] += [str(note) for note in surveyed.notes()]
    print_result(result | {"advice": _advice(surveyed, table, result)})
    _warn_of_journal(options.file)
    print_next(f"see the groups one by one on {CONSOLE_URL}/rollouts")
    return 0


def _advice(surveyed: Survey, table: RewardTable, result: JsonObject) -> list[JsonObject]:
    """What the figures speak for; the file does not tell which mix made them."""
    from rewards_lib.rollouts.advice import advise
    from rewards_lib.rollouts.group_statistics import group_table
    from rewards_lib.rollouts.readiness import judge_readiness

    right = result["right_from"]
    groups = group_table(table, right=math.inf if right is None else right)
    readiness = judge_readiness(groups, unscored_share=result["unscored"] / result["rollouts"])
    return [advice.to_json() for advice in advise(groups, readiness, surveyed, None)]


def _add_compare(commands: Commands) -> None:
    command = commands.add_parser(
        "compare",
        help="the same rollouts under two rewards",
        description="Changed rewards, rank flips inside groups, correlation, and which rule did it. Each file is what "
        "`score` wrote, or a trainer's own with its rewards.",
    )
    command.add_argument("a", type=Path, metavar="SCORED_A")
    command.add_argument("b", type=Path, metavar="SCORED_B")
    command.add_argument(
        "--examples", type=int, default=20, metavar="N", help="how many differing rollouts are listed (20)"
    )
    _add_reading(command, "SCORED_A's")
    command.set_defaults(run=_compare)


def _compare(options: argparse.Namespace) -> int:
    from rewards_lib.rollouts import compare, open_rollouts

    if options.examples < 1:
        raise InputError("At least one example is listed.", where="--examples")
    a, b = open_rollouts(options.a, **_reading(options)), open_rollouts(options.b)
    print_result(compare(a, b, most_examples=options.examples))
    for path in (options.a, options.b):
        _warn_of_journal(path)
    print_next(f"open the changed rollouts side by side on {CONSOLE_URL}/rollouts")
    return 0


def _warn_of_journal(path: Path) -> None:
    if path.with_name(path.name + ".journal").exists():
        print(f"{path} is not complete: its run was stopped. Go on with score --resume.", file=sys.stderr)


# --- attack --------------------------------------------------------------------------------------------------------


def _add_attack(commands: Commands) -> None:
    command = commands.add_parser(
        "attack",
        help="what earns a reward that should not",
        description="Turn real rollouts into completions that must not earn, and list those that do; with controls "
        "(the ground truth must earn the most) and checks (the same again, in any order, alone).",
    )
    _add_mix_and_rollouts(command)
    command.add_argument("--samples", type=int, default=16, metavar="N", help="groups that are attacked (16)")
    command.add_argument("--repeats", type=int, default=2, metavar="N", help="how often to score again (2)")
    command.set_defaults(run=_attack)


def _attack(options: argparse.Namespace) -> int:
    from rewards_lib.executor import Executor
    from rewards_lib.rollouts import AttackOptions, attack_mix, open_rollouts

    if options.samples < 1 or options.repeats < 1:
        raise InputError("At least one sample and one repeat are needed.", where="--samples, --repeats")
    mix, resolve = _mix_and_resolver(options)
    file = open_rollouts(options.rollouts, **_reading(options))
    how = AttackOptions(samples=options.samples, repeats=options.repeats, limits=limits_of(options))
    with Executor() as executor:
        result = attack_mix(mix, file, resolve=resolve, executor=executor, options=how)
    print_result(result)
    for control in result["controls"]:
        if control["failed"]:
            print(f"control {control['name']}: {len(control['failed'])} samples fail", file=sys.stderr)
    print_next(f"mend the rule and attack again, or see each completion on {CONSOLE_URL}/rollouts")
    return 0 if result["status"] == "success" else 1


class _ProgressBar:
    """Rollouts done, their rate and the time left, on standard error; redrawn in place on a terminal only."""

    def __init__(self) -> None:
        self._started = 0.0
        self._shown_at = 0.0
        self._first: int | None = None
        self._is_open = False

    def tell(self, tally: Tally, total: int) -> None:
        """Draw how far a run of scoring is."""
        self.show(tally.rollouts, total)

    def show(self, done: int, total: int) -> None:
        """Draw the bar, unless it was drawn a moment ago."""
        now = time.monotonic()
        if self._first is None:  # what a resumed run found done took no time of this one
            self._first, self._started = done, now
        if now - self._shown_at < (_BAR_SECONDS if sys.stderr.isatty() else 10.0) and done < total:
            return
        self._shown_at = now
        seconds = now - self._started
        pace = ""
        if done > self._first and seconds > 0:
            rate = (done - self._first) / seconds
            pace = f", {rate:.0f} a second, {(total - done) / rate:.0f} s left"
        filled = "#" * round(_BAR_WIDTH * done / total) if total else ""
        end = "" if sys.stderr.isatty() else "\n"
        start = "\r" if sys.stderr.isatty() else ""
        print(
            f"{start}[{filled:<{_BAR_WIDTH}}] {done}/{total} rollouts{pace}   ",
            end=end, file=sys.stderr, flush=True,
        )  # fmt: skip
        self._is_open = end == ""

    def close(self) -> None:
        """Leave the bar's line."""
        if self._is_open:
            print(file=sys.stderr)
