"""Drafts that save themselves: opened from the store, saved in the rerun that brings a change.

Invariant: a text that another tab saved is never overwritten unseen.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import streamlit as st

from components import cache, state
from components.diff_view import diff_view
from components.i18n import _, say
from components.state import OpenDraft
from rewards_lib.errors import RewardConsoleError
from rewards_lib.store import DraftConflict, Kind
from rewards_lib.strict_json import write_json


def open_draft(kind: Kind, name: str, default: Callable[[], dict[str, Any]]) -> OpenDraft:
    """The draft of this session, else of the store, else a new one (not yet saved) with the default content."""
    drafts = state.open_drafts.get()
    if (kind, name) not in drafts:
        stored = cache.store().find_draft(kind, name)
        drafts[kind, name] = (
            OpenDraft(kind, name, stored.content, stored.revision, stored.saved_at)
            if stored
            else OpenDraft(kind, name, default())
        )
    return drafts[kind, name]


def latest_name(kind: Kind) -> str | None:
    """The name of the draft that was saved last; None when there is none."""
    drafts = cache.store().list_drafts(kind)
    return max(drafts, key=lambda draft: draft.saved_at).name if drafts else None


def autosave(draft: OpenDraft, content: dict[str, Any]) -> None:
    """Take a content over and save it when it changed; a conflict or a failure is kept with the draft."""
    if content == draft.content and draft.revision is not None:
        return
    draft.content = content
    if draft.conflict is None:
        _save(draft)


def replace(draft: OpenDraft, content: dict[str, Any]) -> None:
    """Save a content that comes from elsewhere than the widgets (an example, an import) and let them start anew."""
    draft.epoch += 1
    autosave(draft, content)


def _save(draft: OpenDraft) -> None:
    try:
        saved = cache.store().save_draft(draft.kind, draft.name, draft.content, base_revision=draft.revision)
        draft.revision, draft.saved_at, draft.failure, draft.conflict = saved.revision, saved.saved_at, None, None
    except DraftConflict as conflict:
        draft.conflict = conflict
    except RewardConsoleError as error:
        draft.failure = error


def saved_mark(draft: OpenDraft) -> None:
    """Say when the draft was saved, or that it was not and why."""
    if draft.failure:
        st.markdown(
            f":small[:red[:material/error: {_('Not saved')}]]", help=say(draft.failure.message), width="content"
        )
    elif draft.conflict:
        st.markdown(f":small[:orange[:material/warning: {_('Not saved: changed elsewhere')}]]", width="content")
    elif draft.saved_at:
        told = _("Saved {time}", time=clock(draft.saved_at))
        st.markdown(f":small[:green[:material/check:] :gray[{told}]]", width="content")


def conflict_panel(draft: OpenDraft, text_of: Callable[[dict[str, Any]], str] | None = None) -> None:
    """While two tabs have edited the same draft: show who is newer and let the visitor choose."""
    if draft.conflict is None:
        return
    theirs = draft.conflict.theirs
    text_of = text_of or (lambda content: write_json(content, indent=1))
    with st.container(border=True, gap="xsmall", key=f"conflict_{draft.kind}"):
        if theirs:
            told, kept = _("This draft was changed in another tab."), _("Both texts are kept; nothing is lost.")
            diff_view(text_of(theirs.content), text_of(draft.content), key=f"conflict_diff_{draft.kind}")
        else:
            told, kept = _("This draft was renamed or deleted in another tab."), _("Your text is still here.")
        st.markdown(f"**{told}** {kept}")
        with st.container(horizontal=True, gap="xsmall"):
            label = _("Keep mine") if theirs else _("Save it again")
            st.button(label, key=f"keep_mine_{draft.kind}", on_click=_keep_mine, args=(draft,))
            if theirs:
                taken = _("Take theirs, saved {time}", time=clock(theirs.saved_at))
                st.button(taken, key=f"take_theirs_{draft.kind}", on_click=_take_theirs, args=(draft,))


def _keep_mine(draft: OpenDraft) -> None:
    theirs = draft.conflict.theirs if draft.conflict else None
    draft.revision, draft.conflict = theirs.revision if theirs else None, None
    _save(draft)


def _take_theirs(draft: OpenDraft) -> None:
    if draft.conflict and draft.conflict.theirs:
        theirs = draft.conflict.theirs
        draft.content, draft.revision, draft.saved_at = theirs.content, theirs.revision, theirs.saved_at
        draft.conflict, draft.epoch = None, draft.epoch + 1


def clock(when: datetime) -> str:
    """A time as it is read: of today ``12:03:05``, older ``27 Nov 18:40``; in the server's zone."""
    local = when.astimezone()
    today = local.date() == datetime.now().astimezone().date()
    return local.strftime("%H:%M:%S" if today else "%d %b %H:%M")
