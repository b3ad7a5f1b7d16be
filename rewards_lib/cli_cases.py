"""Regression cases on the command line: ``test --cases``, and the warning of ``publish`` about those that are kept."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from rewards_lib.cli_options import limits_of
from rewards_lib.cli_output import CONSOLE_URL, print_next, print_result
from rewards_lib.errors import InputError, RewardConsoleError
from rewards_lib.strict_json import read_text

if TYPE_CHECKING:
    from rewards_lib.contract import JsonObject
    from rewards_lib.mix import Mix
    from rewards_lib.publishing import Published
    from rewards_lib.regression_cases import Case
    from rewards_lib.scoring import FunctionResolver
    from rewards_lib.store import Store

    MixOf = Callable[[argparse.Namespace], tuple[Mix, FunctionResolver]]


def test_cases(options: argparse.Namespace, mix_of: MixOf) -> int:
    """Run the cases that the options name and return the exit status: 1 when one does not hold."""
    from rewards_lib.executor import Executor
    from rewards_lib.regression_cases import run_cases

    if options.payload:
        raise InputError("Cases have payloads of their own.", where="--payload", remedy="Leave it out.")
    is_named = bool(options.mix or options.function or options.preset)
    cases, scorer = _cases(options.cases)
    if not is_named and not scorer:
        raise InputError("What is to be tested?", remedy="Name it with --mix, --function or --preset.")
    mix, resolve = mix_of(options) if is_named else _stored(scorer)
    with Executor() as executor:
        result = run_cases(cases, mix, resolve=resolve, executor=executor, limits=limits_of(options))
    print_result(result)
    is_good = result["status"] == "success"
    print_next(
        "run this before each publication" if is_good else f"see each case beside its reward on {CONSOLE_URL}/rollouts"
    )
    return 0 if is_good else 1


def warn_of_kept_cases(store: Store, published: Published) -> JsonObject:
    """Run the cases kept for a name under its version; return the counts and ``failing``, the cases that do not hold.

    Those, or that the cases cannot be run, are a warning and keep nobody from publishing: who changes a reward on
    purpose changes what a case should say, too.
    """
    from rewards_lib.executor import Executor
    from rewards_lib.regression_cases import run_cases, stored_cases

    version = published.version
    told: JsonObject = {"held": 0, "failed": 0, "failing": [], "error": ""}
    try:
        cases = list(stored_cases(store, f"{version.kind}:{version.name}").values())
        if not cases:
            return told
        with Executor() as executor:
            result = run_cases(cases, published.mix, resolve=published.resolve, executor=executor)
    except RewardConsoleError as error:
        print(f"Warning: the regression cases could not be run. {error}", file=sys.stderr)
        return told | {"error": str(error)}
    if result["failed"]:
        print(f'Warning: {result["error"]} It is published all the same; "cases" says why.', file=sys.stderr)
    failing = [row for row in result["cases"] if not row["holds"]]
    return told | {"held": result["held"], "failed": result["failed"], "failing": failing, "error": result["error"]}


def _cases(named: str) -> tuple[list[Case], str]:
    """The cases of a file, or of a scorer in the store, and that scorer; empty where the file's cases name none."""
    from rewards_lib.regression_cases import find_scorer, read_cases, stored_cases
    from rewards_lib.store import Store

    path = Path(named)
    if path.is_file():
        cases = read_cases(read_text(path), name=path.name)
        scorers = {case.scorer for case in cases}
        return cases, scorers.pop() if len(scorers) == 1 else ""
    store = Store()
    scorer = find_scorer(store, named)
    return list(stored_cases(store, scorer).values()), scorer


def _stored(scorer: str) -> tuple[Mix, FunctionResolver]:
    """The draft of a mix or a function as it stands, else its latest version, and the resolver for its functions."""
    from rewards_lib.function_sources import resolver
    from rewards_lib.mix import Mix, Rule, mix_from_json
    from rewards_lib.store import Store

    kind, _, name = scorer.partition(":")
    if kind == "function":
        return Mix(name=name, rules=(Rule(name=name, function=name),)), resolver(store=Store)
    store = Store()
    draft = store.find_draft("mix", name)
    content = draft.content if draft else store.load_version("mix", name).content
    return mix_from_json(content | {"name": name}), resolver(store=Store)
