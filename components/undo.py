"""Taking back what replaced a visitor's work: an example, an import.

Invariant: the offer stands as long as what was put there is unchanged, and taking it restores every draft it touched.
"""

from __future__ import annotations

import streamlit as st

from components import drafts, state
from components.i18n import _
from components.state import OpenDraft, Replaced
from components.theme import plain
from rewards_lib.contract import JsonObject


def replace(told: str, *changes: tuple[OpenDraft, JsonObject]) -> None:
    """Put contents in the place of drafts, and offer to take it back; ``told`` says what happened."""
    before = tuple((draft, draft.content) for draft, _content in changes)
    for draft, content in changes:
        drafts.replace(draft, content)
    state.replaced.set(Replaced(told, before, tuple(draft.revision for draft, _content in changes)))


def undo_line(*, key: str) -> None:
    """Draw what was replaced last and the button that takes it back, while that is still possible."""
    last = state.replaced.get()
    if last is None:
        return
    if any(draft.revision != revision for (draft, _old), revision in zip(last.before, last.revisions, strict=True)):
        state.replaced.clear()
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key=key):
        st.markdown(f":small[:material/info: {plain(last.told)}]", width="content")
        st.button(_("Undo"), icon=":material/undo:", type="tertiary", key=f"{key}_undo", on_click=_take_back)


def _take_back() -> None:
    last = state.replaced.get()
    state.replaced.clear()
    if last is not None:
        for draft, content in last.before:
            drafts.replace(draft, content)
