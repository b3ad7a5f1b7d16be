"""The custom function that is being written: chosen, made from a template, renamed, deleted, published."""

from __future__ import annotations

import re
from collections.abc import Callable

import streamlit as st

from components import cache, drafts, examples, state
from components.i18n import _, explain
from components.kept_cases import warn_of_cases
from components.state import OpenDraft
from components.theme import plain
from rewards_lib.errors import RewardConsoleError
from rewards_lib.publishing import publish_function
from rewards_lib.store import Version, free_names

FIRST = "boxed_number"
MAX_PILLS = 6


def open_function() -> OpenDraft:
    """The function of this session: the one saved last, or the first template on the first visit."""
    name = state.function_name.get() or drafts.latest_name("function") or FIRST
    state.function_name.set(name)
    template = examples.functions().get(name, examples.functions()["blank"])
    draft = drafts.open_draft("function", name, lambda: template)
    drafts.autosave(draft, draft.content)  # a template becomes a draft at first sight, so that a mix can name it
    return draft


def names() -> list[str]:
    """The functions that have a draft, by name."""
    return sorted(
        {draft.name for draft in cache.store().list_drafts("function")} | {state.function_name.get() or FIRST}
    )


def chooser() -> None:
    """Draw the functions to choose from: pills while they fit, a box when there are more."""
    known, current = names(), state.function_name.get()
    told = {name: f"{name} · {_state_of(name)}" for name in known}
    key = f"function_choice_{len(known)}_{current}"
    index = known.index(current) if current in known else 0
    if len(known) <= MAX_PILLS:
        chosen = st.pills(
            _("Function"),
            known,
            default=known[index],
            required=True,
            format_func=told.__getitem__,
            label_visibility="collapsed",
            key=key,
        )
    else:
        chosen = st.selectbox(
            _("Function"), known, index=index, format_func=told.__getitem__, label_visibility="collapsed", key=key
        )
    if chosen and chosen != current:
        state.function_name.set(chosen)
        st.rerun()


def _state_of(name: str) -> str:
    versions = versions_of(name)
    if not versions:
        return _("draft")
    latest = versions[-1]
    draft = cache.store().find_draft("function", name)
    same = draft is not None and draft.sha256 == latest.sha256
    return f"v{latest.number}" if same else _("draft over v{number}", number=latest.number)


def versions_of(name: str) -> list[Version]:
    """The published versions of a function, oldest first."""
    return sorted(cache.store().versions("function", name), key=lambda version: version.number)


def function_menu(draft: OpenDraft) -> None:
    """Draw the menu that makes, renames and deletes functions."""
    options = {
        **{f"new:{name}": _("New from {name}", name=name) for name in examples.functions()},
        "rename": _("Rename {name} …", name=draft.name), "delete": _("Delete {name} …", name=draft.name),
    }  # fmt: skip
    action = st.menu_button(
        _("New"), list(options), format_func=options.__getitem__, icon=":material/add:", key="function_menu"
    )
    if action == "rename":
        _rename_dialog(draft)
    elif action == "delete":
        _delete_dialog(draft)
    elif action:
        template = action.removeprefix("new:")
        name = _free_name("reward" if template == "blank" else template)
        opened = drafts.open_draft("function", name, lambda: examples.functions()[template])
        drafts.autosave(opened, opened.content)
        state.function_name.set(name)
        st.rerun()


def _free_name(wanted: str) -> str:
    taken = set(names())
    return next(name for name in free_names(wanted) if name not in taken)


def _rename_dialog(draft: OpenDraft) -> None:
    @st.dialog(_("Rename the function"))
    def ask() -> None:
        st.caption(_("Published versions keep their name; mixes that name this function must be changed."))
        _warn_of_mixes(draft.name)
        name = re.sub(r"\s+", "_", (st.text_input(_("Name"), draft.name, key="function_new_name") or "").strip())
        if st.button(_("Rename"), type="primary", disabled=not name or name == draft.name, key="function_rename"):
            if not _tried(lambda: cache.store().rename_draft("function", draft.name, name)):
                return
            state.open_drafts.get().pop(("function", draft.name), None)
            state.function_name.set(name)
            st.rerun()

    ask()


def _delete_dialog(draft: OpenDraft) -> None:
    @st.dialog(_("Delete the draft {name}?", name=draft.name))
    def ask() -> None:
        st.markdown(_("Its text goes for good. Published versions stay."))
        _warn_of_mixes(draft.name)
        if st.button(_("Delete the draft"), type="primary", key="function_delete"):
            if not _tried(lambda: cache.store().delete_draft("function", draft.name)):
                return
            state.open_drafts.get().pop(("function", draft.name), None)
            state.function_name.clear()
            st.rerun()

    ask()


def mixes_that_name(name: str) -> list[str]:
    """The mixes one of whose rules names a function without a version: they mean its draft."""
    return [
        mix.name for mix in cache.store().list_drafts("mix")
        if any(isinstance(rule, dict) and rule.get("function") == name for rule in mix.content.get("rules", []))
    ]  # fmt: skip


def _warn_of_mixes(name: str) -> None:
    mixes = mixes_that_name(name)
    if not mixes:
        return
    versions = [version for version in versions_of(name) if not version.withdrawn_at]
    named = ", ".join(map(plain, mixes))
    if versions:
        told = _("Used by {mixes}: it will mean v{number} there instead.", mixes=named, number=versions[-1].number)
    else:
        told = _("Used by {mixes}: nothing will be scored there until the rule is changed.", mixes=named)
    st.warning(told, icon=":material/warning:")


def publish_dialog(draft: OpenDraft) -> None:
    """Ask for a note, then make the draft an immutable version."""
    versions = versions_of(draft.name)
    number = versions[-1].number + 1 if versions else 1
    stored = cache.store().find_draft("function", draft.name)
    unchanged = bool(versions and stored and not versions[-1].withdrawn_at and stored.sha256 == versions[-1].sha256)

    @st.dialog(_("Publish {name} as v{number}", name=draft.name, number=number))
    def ask() -> None:
        st.caption(_("A version never changes. Mixes name it as {reference}.", reference=f"{draft.name}@{number}"))
        warn_of_cases("function", draft.name, draft.content)
        note = st.text_input(_("Note: what changed"), key="publish_note", max_chars=200) or ""
        refused = any(one.severity == "error" for one in cache.findings(str(draft.content["source"])))
        if refused:
            st.error(_("The executor refuses lines of this text; mend them first. A version never changes."))
        if unchanged:
            st.info(_("Nothing changed since v{number}; there is nothing to publish.", number=number - 1))
        if st.button(
            _("Publish v{number}", number=number), type="primary", key="publish_now", disabled=unchanged or refused
        ):
            if not _tried(lambda: publish_function(cache.store(), draft.name, draft.content, note=note)):
                return
            st.rerun()

    ask()


def _tried(action: Callable[[], object]) -> bool:
    """Do it; when it cannot be done say why, in the dialog."""
    try:
        action()
    except RewardConsoleError as error:
        st.error(plain(explain(error)))
        return False
    return True
