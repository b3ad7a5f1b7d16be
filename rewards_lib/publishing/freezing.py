"""Making versions: what goes into one, and what keeps a text from becoming one.

A function's version is ``{"source", "requirements", "allow_hosts", "secrets"?, "limits"?}``, secrets by name; a mix's
is its mix file with ``"functions"``, the content of each function by the name of its rule, as it was then.
"""

from __future__ import annotations

import re
from dataclasses import asdict

from rewards_lib.contract import JsonObject
from rewards_lib.errors import InputError, StoreError
from rewards_lib.executor import check_once
from rewards_lib.executor.limits import RANGES
from rewards_lib.function_sources import fingerprint, from_content
from rewards_lib.mix import Mix, mix_to_json
from rewards_lib.scoring import FunctionResolver, ResolvedFunction
from rewards_lib.store import Kind, Store, Version

FUNCTIONS = "functions"
"""The key of a mix's version that holds its functions."""


def function_content(found: ResolvedFunction) -> JsonObject:
    """A function as the store keeps it: code, requirements, hosts, the names of its secrets, its author's limits."""
    content: JsonObject = {
        "source": found.source.source,
        "requirements": found.source.requirements,
        "allow_hosts": list(found.source.allow_hosts),
    }
    if found.source.secrets:
        content["secrets"] = sorted(name for name, _value in found.source.secrets)  # the values stay where they are
    if found.limits is not None:
        content["limits"] = {name: value for name, value in asdict(found.limits).items() if name in RANGES}
    return content


def freeze_mix(mix: Mix, resolve: FunctionResolver) -> JsonObject:
    """The content of a mix's version: the mix file, and every function as ``resolve`` finds it now.

    Raises InputError or NotFoundError when a function cannot be found.
    """
    content, functions = mix_to_json(mix), {}
    for rule, row in zip(mix.rules, content["rules"], strict=True):
        if rule.function is None:
            continue
        found = resolve(rule)
        row["function"] = stored_name(rule.function)
        row.pop("requirements", None)  # a path beside the mix file; what it held is frozen with the function
        label = f"{row['function']} · {fingerprint(found.source.source)}"
        functions[rule.name] = function_content(found) | {"version": label}
    return content | ({FUNCTIONS: functions} if functions else {})


def stored_name(reference: str) -> str:
    """The name under which the store would have a function that a mix refers to.

    >>> stored_name("functions/reward.py"), stored_name("reward@3")
    ('reward', 'reward')
    """
    stem = reference.partition("@")[0].rsplit("/", 1)[-1].removesuffix(".py")
    return re.sub(r"[^\w.-]+", "_", stem).strip("_.-") or "reward"


def mix_file_of(content: JsonObject) -> JsonObject:
    """The mix file within a version's content."""
    return {key: value for key, value in content.items() if key != FUNCTIONS}


def pinned_functions(content: JsonObject) -> dict[str, ResolvedFunction]:
    """The functions within a mix's version, by the name of their rule."""
    pinned = {}
    for name, row in content.get(FUNCTIONS, {}).items():
        told, _, version = str(row["version"]).rpartition(" · ")
        pinned[name] = from_content(told, row, version=version)
    return pinned


def publish_mix(store: Store, name: str, mix: Mix, resolve: FunctionResolver, *, note: str = "") -> Version:
    """Publish a mix under a name, its functions frozen with it.

    The same mix again is no second version (see ``Store.publish``). Raises as ``freeze_mix`` does, InputError for a
    function that the executor refuses to run, and StoreError when the name belongs to a published function.
    """
    _refuse_taken(store, "mix", name)
    content = freeze_mix(mix, resolve)
    for rule, function in content.get(FUNCTIONS, {}).items():
        _refuse_unusable(function["source"], where=rule)
    return store.publish("mix", name, content, note)


def publish_function(store: Store, name: str, content: JsonObject, *, note: str = "") -> Version:
    """Publish a function under a name.

    Raises InputError for a text that the executor refuses to run, and StoreError when the name belongs to a published
    mix.
    """
    _refuse_taken(store, "function", name)
    _refuse_unusable(str(content.get("source", "")), where=name)
    return store.publish("function", name, content, note)


def _refuse_taken(store: Store, kind: Kind, name: str) -> None:
    """One address, one thing: ``/rewards/{name}`` cannot be a mix and a function."""
    other: Kind = "function" if kind == "mix" else "mix"
    if store.versions(other, name):
        raise StoreError(
            "The name {name} belongs to a published {kind} already.", where=kind, name=name, kind=other,
            remedy="Choose another name: it is the address at which the service answers.",
        )  # fmt: skip


def _refuse_unusable(source: str, *, where: str) -> None:
    refused = [finding for finding in check_once(source) if finding.severity == "error"]
    if refused:
        raise InputError(
            "line {line}: {finding}", where=where, line=refused[0].line, finding=refused[0].message,
            remedy="A version never changes, so a text that cannot run is not published.",
        )  # fmt: skip
