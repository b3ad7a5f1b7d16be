"""The secrets of a function: which of the console's it gets through ``os.environ``, and where a new one is kept.

Invariant: a value goes into the store and is never drawn again.
"""

from __future__ import annotations

import streamlit as st

from components import drafts
from components.i18n import _, explain
from components.state import OpenDraft
from components.theme import plain
from rewards_lib.errors import RewardConsoleError
from rewards_lib.store.secrets import LEAST_CHARACTERS, SecretStore


def secrets_panel(draft: OpenDraft) -> list[str]:
    """Draw the choice of names and the form for a new one; return the names that the function gets."""
    store = SecretStore()
    chosen = [str(name) for name in draft.content.get("secrets", [])]
    try:
        kept = store.names()
    except RewardConsoleError as error:
        st.error(plain(explain(error)))
        return chosen
    names = sorted({*kept, *chosen})
    picked = st.multiselect(
        _("Secrets of this function"),
        names,
        [name for name in chosen if name in names],
        key=f"secrets_{draft.name}_{draft.epoch}",
        format_func=lambda name: name if name in kept else _("{name} · no value", name=name),
        placeholder=_("None. Choose what os.environ shall hold."),
        help=_(
            "The function reads them with os.environ[NAME]. Values are kept encrypted and taken out of all it says."
        ),
    )
    for name in (name for name in picked if name not in kept):
        st.markdown(f":orange[:material/warning:] {plain(_('{name} has no value here: a run would fail.', name=name))}")
    with st.container(horizontal=True, gap="xsmall"):
        if st.button(_("Set a secret …"), icon=":material/key:", key="secret_set"):
            _set_dialog(draft, store)
        if kept and st.button(_("Delete one …"), icon=":material/delete:", type="tertiary", key="secret_bin"):
            _delete_dialog(store, kept)
    return picked


def _set_dialog(draft: OpenDraft, store: SecretStore) -> None:
    """Ask for a name and a value; what is kept here is given to this function too."""

    @st.dialog(_("Set a secret"))
    def ask() -> None:
        st.caption(_("It is kept encrypted on this machine and not shown again; a new value replaces the one before."))
        with st.form("secret_new", border=False):
            name = st.text_input(_("Name"), key="secret_name", placeholder="JUDGE_API_KEY") or ""
            value = st.text_input(
                _("Value"), key="secret_value", type="password", autocomplete="off",
                placeholder=_("At least {count} characters", count=LEAST_CHARACTERS),
            ) or ""  # fmt: skip
            if st.form_submit_button(_("Keep it"), type="primary"):
                try:
                    store.keep(name.strip(), value)
                except RewardConsoleError as error:
                    st.error(plain(explain(error)))
                    return
                given = {*draft.content.get("secrets", []), name.strip()}
                drafts.replace(draft, draft.content | {"secrets": sorted(given)})
                st.rerun()

    ask()


def _delete_dialog(store: SecretStore, kept: tuple[str, ...]) -> None:
    @st.dialog(_("Delete a secret"))
    def ask() -> None:
        name = st.selectbox(_("Name"), kept, key="secret_old")
        st.caption(_("Functions that name it fail until it is set again."))
        if st.button(_("Delete {name}", name=name), type="primary", key="secret_delete"):
            store.forget(name)
            st.rerun()

    ask()
