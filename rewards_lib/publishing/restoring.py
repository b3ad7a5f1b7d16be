"""Bringing a version back into a draft, its functions included.

Invariant: nothing that is being edited is overwritten unseen; a restored mix earns what its version earns.
"""

from __future__ import annotations

from rewards_lib.contract import JsonObject
from rewards_lib.publishing.freezing import FUNCTIONS, mix_file_of, stored_name
from rewards_lib.store import Draft, Store, Version, free_names

_CONTENT_KEYS = ("source", "requirements", "allow_hosts", "secrets", "limits")


def restore(store: Store, version: Version, *, base_revision: int | None) -> Draft:
    """Make a version's content, withdrawn or not, the draft of its name, and return that draft.

    A mix names its functions; where a function's draft is no longer what the version froze, the restored mix names
    the published version that equals it, and where none does, a draft made for it. Raises DraftConflict as
    ``Store.save_draft`` does.
    """
    content = draft_content(store, version.content)
    return store.save_draft(version.kind, version.name, content, base_revision=base_revision)


def draft_content(store: Store, content: JsonObject) -> JsonObject:
    """What a version's content is as a draft, after the store was given the functions of a mix that it lacks."""
    if "rules" not in content:
        return content
    frozen = content.get(FUNCTIONS, {})
    rules = []
    for rule in mix_file_of(content)["rules"]:
        row = dict(rule)
        if rule["name"] in frozen:
            row["function"] = _reference_to(store, str(rule["function"]), frozen[rule["name"]])
        rules.append(row)
    return mix_file_of(content) | {"rules": rules}


def _reference_to(store: Store, reference: str, frozen: JsonObject) -> str:
    """The name under which the store has a frozen function, after it was given one where it had none."""
    wanted = {key: frozen[key] for key in _CONTENT_KEYS if key in frozen}
    name = stored_name(reference)
    draft = store.find_draft("function", name)
    if draft is not None and _same(draft.content, wanted):
        return name
    for version in store.versions("function", name):
        if _same(version.content, wanted) and version.withdrawn_at is None:
            return version.label
    return _keep(store, name, wanted)


def _keep(store: Store, name: str, content: JsonObject) -> str:
    """Save a content as a draft under the first free name, or find it there from an earlier restore."""
    for free in free_names(name):
        draft = store.find_draft("function", free)
        if draft is None:
            store.save_draft("function", free, content, base_revision=None)
        if draft is None or _same(draft.content, content):
            break
    return free


def _same(one: JsonObject, other: JsonObject) -> bool:
    return all((one.get(key) or None) == (other.get(key) or None) for key in _CONTENT_KEYS)
