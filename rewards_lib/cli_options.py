"""Options that several commands share, and how their values are read."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from rewards_lib.errors import InputError

if TYPE_CHECKING:
    from rewards_lib.executor import Limits

Commands = Any
"""What ``add_subparsers`` returns; argparse keeps its type private."""
MOST_SECONDS = 3600


def add_run_options(command: argparse.ArgumentParser) -> None:
    """Add ``--time-limit``, ``--allow-host`` and ``--secret``: what a run of a custom function may take and reach."""
    command.add_argument("--time-limit", type=float, metavar="S", help="seconds a call of a function may take (30)")
    add_allow_host(command)
    add_secret(command)


def add_allow_host(command: argparse.ArgumentParser, *, told: str = "a host functions may reach") -> None:
    """Add ``--allow-host``; ``told`` says for what."""
    command.add_argument(
        "--allow-host", action="append", default=[], metavar="H",
        help=f"{told}: host, host:port or *.suffix; may be repeated",
    )  # fmt: skip


def add_secret(command: argparse.ArgumentParser) -> None:
    """Add ``--secret``."""
    command.add_argument(
        "--secret", action="append", default=[], metavar="NAME",
        help="a secret for os.environ of functions: the variable NAME's value, else the console's; a version holds its "
        "name alone; may be repeated",
    )  # fmt: skip


def secrets_of(options: argparse.Namespace) -> tuple[tuple[str, str | None], ...]:
    """The names and values that ``--secret`` asks for. Raises NotFoundError for one that has no value."""
    from rewards_lib.store.secrets import find_secret

    return tuple((name, find_secret(name)) for name in options.secret)


def limits_of(options: argparse.Namespace) -> Limits | None:
    """The limits that ``--time-limit`` asks for; None without it: each function keeps those that its author set.

    Raises InputError out of its range.
    """
    from rewards_lib.executor import Limits

    if options.time_limit is None:
        return None
    if not 0 < options.time_limit <= MOST_SECONDS:
        raise InputError(
            "The time limit must be above 0 and at most {most} seconds.", where="--time-limit", most=MOST_SECONDS
        )
    return Limits(wall_seconds=options.time_limit)
