"""requirements.txt of a function, and the button that installs it."""

from __future__ import annotations

import streamlit as st

from components import cache
from components.i18n import _, explain
from components.state import OpenDraft
from components.theme import plain
from rewards_lib.errors import RewardConsoleError


def requirements_panel(draft: OpenDraft) -> str:
    """Draw the box and the button; return the text as it stands."""
    text = (
        st.text_area(
            "requirements.txt",
            str(draft.content.get("requirements", "")),
            height=110,
            key=f"requirements_{draft.name}_{draft.epoch}",
            help=_(
                "One requirement a line, such as sympy==1.14.0. Only wheels are installed; a version that you pin wins."
            ),
            placeholder="sympy==1.14.0",
        )
        or ""
    )
    if st.button(_("Install dependencies"), icon=":material/download:", key="install", disabled=not text.strip()):
        with st.spinner(_("Installing …"), show_time=True):
            try:
                cache.executor().install(text)
            except RewardConsoleError as error:
                st.error(plain(explain(error)))
            else:
                st.success(_("Installed. The next run uses it."))
    if not text.strip():
        st.caption(_("The standard library is there already; name everything else above."))
    return text
