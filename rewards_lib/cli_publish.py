"""The commands around versions: ``publish``, ``versions``, ``export``, ``import``, ``serve``, ``load-test``.

Invariant: standard output holds the JSON result alone.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rewards_lib.cli_cases import warn_of_kept_cases
from rewards_lib.cli_options import Commands, add_allow_host, add_secret
from rewards_lib.cli_output import CONSOLE_URL, print_next, print_result
from rewards_lib.errors import InputError
from rewards_lib.strict_json import read_text

if TYPE_CHECKING:
    from rewards_lib.store import Kind, Store, Version

KINDS: tuple[Kind, ...] = ("mix", "function")


def add_publish_commands(commands: Commands) -> None:
    """Register the commands of this module."""
    for add in (_add_publish, _add_versions, _add_export, _add_import, _add_serve, _add_load_test):
        add(commands)


# --- publish -------------------------------------------------------------------------------------------------------


def _add_publish(commands: Commands) -> None:
    command = commands.add_parser(
        "publish",
        help="make an immutable version that the service answers for",
        description="Keep a function or a mix, its functions included, under the next number of a name. What is "
        "published already is not published again. Regression cases that the console keeps for the name are run, and "
        "those that do not hold are a warning: the exit status stays 0.",
    )
    command.add_argument("--name", required=True, metavar="NAME", help="the address: /rewards/NAME")
    what = command.add_mutually_exclusive_group(required=True)
    what.add_argument("--function", type=Path, metavar="F.py", help="a file with reward_fn")
    what.add_argument("--mix", type=Path, metavar="M.json", help="a mix file")
    command.add_argument("--requirements", type=Path, metavar="R.txt", help="the function's requirements")
    command.add_argument("--note", default="", metavar="TEXT", help="what changed")
    add_allow_host(command)
    add_secret(command)
    command.set_defaults(run=_publish)


def _publish(options: argparse.Namespace) -> int:
    from rewards_lib.publishing import open_version
    from rewards_lib.store import Store

    for flag, value in (("--requirements", options.requirements), ("--secret", options.secret)):
        if value and options.mix:
            raise InputError(
                "This flag does nothing here.", where=flag, remedy="The functions of a mix have their own."
            )
    store = Store()
    version = _published(store, options)
    published = open_version(version)
    row = {"status": "success", **_version_row(version), "mix_version": published.mix_version}
    print_result(row | {"repeated": version.repeated, "cases": warn_of_kept_cases(store, published)})
    print_next(
        f"python -m rewards_lib serve, then POST to http://127.0.0.1:8601/rewards/{version.name}; "
        f"or python -m rewards_lib export --name {version.name} --target verl --out DIR"
    )
    return 0


def _published(store: Store, options: argparse.Namespace) -> Version:
    from rewards_lib.function_sources import read_function, resolver
    from rewards_lib.mix import read_mix
    from rewards_lib.publishing import function_content, publish_function, publish_mix

    if options.mix:
        mix = read_mix(read_text(options.mix))
        resolve = resolver(folder=options.mix.parent, store=lambda: store, allow_hosts=options.allow_host)
        return publish_mix(store, options.name, mix, resolve, note=options.note)
    found = read_function(options.function, requirements=options.requirements)
    secrets = tuple((name, None) for name in options.secret)
    found = replace(found, source=replace(found.source, allow_hosts=tuple(options.allow_host), secrets=secrets))
    return publish_function(store, options.name, function_content(found), note=options.note)


# --- versions ------------------------------------------------------------------------------------------------------


def _add_versions(commands: Commands) -> None:
    command = commands.add_parser(
        "versions",
        help="what is published, and what differs",
        description="List the versions of a name or of all names; compare two, withdraw one, or make one the draft.",
    )
    command.add_argument("name", nargs="?", metavar="NAME")
    deed = command.add_mutually_exclusive_group()
    deed.add_argument("--diff", nargs=2, type=int, metavar=("A", "B"), help="what changed from version A to version B")
    deed.add_argument("--withdraw", type=int, metavar="N", help="serve version N no longer")
    deed.add_argument("--restore", type=int, metavar="N", help="make version N the draft of that name")
    command.set_defaults(run=_versions)


def _versions(options: argparse.Namespace) -> int:
    from rewards_lib.store import Store

    store = Store()
    if options.name is None:
        if any(value is not None for value in (options.diff, options.withdraw, options.restore)):
            raise InputError("Which name is meant?", where="versions", remedy="Write versions NAME and the flag.")
        print_result({"versions": [_version_row(version) for kind in KINDS for version in store.versions(kind)]})
        print_next(f"see them on {CONSOLE_URL}/publish")
        return 0
    own = _versions_of(store, options.name)
    if options.diff:
        old, new = (_number(own, options.name, number) for number in options.diff)
        print_result(_difference(old, new))
    elif options.withdraw is not None:
        version = _number(own, options.name, options.withdraw)
        print_result({"status": "success", **_version_row(store.withdraw(version.kind, version.name, version.number))})
    elif options.restore is not None:
        print_result(_restored(store, _number(own, options.name, options.restore)))
    else:
        print_result({"versions": [_version_row(version) for version in own]})
    return 0


def _versions_of(store: Store, name: str) -> list[Version]:
    from rewards_lib.publishing import find_published

    own = [version for kind in KINDS for version in store.versions(kind, name)]
    return own or [find_published(store, name)]  # which raises, and says which names there are


def _number(versions: list[Version], name: str, number: int) -> Version:
    from rewards_lib.errors import NotFoundError

    for version in versions:
        if version.number == number:
            return version
    raise NotFoundError("{name} has no version {number}.", name=name, number=number)


def _difference(old: Version, new: Version) -> dict[str, Any]:
    from rewards_lib.publishing import changes_between

    changes = changes_between(old.content, new.content)
    return {
        "name": new.name, "from": old.number, "to": new.number,
        "changes": [change.to_json() for change in changes], "told": [str(change.told) for change in changes],
    }  # fmt: skip


def _restored(store: Store, version: Version) -> dict[str, Any]:
    from rewards_lib.publishing import restore

    restored = restore(store, version)
    draft = restored.draft
    return {"status": "success", "name": draft.name, "kind": draft.kind, "restored": version.number,
            "sha256": draft.sha256, "draft_kept_as": restored.kept}  # fmt: skip


def _version_row(version: Version) -> dict[str, Any]:
    """A version as the command line prints it."""
    gone = version.withdrawn_at
    return {
        "name": version.name, "version": version.number, "kind": version.kind, "sha256": version.sha256,
        "note": version.note, "published_at": version.published_at.isoformat(),
        "withdrawn_at": gone.isoformat() if gone else None,
    }  # fmt: skip


# --- export, import ------------------------------------------------------------------------------------------------


def _add_export(commands: Commands) -> None:
    command = commands.add_parser(
        "export",
        help="a version as a folder that a trainer runs",
        description="Write a published version as a folder that runs on a trainer without the console, with a smoke "
        "test. Targets: ark, verl, trl, openrlhf, slime, ms-swift, verifiers.",
    )
    command.add_argument("--name", required=True, metavar="NAME", help="a published name, or name@number")
    command.add_argument("--target", required=True, metavar="T", help="the trainer")
    command.add_argument("--out", required=True, type=Path, metavar="DIR", help="a new folder, or an earlier export")
    command.set_defaults(run=_export)


def _export(options: argparse.Namespace) -> int:
    from rewards_lib.executor import Executor
    from rewards_lib.interop import export_version
    from rewards_lib.publishing import find_published, open_version
    from rewards_lib.store import Store

    published = open_version(find_published(Store(), options.name))
    with Executor() as executor:
        exported = export_version(published, options.target, options.out, executor=executor)
    print_result(
        {
            "status": "success", "name": published.version.name, "version": published.version.number,
            "target": options.target, "out": str(exported.folder), "files": list(exported.files),
            "findings": [str(finding) for finding in exported.findings],
        }
    )  # fmt: skip
    for finding in exported.findings:
        print(f"Note: {finding}", file=sys.stderr)
    print_next(f"python {options.out}/smoke_test.py; {options.out}/README.md has the trainer's flags")
    return 0


def _add_import(commands: Commands) -> None:
    command = commands.add_parser(
        "import",
        help="a trainer's reward function as a draft",
        description="Make a draft of a function for TRL, verl, OpenRLHF or Ark, and list what was adapted; a file of a "
        "folder that was exported here gives back what was published.",
    )
    command.add_argument("file", type=Path, metavar="FILE")
    command.add_argument(
        "--from", dest="origin", choices=("trl", "verl", "openrlhf", "ark"), help="the trainer, where guessing is wrong"
    )
    command.add_argument("--name", metavar="NAME", help="the draft's name")
    command.set_defaults(run=_import)


def _import(options: argparse.Namespace) -> int:
    from rewards_lib.interop import import_file, keep_import
    from rewards_lib.store import Store

    imported = import_file(options.file, options.origin)
    draft = keep_import(Store(), imported, name=options.name)
    print_result(
        {
            "status": "success", "name": draft.name, "kind": draft.kind, "from": imported.origin,
            "adapted": [str(one) for one in imported.told], "findings": [one.to_json() for one in imported.findings],
            "source": draft.content.get("source"),
        }
    )  # fmt: skip
    print_next(f"open {draft.name} on {CONSOLE_URL}/{'functions' if draft.kind == 'function' else 'compose'}")
    return 0


# --- serve ---------------------------------------------------------------------------------------------------------


def _add_serve(commands: Commands) -> None:
    command = commands.add_parser(
        "serve",
        help="the reward service over the published versions",
        description="Answer POST /rewards/NAME, /openrlhf/NAME and /slime/NAME until told to stop. Loopback, unless a "
        "host and, in REWARD_CONSOLE_TOKEN, a token are given. What is published later is served at once.",
    )
    command.add_argument("--host", default="127.0.0.1", metavar="H", help="the address to listen on (127.0.0.1)")
    command.add_argument("--port", type=int, metavar="P", help="the port to listen on (8601)")
    command.add_argument(
        "--trusted-host", action="append", default=[], metavar="H", help="a name requests may call this host by"
    )
    command.add_argument("--at-once", type=int, metavar="N", help="requests scored at the same time")
    command.add_argument("--most-waiting", type=int, default=256, metavar="N", help="requests that may wait (256)")
    command.add_argument("--with-parent", action="store_true", help="end when the process that started this one ends")
    command.add_argument("--code-judge", action="store_true", help="answer the code judge's /submit and /run_code too")
    add_allow_host(command, told="a host that tests for the code judge may be fetched from")
    command.set_defaults(run=_serve)


def _serve(options: argparse.Namespace) -> int:
    import os

    from rewards_lib.serving import TOKEN_VARIABLE, ServiceSettings, usual_port
    from rewards_lib.serving.server import serve

    settings = ServiceSettings(
        host=options.host, port=usual_port() if options.port is None else options.port,
        token=os.environ.get(TOKEN_VARIABLE, "").strip(),
        trusted_hosts=tuple(options.trusted_host), most_waiting=options.most_waiting,
        code_judge_hosts=tuple(options.allow_host) if options.code_judge else None,
    )  # fmt: skip
    if options.at_once is not None:
        settings = replace(settings, at_once=options.at_once)
    if settings.at_once < 1 or settings.most_waiting < 0:
        raise InputError("At least one request must be scored at a time.", where="--at-once, --most-waiting")

    def tell() -> None:
        print_result({"status": "success", "address": settings.url, "pid": os.getpid()})
        print_next(f"POST to {settings.url}/rewards/NAME; {settings.url}/docs lists all. Ctrl+C stops it.")

    serve(settings.checked(), on_listening=tell, with_parent=options.with_parent)
    return 0


# --- load-test -----------------------------------------------------------------------------------------------------


def _add_load_test(commands: Commands) -> None:
    command = commands.add_parser(
        "load-test",
        help="the load of a training step against a running service",
        description="Send the requests of some training steps to a service and print times, errors and what limits.",
    )
    command.add_argument("--name", required=True, metavar="NAME", help="a published name, or name@number")
    command.add_argument(
        "--payload", type=Path, required=True, metavar="P.json", help="a request to send again and again"
    )
    command.add_argument("--url", metavar="U", help="the service (the one on this machine)")
    command.add_argument("--batch-size", type=int, default=32, metavar="N", help="prompts of a step (32)")
    command.add_argument("--completions", type=int, default=8, metavar="N", help="completions of a prompt (8)")
    command.add_argument("--concurrency", type=int, default=8, metavar="N", help="requests at once (8)")
    command.add_argument("--steps", type=int, default=3, metavar="N", help="steps (3)")
    command.set_defaults(run=_load_test)


def _load_test(options: argparse.Namespace) -> int:
    import os

    from rewards_lib.payloads import read_payload
    from rewards_lib.serving import TOKEN_VARIABLE, ServiceSettings, usual_port
    from rewards_lib.serving.load_test import LoadPlan, run_load_test

    plan = LoadPlan(
        options.url or ServiceSettings(port=usual_port()).url, options.name,
        read_payload(read_text(options.payload), name=options.payload.name),
        batch_size=options.batch_size, completions=options.completions, concurrency=options.concurrency,
        steps=options.steps, token=os.environ.get(TOKEN_VARIABLE, "").strip(),
    )  # fmt: skip
    result = run_load_test(plan, lambda done, total: print(f"{done}/{total}", file=sys.stderr, flush=True))
    print_result(result)
    return 0 if result["status"] == "success" else 1
