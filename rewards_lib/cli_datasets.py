"""``dataset``: check a data set of prompts, and convert one from columns to messages and extra."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rewards_lib.cli_options import Commands
from rewards_lib.cli_output import CONSOLE_URL, print_next, print_result
from rewards_lib.errors import InputError

if TYPE_CHECKING:
    from rewards_lib.datasets import ColumnPlan


def add_dataset_command(commands: Commands) -> None:
    """Register the command."""
    command = commands.add_parser(
        "dataset",
        help="check or convert a data set of prompts",
        description="Check the rows of a data set: messages that end with user or tool, extra, sizes, duplicates, "
        "ground truths that a preset can read. With --out: convert columns to messages and extra first.",
    )
    command.add_argument("file", type=Path, metavar="FILE", help="JSONL, a JSON array, CSV or parquet")
    command.add_argument("--out", type=Path, metavar="OUT.jsonl", help="convert, and write the rows that can be used")
    command.add_argument("--prompt", metavar="COLUMN", help="the column of the prompt; a dotted name reaches inside")
    command.add_argument("--answer", metavar="COLUMN", help="the column of the ground truth")
    command.add_argument("--system", default="", metavar="TEXT", help="a system message before each prompt")
    command.add_argument("--final-answer", action="store_true", help="take what follows #### or stands in the last box")
    command.set_defaults(run=_dataset)


def _dataset(options: argparse.Namespace) -> int:
    from rewards_lib.datasets import check_dataset, convert
    from rewards_lib.rollouts.rollout import BadRow
    from rewards_lib.rollouts.rows import read_rows
    from rewards_lib.strict_json import write_json
    from rewards_lib.whole_files import write_whole

    if not options.file.is_file():
        raise InputError("There is no file {path}.", path=str(options.file))
    rows: Any = read_rows(options.file)
    if options.out is None:
        if options.prompt or options.answer or options.system or options.final_answer:
            raise InputError("Columns are named to convert.", remedy="Say where to with --out.")
        report = check_dataset(rows, name=options.file.name, size_bytes=options.file.stat().st_size)
    else:
        converted = list(convert(rows, _plan(options)))
        report = check_dataset(converted, name=options.out.name)
        with write_whole(options.out) as file:
            file.writelines(write_json(row[1]).encode() + b"\n" for row in converted if not isinstance(row, BadRow))
    result = report.to_json()
    print_result(result)
    print_next(f"keep it under Data sets on {CONSOLE_URL}/rollouts")
    return 0 if result["status"] == "success" else 1


def _plan(options: argparse.Namespace) -> ColumnPlan:
    """The columns that the options name, the others guessed by the names that data sets use."""
    from itertools import islice

    from rewards_lib.datasets import ColumnPlan, guess_plan
    from rewards_lib.rollouts.rollout import BadRow
    from rewards_lib.rollouts.rows import read_rows

    head = [row[1] for row in islice(read_rows(options.file), 20) if not isinstance(row, BadRow)]
    guessed = guess_plan(head)
    prompt = options.prompt or (guessed.prompt if guessed else None)
    if prompt is None:
        names = ", ".join(map(str, head[0])) if head else "-"
        raise InputError(
            "No column is known to hold the prompt.", remedy="Name it with --prompt: {names}.", names=names
        )
    answer = options.answer or (guessed.answer if guessed else None)
    is_final = options.final_answer or bool(guessed and guessed.final_answer and answer == guessed.answer)
    return ColumnPlan(prompt, answer, options.system, final_answer=is_final)
