"""requirements.txt of a function, and the button that installs it: watched line by line, cancelled safely."""

from __future__ import annotations

from collections import deque

import streamlit as st

from components import cache, state
from components.functions import background
from components.i18n import _, explain, say
from components.state import OpenDraft
from components.theme import plain
from rewards_lib.contract import Sentence
from rewards_lib.errors import RewardConsoleError
from rewards_lib.executor.installing import InstallWatch
from rewards_lib.executor.stopping import StopSwitch

LINES_SHOWN = 12


def requirements_panel(draft: OpenDraft) -> str:
    """Draw the box, the button and the installation in progress; return the text as it stands."""
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
    work = state.installs_in_progress.get().get(draft.name)
    if work is not None:
        shown = state.install_lines.get().get(draft.name, deque())
        background.progress(
            work, _("Installing …"), _("Cancel"), key="cancel_install",
            lines=lambda: "\n".join(map(say, list(shown)[-LINES_SHOWN:])),
        )  # fmt: skip
    else:
        if st.button(_("Install dependencies"), icon=":material/download:", key="install", disabled=not text.strip()):
            _start(draft, text)
            st.rerun()
        _outcome(draft)
    if not text.strip():
        st.caption(_("The standard library is there already; name everything else above."))
    return text


def collect() -> None:
    """Note how the installations that have ended went; what was found of undeclared imports may have changed."""
    running = state.installs_in_progress.get()
    for name, work in list(running.items()):
        if not work.outcome.done():
            continue
        running.pop(name)
        error = work.outcome.exception()
        state.install_outcomes.get()[name] = error if isinstance(error, RewardConsoleError) else None
        cache.findings.clear()


def _start(draft: OpenDraft, text: str) -> None:
    executor, stop = cache.executor(), StopSwitch()
    lines: deque[Sentence] = deque(maxlen=200)
    state.install_lines.get()[draft.name] = lines
    state.installs_in_progress.get()[draft.name] = background.start(
        lambda: executor.install(text, InstallWatch(report=lines.append, stop=stop)), question=text, stop=stop
    )


def _outcome(draft: OpenDraft) -> None:
    """Say how the last installation went, and keep its log at hand."""
    if draft.name not in state.install_outcomes.get():
        return
    error = state.install_outcomes.get()[draft.name]
    if error is None:
        st.success(_("Installed. The next run uses it."))
    else:
        st.error(plain(explain(error)))
    lines = state.install_lines.get().get(draft.name)
    if lines:
        with st.expander(_("What the installer said")):
            st.code("\n".join(map(say, lines)), language=None, wrap_lines=True, height=220)
