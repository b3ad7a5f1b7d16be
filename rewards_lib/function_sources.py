"""Where the code of a rule's function comes from: a file beside the mix, or the store.

A reference is a path (``reward.py``), the name of a stored function (its draft as it stands, else its latest
version), or ``name@version``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from rewards_lib.contract import JsonObject
from rewards_lib.errors import InputError, NotFoundError
from rewards_lib.executor import FunctionSource, limits_from
from rewards_lib.mix import Mix, Rule
from rewards_lib.scoring import FunctionResolver, ResolvedFunction
from rewards_lib.store import Store, read_reference
from rewards_lib.store.secrets import find_secret
from rewards_lib.strict_json import read_text


def resolver(
    *, folder: Path | None = None, store: Callable[[], Store] | None = None, allow_hosts: Sequence[str] = (),
    secrets: Sequence[tuple[str, str | None]] = (),
) -> FunctionResolver:  # fmt: skip
    """Find functions as files below ``folder`` first, then in the store, which is opened when it is first needed.

    ``allow_hosts`` and ``secrets`` are given to every function on top of what it has of its own. The resolver raises
    NotFoundError for a reference that leads nowhere and InputError for a file that cannot be read.
    """

    def resolve(rule: Rule) -> ResolvedFunction:
        reference = rule.function or ""
        path = folder / reference if folder else None
        found = read_function(path) if path and path.is_file() else _stored(reference, folder, store)
        requirements = found.source.requirements
        if rule.requirements and folder:
            requirements = read_text(folder / rule.requirements)
        hosts = (*found.source.allow_hosts, *rule.allow_hosts, *allow_hosts)
        return replace(
            found,
            source=replace(
                found.source,
                requirements=requirements,
                allow_hosts=tuple(dict.fromkeys(hosts)),
                secrets=tuple((dict(found.source.secrets) | dict(secrets)).items()),
            ),
        )

    return resolve


def read_function(path: Path, *, requirements: Path | None = None) -> ResolvedFunction:
    """Read a function from a file. Raises InputError when it cannot be read."""
    source = FunctionSource(read_text(path), requirements=read_text(requirements) if requirements else "")
    return ResolvedFunction(source, version=f"{path.name} · {fingerprint(source.source)}")


def function_alone(name: str, found: ResolvedFunction) -> tuple[Mix, FunctionResolver]:
    """A mix of one function with weight 1, and the resolver that finds it."""
    return Mix(name=name, rules=(Rule(name=name, function=name),)), lambda _rule: found


def from_content(name: str, content: JsonObject, *, version: str) -> ResolvedFunction:
    """Make a function of what the store keeps: ``{"source", "requirements", "allow_hosts", "secrets"?, "limits"?}``.

    ``secrets`` are names; the values are looked up here, and one that is not set fails the run, not this call.
    """
    source = FunctionSource(
        source=str(content.get("source", "")),
        requirements=str(content.get("requirements", "")),
        allow_hosts=tuple(content.get("allow_hosts", ())),
        secrets=tuple((str(entry), secret_or_none(str(entry))) for entry in content.get("secrets", ())),
    )
    limits = limits_from(content) if content.get("limits") else None
    return ResolvedFunction(source, version=f"{name} · {version}", limits=limits)


def secret_or_none(name: str) -> str | None:
    """The value of a secret; None where it is not set or cannot be read."""
    try:
        return find_secret(name)
    except (NotFoundError, InputError):
        return None


def draft_version(content: JsonObject) -> str:
    """Name the state of a draft: ``draft 7f3a9c``."""
    return f"draft {fingerprint(str(content.get('source', '')))}"


def fingerprint(text: str) -> str:
    """Six characters that tell one text from another."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:6]


def _stored(reference: str, folder: Path | None, opened: Callable[[], Store] | None) -> ResolvedFunction:
    name, _, _number = reference.partition("@")
    if folder and (opened is None or name.endswith(".py") or "/" in name):
        raise NotFoundError("There is no file {reference} in {folder}.", reference=reference, folder=str(folder))
    if opened is None:
        raise NotFoundError("There is no function {reference}.", reference=reference)
    store = opened()
    name, number = read_reference(reference)
    if number is not None:
        version = store.load_version("function", name, number)
        return from_content(name, version.content, version=f"v{version.number}")
    draft = store.find_draft("function", name)
    if draft:
        return from_content(name, draft.content, version=draft_version(draft.content))
    version = store.load_version("function", name)
    return from_content(name, version.content, version=f"v{version.number}")
