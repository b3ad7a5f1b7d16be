"""The Python side of the code editor.

Invariant: what comes back is the author's newest text for the version asked for, never that of an older version.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import streamlit as st

from components import state
from components.code_editor.build import STATIC, bundle_name
from components.code_editor.phrases import phrases
from components.i18n import _

Language = Literal["python", "json", "text"]

HEIGHT_PX = 590
DEBOUNCE_MS = 400
LOADER = Path(__file__).parent / "src" / "loader.js"


class EditorEvent(NamedTuple):
    """What the author did: the text as it stands, and whether a short-cut asked for this rerun."""

    value: str
    run: bool
    """Ctrl+Enter (Cmd+Enter) was pressed; ``value`` is the text at that moment."""
    save: bool
    """Ctrl+S (Cmd+S) was pressed."""


def code_editor(  # noqa: PLR0913 - a widget's options, all keyword-only
    value: str,
    *,
    key: str,
    version: int = 0,
    label: str,
    language: Language = "python",
    height: int = HEIGHT_PX,
    findings: Sequence[Mapping[str, Any]] = (),
    read_only: bool = False,
    goto: int | None = None,
    hint: str | None = None,
) -> EditorEvent:
    """Draw the editor, ``height`` pixels high, and return its text.

    ``value`` is shown at first sight and whenever ``version`` has been raised; in between the browser's text stands,
    and the caller keeps what comes back: a widget's own state is dropped when its page is left. One ``key`` is one
    document. ``findings`` are mappings with ``line``, ``column``, ``end_column`` (from 1, columns in code points, the
    latter two may be None), ``message`` and ``severity`` (error, warning or hint). ``goto`` puts the cursor at the
    start of a line (from 1): give it in one run, None in the next. ``hint`` replaces the line on short-cuts below.
    """
    marks = [dict(finding) for finding in findings]
    text = current_text(value, key=key, version=version)
    _forget_kept_text(key, value)
    if _is_plain():
        return _plain_editor(
            text, key=key, version=version, label=label, height=height, findings=marks, read_only=read_only
        )
    result = _component()(
        key=key,
        data={
            "document": key,
            "value": text,
            "version": version,
            "session": state.editor_session.get(),
            "language": language,
            "label": label,
            "height": height,
            "findings": [mark for mark in marks if mark.get("line")],
            "readOnly": read_only,
            "goto": None if goto is None else {"line": goto, "call": secrets.token_hex(4)},
            "debounceMs": DEBOUNCE_MS,
            "phrases": phrases(),
            "bundle": _built_bundle(),
        },
        default={"value": text, "origin": _origin(version), "unavailable": False},
        height=height,  # holds the place while the bundle loads, so that nothing jumps
        on_value_change=partial(_note_text, key),
        on_origin_change=_nothing,
        on_unavailable_change=partial(_remember_unavailable, key),
        on_run_change=_nothing,
        on_save_change=_nothing,
    )
    st.caption(hint or _("Ctrl+Enter runs · Ctrl+S saves · Esc, then Tab leaves the editor"))
    return EditorEvent(text, run=bool(result.run), save=bool(result.save))


def current_text(value: str, *, key: str, version: int = 0) -> str:
    """The text that ``code_editor`` will return for the same arguments in this run.

    For what has to be known before the editor is drawn, such as the findings of exactly this text.
    """
    if _is_plain():
        typed = state.widget(_plain_key(key, version))
        if typed is not None:
            return str(typed)
    elif (held := state.widget(key) or {}).get("value") is not None:
        # The browser repeats what it sent last until it has followed a raised version or a server started anew.
        return str(held["value"]) if held.get("origin") in (None, _origin(version)) else value
    origin, text = state.editor_texts.get().get(key, ("", value))
    return text if origin == _origin(version) else value


def _note_text(key: str) -> None:
    """Keep what has arrived, before any of the page runs.

    A page link pressed right after the last key ends this run before the page sees the text, and the next page's run
    no longer carries it.
    """
    held = state.widget(key) or {}
    if held.get("value") is not None:
        state.editor_texts.get()[key] = (str(held.get("origin")), str(held["value"]))


def _note_plain_text(key: str, version: int) -> None:
    """Keep what has arrived from the text area, for the same reason."""
    state.editor_texts.get()[key] = (_origin(version), str(state.widget(_plain_key(key, version))))


def _forget_kept_text(key: str, value: str) -> None:
    """Drop the note of a text that the page shows: it has it."""
    if state.editor_texts.get().get(key, ("", None))[1] == value:
        del state.editor_texts.get()[key]


def _origin(version: int) -> str:
    return f"{state.editor_session.get()}/{version}"


def _is_plain() -> bool:
    return _built_bundle() is None or state.editor_unavailable.get()


def _plain_key(key: str, version: int) -> str:
    return f"{key}_plain_{version}"


@cache
def _component() -> Any:
    # A string without a line break would be taken for a file name.
    html = '<div class="code-editor"></div>\n'
    return st.components.v2.component("code_editor", html=html, js=LOADER.read_text(encoding="utf-8"))


@cache
def _wanted_bundle() -> str:
    return bundle_name()


def _built_bundle() -> str | None:
    """The bundle's file name; None where the set-up could not build it."""
    name = _wanted_bundle()
    return name if (STATIC / name).exists() else None


def _plain_editor(
    value: str, *, key: str, version: int, label: str, height: int, findings: Sequence[Mapping[str, Any]],
    read_only: bool,
) -> EditorEvent:  # fmt: skip
    """The same contract in Streamlit's own text area; it sends the text when it is left or at Ctrl+Enter."""
    if state.editor_unavailable.get():
        told = _(
            "Your browser could not load the code editor; this is a plain text area. Reload the page to try again."
        )
    else:
        told = _(
            "The code editor is not built here; this is a plain text area. {command} builds it.",
            command="`python components/code_editor/build.py`",
        )
    st.info(told, icon=":material/info:")
    text = st.text_area(
        label, value, key=_plain_key(key, version), height=height, disabled=read_only,
        on_change=_note_plain_text, args=(key, version),
    )  # fmt: skip
    for finding in findings:
        where = _("Line {line}", line=finding["line"]) if finding.get("line") else ""
        st.text(": ".join(filter(None, [where, str(finding["message"])])))
    return EditorEvent(text, run=False, save=False)


def _remember_unavailable(key: str) -> None:
    """Keep the fact under a key of ours: the component's state goes with the component, which then would come back.

    Streamlit also calls this when the state falls back to its default after a page switch, hence the look.
    """
    if (state.widget(key) or {}).get("unavailable"):
        state.editor_unavailable.set(True)


def _nothing() -> None:
    """Streamlit wants a callback before it reports a state or a trigger of a component."""
