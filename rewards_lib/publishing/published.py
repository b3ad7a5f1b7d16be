"""Versions as they are served: found by name or ``name@number``, and made ready to score.

Invariant: a withdrawn version is never handed out for serving.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from rewards_lib.contract import JsonObject
from rewards_lib.errors import InputError, NotFoundError
from rewards_lib.function_sources import from_content, function_alone
from rewards_lib.mix import Mix, mix_from_json, mix_version
from rewards_lib.publishing.freezing import mix_file_of, pinned_functions
from rewards_lib.scoring import FunctionResolver
from rewards_lib.store import Kind, Store, Version, WithdrawnError, read_reference

KINDS: tuple[Kind, ...] = ("mix", "function")
NEAREST = 5


@dataclass(frozen=True, slots=True)
class Published:
    """A version with everything at hand that scoring under it needs."""

    version: Version
    mix: Mix
    """The mix; a function alone is a mix of one rule with weight 1."""
    resolve: FunctionResolver
    """Finds the functions that were frozen with it."""
    mix_version: str
    """What results name: equal for equal rewards, whatever the number."""

    @property
    def label(self) -> str:
        """``name@number``."""
        return self.version.label


def find_published(store: Store, reference: str) -> Version:
    """The version that is served under ``name`` (the newest not withdrawn) or ``name@number``.

    Raises InputError for what is no reference, NotFoundError that names the nearest names, and WithdrawnError.
    """
    name, number = read_reference(reference)
    try:
        own = [version for kind in KINDS for version in store.versions(kind, name)]
    except InputError:  # what the store takes for no name at all is one that it does not have
        own = []
    if not own:
        raise _unknown(store, name)
    wanted = [version for version in own if number in (None, version.number)]
    if not wanted:
        numbers = ", ".join(str(version.number) for version in reversed(own))
        raise NotFoundError(
            "{name} has no version {number}.", name=name, number=number, remedy="There are: {numbers}.", numbers=numbers
        )
    served = [version for version in wanted if version.withdrawn_at is None]
    if not served:
        raise WithdrawnError(
            "{reference} was withdrawn and is not served.", reference=reference,
            remedy="Name another version, or publish a new one.",
        )  # fmt: skip
    return max(served, key=lambda version: version.number)


def published_names(store: Store) -> list[str]:
    """The names under which something is published, withdrawn versions included, in order."""
    return sorted({version.name for kind in KINDS for version in store.versions(kind)})


def open_version(version: Version) -> Published:
    """Make a version ready to score. Raises InputError when this console does not know what it holds."""
    return Published(version, *open_content(version.kind, version.name, version.content, label=f"v{version.number}"))


def open_content(kind: Kind, name: str, content: JsonObject, *, label: str) -> tuple[Mix, FunctionResolver, str]:
    """Make the content of a version, or of what may become one, ready to score: mix, resolver, and ``mix_version``.

    ``label`` is how results call a function's version. Raises InputError as ``open_version`` does.
    """
    if kind == "function":
        found = from_content(name, content, version=label)
        mix, resolve = function_alone(name, found)
        return mix, resolve, mix_version(mix, {name: found.sha256})
    mix = read_version_mix(content)
    functions = pinned_functions(content)
    hashes = {rule: one.sha256 for rule, one in functions.items()}
    return mix, lambda rule: functions[rule.name], mix_version(mix, hashes)


def read_version_mix(content: JsonObject) -> Mix:
    """The mix of a mix version's content."""
    return mix_from_json(mix_file_of(content))


def _unknown(store: Store, name: str) -> NotFoundError:
    names = published_names(store)
    near = difflib.get_close_matches(name, names, n=NEAREST, cutoff=0.4) or names[:NEAREST]
    if not near:
        return NotFoundError("Nothing is published under the name {name}.", name=name, remedy="Nothing is yet.")
    return NotFoundError(
        "Nothing is published under the name {name}.", name=name, remedy="The nearest names are: {names}.",
        names=", ".join(near),
    )  # fmt: skip
