"""What rollouts are scored with: a mix that is being composed, a published version, or a mix file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from components import cache, state
from components.i18n import _
from components.mix_draft import MAX_FILE_MB, open_mix
from components.shell import show_failure
from rewards_lib.errors import RewardConsoleError
from rewards_lib.function_sources import resolver
from rewards_lib.mix import Mix, mix_version, read_mix
from rewards_lib.publishing import open_version
from rewards_lib.scoring import FunctionResolver, ResolvedFunction
from rewards_lib.strict_json import write_json

FILE = "file"


@dataclass(frozen=True)
class Scorer:
    """A mix with its functions as they are now: what a job takes along."""

    mix: Mix
    functions: Mapping[str, ResolvedFunction]
    label: str
    """``math · draft 7f3a``, ``math · v2`` or ``mix.json``."""
    case_key: str
    """The name that regression cases are kept under."""

    @property
    def version(self) -> str:
        """The fingerprint of everything that decides a reward."""
        by_rule = {rule.name: self.functions[rule.function].sha256 for rule in self.mix.rules if rule.function}
        return mix_version(self.mix, by_rule)


def choose_scorer(*, key: str) -> Scorer | None:
    """Draw the choice and return what was chosen; None, with the reason shown, when it cannot score."""
    open_mix()  # there is always one: the example, where nothing was composed yet
    options = _options()
    before = st.query_params.get("mix") or f"mix:{state.mix_name.get()}"
    chosen = st.selectbox(
        _("Score with"), list(options), index=list(options).index(before) if before in options else 0,
        format_func=options.__getitem__, key=f"{key}_scorer", width=300, persist_state="session",
    )  # fmt: skip
    if chosen == FILE:
        _mix_file(key)
    try:
        return find_scorer(chosen)
    except RewardConsoleError as error:
        show_failure(error)
        return None


def _options() -> dict[str, str]:
    store = cache.store()
    drafts = {f"mix:{one.name}": _("mix {name} · draft", name=one.name) for one in store.list_drafts("mix")}
    versions = {
        f"version:{one.name}@{one.number}": _("mix {name} · v{number}", name=one.name, number=one.number)
        for one in store.versions("mix") if one.withdrawn_at is None
    }  # fmt: skip
    return drafts | versions | {FILE: _("a mix file …")}


def _mix_file(key: str) -> None:
    file = st.file_uploader("mix.json", type=["json"], max_upload_size=MAX_FILE_MB, key=f"{key}_mix_file")
    if file is not None:
        state.rollout_mix_file.set((file.name, file.getvalue().decode("utf-8", "replace")))


def find_scorer(chosen: str) -> Scorer | None:
    """The scorer that an option names; None while a mix file is still to be dropped.

    Raises InputError, NotFoundError or StoreError when it cannot be used.
    """
    kind, _colon, name = chosen.partition(":")
    if kind == FILE:
        given = state.rollout_mix_file.get()
        if given is None:
            return None
        mix = read_mix(given[1])
        return _with_functions(mix, given[0], f"mix:{mix.name}", resolver(store=cache.store))
    if kind == "version":
        named, _at, number = name.rpartition("@")
        published = open_version(cache.store().load_version("mix", named, int(number)))
        return _with_functions(published.mix, f"{named} · v{number}", f"mix:{named}", published.resolve)
    draft = cache.store().load_draft("mix", name)
    mix = read_mix(write_json(draft.content | {"name": name}))
    label = f"{name} · {_('draft')} {draft.sha256[:4]}"
    return _with_functions(mix, label, f"mix:{name}", resolver(store=cache.store))


def _with_functions(mix: Mix, label: str, case_key: str, resolve: FunctionResolver) -> Scorer:
    functions = {rule.function: resolve(rule) for rule in mix.rules if rule.function}
    return Scorer(mix, functions, label, case_key)
