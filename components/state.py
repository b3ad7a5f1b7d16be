"""Typed access to session state: the only file that names its keys, each with its one default.

Work (drafts, the mix, the payload, last results) lives under keys of ours, since a widget's own key is dropped when
the widget is not drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import streamlit as st

T = TypeVar("T")


@dataclass(frozen=True)
class Slot(Generic[T]):
    """One value of a visitor's session."""

    key: str
    default: Callable[[], T]

    def get(self) -> T:
        """The value; the default, which is then kept, when there is none yet."""
        if self.key not in st.session_state:
            st.session_state[self.key] = self.default()
        value: T = st.session_state[self.key]
        return value

    def set(self, value: T) -> None:
        """Replace the value."""
        st.session_state[self.key] = value

    def clear(self) -> None:
        """Go back to the default."""
        st.session_state.pop(self.key, None)


def widget(key: str) -> Any:
    """What a widget holds at this moment; None when it is not drawn. For callbacks, whose arguments are stale."""
    return st.session_state.get(key)


def put_widget(key: str, value: Any) -> None:
    """Give a widget its value before it is drawn."""
    st.session_state[key] = value


def _none() -> None:
    return None


# --- the shell -----------------------------------------------------------------------------------------------------

app_ran: Slot[bool] = Slot("app_ran", bool)
"""Whether app.py has run in this session; a page opened alone on a fresh server sends itself through it."""
language: Slot[str | None] = Slot("chosen_language", _none)
LANGUAGE_SWITCH = "language_switch"

editor_unavailable: Slot[bool] = Slot("code_editor_unavailable", bool)
"""Whether this visitor's browser could not load the editor's bundle."""
