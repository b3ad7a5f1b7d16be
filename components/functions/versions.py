"""The published versions of a function: when, note, what differs from the draft; restored or withdrawn here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from components import cache, drafts, state
from components.diff_view import diff_view
from components.i18n import _, explain
from components.state import OpenDraft
from components.theme import plain
from rewards_lib.errors import RewardConsoleError
from rewards_lib.store import Version


def version_list(draft: OpenDraft, versions: Sequence[Version]) -> None:
    """Draw the versions, newest first, and the difference between one of them and the draft."""
    if not versions:
        st.caption(_("Nothing is published yet. A version keeps code, requirements and hosts as they are now."))
        return
    _undo(draft)
    for version in sorted(versions, key=lambda one: -one.number)[:20]:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            gone = f" :orange-badge[{_('withdrawn')}]" if version.withdrawn_at else ""
            note = f" {plain(version.note)}" if version.note else ""
            small = f"{drafts.clock(version.published_at)} · {version.sha256[:6]}"
            told = f"**v{version.number}**{gone}{note}  :small[:gray[{small}]]"
            st.markdown(told, width="stretch")
            st.button(
                _("Restore"),
                key=f"restore_{version.number}",
                type="tertiary",
                icon=":material/history:",
                on_click=_restore,
                args=(draft, version),
                help=_("Puts this version's text into the draft"),
            )
            if not version.withdrawn_at:
                st.button(
                    _("Withdraw …"),
                    key=f"withdraw_{version.number}",
                    type="tertiary",
                    on_click=_withdraw_dialog,
                    args=(version,),
                )
    chosen = st.selectbox(
        _("Compare the draft with"), [f"v{one.number}" for one in reversed(versions)], key="compare_with"
    )
    version = next(one for one in versions if f"v{one.number}" == chosen)
    diff_view(str(version.content.get("source", "")), str(draft.content.get("source", "")), key="version_diff")


def _restore(draft: OpenDraft, version: Version) -> None:
    """Put a version into the draft; what stood there can be put back, for it may be nowhere else."""
    state.replaced_texts.get()[draft.name] = draft.content
    drafts.replace(draft, version.content)


def _undo(draft: OpenDraft) -> None:
    before = state.replaced_texts.get().get(draft.name)
    if before is None:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="restored"):
        st.markdown(_("The version is in the draft; what stood there is still at hand."), width="stretch")
        st.button(
            _("Undo"), key="undo_restore", icon=":material/undo:", on_click=_put_back, args=(draft, before),
            help=_("Puts the draft's own text back"),
        )  # fmt: skip


def _put_back(draft: OpenDraft, before: dict[str, Any]) -> None:
    state.replaced_texts.get().pop(draft.name, None)
    drafts.replace(draft, before)


def _withdraw_dialog(version: Version) -> None:
    @st.dialog(_("Withdraw {name} v{number}?", name=version.name, number=version.number))
    def ask() -> None:
        st.markdown(_("It stays readable here, but nothing new may use it. The number is not given again."))
        if st.button(_("Withdraw v{number}", number=version.number), type="primary", key="withdraw_now"):
            try:
                cache.store().withdraw("function", version.name, version.number)
            except RewardConsoleError as error:
                st.error(plain(explain(error)))
                return
            st.rerun()

    ask()
