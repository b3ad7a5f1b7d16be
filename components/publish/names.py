"""What can be published: every function and mix that has a draft or a version, and what differs."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from components import cache, state
from components.i18n import _
from components.mix_draft import open_mix
from rewards_lib.contract import JsonObject
from rewards_lib.errors import RewardConsoleError
from rewards_lib.function_sources import resolver
from rewards_lib.mix import Mix, read_mix
from rewards_lib.publishing import changes_between, freeze_mix
from rewards_lib.store import Kind, Version
from rewards_lib.strict_json import write_json

MAX_PILLS = 5


@dataclass(frozen=True)
class Publishable:
    """A name with its draft and its versions."""

    kind: Kind
    name: str
    draft: JsonObject | None
    """The draft as it would be published, its functions frozen; None where there is none or it is not valid yet."""
    problem: RewardConsoleError | None
    """Why the draft cannot be published."""
    versions: tuple[Version, ...]
    """The newest first."""

    @property
    def served(self) -> Version | None:
        """The version behind the bare name."""
        return next((version for version in self.versions if version.withdrawn_at is None), None)

    @property
    def next_number(self) -> int:
        """The number that the next version gets."""
        return self.versions[0].number + 1 if self.versions else 1

    @property
    def is_unchanged(self) -> bool:
        """Whether the draft is what the newest version holds."""
        newest = self.versions[0] if self.versions else None
        return bool(
            newest and newest.withdrawn_at is None and self.draft is not None
            and not changes_between(newest.content, self.draft)
        )  # fmt: skip


def known_names() -> list[tuple[Kind, str]]:
    """Everything with a version or a draft: what is published first, then mixes, then functions."""
    store = cache.store()
    kinds: tuple[Kind, ...] = ("mix", "function")
    published = {(version.kind, version.name) for kind in kinds for version in store.versions(kind)}
    drafted = {(draft.kind, draft.name) for kind in kinds for draft in store.list_drafts(kind)}
    return sorted(published | drafted, key=lambda one: (one not in published, kinds.index(one[0]), one[1]))


def read_mix_draft(name: str) -> Mix | None:
    """The mix that a draft describes; None when there is no draft. Raises InputError while it is not valid."""
    draft = cache.store().find_draft("mix", name)
    return read_mix(write_json(draft.content | {"name": name})) if draft else None


def look_up(kind: Kind, name: str) -> Publishable:
    """A name with its draft as it would be published now."""
    content: JsonObject | None = None
    problem: RewardConsoleError | None = None
    try:
        if kind == "mix":
            mix = read_mix_draft(name)
            content = freeze_mix(mix, resolver(store=cache.store)) if mix else None
        else:
            draft = cache.store().find_draft("function", name)
            content = draft.content if draft else None
    except RewardConsoleError as error:
        problem = error
    return Publishable(kind, name, content, problem, cache.store().versions(kind, name))


def chooser() -> Publishable:
    """Draw the names to choose from: pills while they fit, a box when there are more.

    On a first visit the example mix of Compose is there to be published.
    """
    if not known_names():
        open_mix()
    known = {f"{kind}:{name}": (kind, name) for kind, name in known_names()}
    current = state.published_name.get()
    if current not in known:
        current = next((key for key, (_kind, name) in known.items() if name == state.mix_name.get()), next(iter(known)))
    told = {key: f"{name} · {_state_of(kind, name)}" for key, (kind, name) in known.items()}
    widget_key = f"publish_name_{len(known)}"
    if len(known) <= MAX_PILLS:
        chosen = st.pills(
            _("Name"), list(known), default=current, required=True, format_func=told.__getitem__,
            label_visibility="collapsed", key=widget_key,
        )  # fmt: skip
    else:
        chosen = st.selectbox(
            _("Name"), list(known), index=list(known).index(current), format_func=told.__getitem__,
            label_visibility="collapsed", key=widget_key,
        )  # fmt: skip
    state.published_name.set(chosen)
    return look_up(*known[chosen])


def _state_of(kind: Kind, name: str) -> str:
    versions = cache.store().versions(kind, name)
    served = next((version for version in versions if version.withdrawn_at is None), None)
    if served:
        return _("v{number} served", number=served.number)
    return _("all withdrawn") if versions else _("draft only")
