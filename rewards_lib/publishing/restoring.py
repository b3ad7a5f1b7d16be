"""Bringing a version back into a draft, its functions included.

Invariant: no text that was never published is lost; a restored mix earns what its version earns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rewards_lib.contract import JsonObject
from rewards_lib.publishing.freezing import FUNCTIONS, mix_file_of, stored_name
from rewards_lib.store import Draft, Kind, Store, Version, free_names

_CONTENT_KEYS = ("source", "requirements", "allow_hosts", "secrets", "limits")


@dataclass(frozen=True, slots=True)
class Restored:
    """What came of a restoring."""

    draft: Draft
    kept: str | None
    """The name under which the draft that stood there was kept, for it is published nowhere; else None."""


def restore(store: Store, version: Version) -> Restored:
    """Make a version's content, withdrawn or not, the draft of its name.

    A mix names its functions; where a function's draft is no longer what the version froze, the restored mix names
    the published version that equals it, and where none does, a draft made for it. Raises DraftConflict when somebody
    saves that draft at the same moment.
    """
    present = store.find_draft(version.kind, version.name)
    content = draft_content(store, version.content)
    revision = present.revision if present is not None else None
    draft = store.save_draft(version.kind, version.name, content, base_revision=revision)
    if present is None or present.content == content or _is_published(store, present):
        return Restored(draft, None)
    return Restored(draft, _keep(store, version.kind, version.name, present.content))


def _is_published(store: Store, draft: Draft) -> bool:
    versions = store.versions(draft.kind, draft.name)
    return any(_same(draft.kind, draft.content, mix_file_of(version.content)) for version in versions)


def draft_content(store: Store, content: JsonObject) -> JsonObject:
    """What a version's content is as a draft, after the store was given the functions of a mix that it lacks."""
    if "rules" not in content:
        return content
    frozen = content.get(FUNCTIONS, {})
    rules = []
    for rule in mix_file_of(content)["rules"]:
        row = dict(rule)
        if rule["name"] in frozen:
            row["function"] = _reference_to(store, rule, frozen[rule["name"]])
        rules.append(row)
    return mix_file_of(content) | {"rules": rules}


def _reference_to(store: Store, rule: JsonObject, frozen: JsonObject) -> str:
    """The name under which the store has a rule's frozen function, after it was given one where it had none.

    The rule's own hosts are frozen with the function's.
    """
    wanted = {key: frozen[key] for key in _CONTENT_KEYS if key in frozen}
    name, hosts = stored_name(str(rule["function"])), rule.get("allow_hosts", ())
    draft = store.find_draft("function", name)
    if draft is not None and _same("function", draft.content, wanted, hosts):
        return name
    for version in store.versions("function", name):
        if _same("function", version.content, wanted, hosts) and version.withdrawn_at is None:
            return version.label
    return _keep(store, "function", name, wanted)


def _keep(store: Store, kind: Kind, name: str, content: JsonObject) -> str:
    """Save a content as a draft under the first free name, or find it there from an earlier restore."""
    for free in free_names(name):
        draft = store.find_draft(kind, free)
        if draft is None:
            store.save_draft(kind, free, content, base_revision=None)
        if draft is None or _same(kind, draft.content, content):
            break
    return free


def _same(kind: Kind, one: JsonObject, other: JsonObject, more_hosts: Sequence[str] = ()) -> bool:
    if kind != "function":
        return one == other
    hosts = {*(one.get("allow_hosts") or ()), *more_hosts} == {*(other.get("allow_hosts") or ())}
    others = [key for key in _CONTENT_KEYS if key != "allow_hosts"]
    return hosts and all((one.get(key) or None) == (other.get(key) or None) for key in others)
