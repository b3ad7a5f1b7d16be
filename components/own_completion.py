"""A completion of the visitor's own, tried beside those of the sample; kept over a reload and a restart."""

from __future__ import annotations

import streamlit as st

from components import drafts, state
from components.i18n import _
from components.samples import open_own_completion
from components.scoring import with_completion
from rewards_lib.contract import Payload


def own_completion(payload: Payload, *, key: str) -> Payload:
    """Draw the box for a completion and return the payload with it as its last; a new one is looked at, once."""
    draft = open_own_completion()
    row = len(payload.completions) + 1
    text = st.text_area(
        _("Try a completion of your own"),
        draft.content["text"],
        height=90,
        key=f"{key}_completion_text",
        placeholder=_("Write or paste one: it becomes row {row} of the table.", row=row),
    )
    is_empty = not text and st.checkbox(
        _("Try the empty completion"), draft.content["is_empty"], key=f"{key}_completion_empty"
    )
    content = {"text": text or "", "is_empty": is_empty}
    if content != draft.content:
        drafts.autosave(draft, content)
        state.selected_completion.set(row - 1 if text or is_empty else 0)
    return with_completion(payload, text or "") if text or is_empty else payload
