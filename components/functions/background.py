"""Work beside the page: a page that is drawn anew, for an edit or a switch, neither waits for it nor loses it.

Invariant: what runs in the thread knows nothing of the session; the page takes what came of it when it is drawn next.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

import streamlit as st

from components.i18n import _
from components.state import InProgress
from components.theme import duration
from rewards_lib.errors import boundary
from rewards_lib.executor.stopping import StopSwitch

T = TypeVar("T")
LOOK_SECONDS = 0.4


def start(job: Callable[[], T], *, question: str, stop: StopSwitch) -> InProgress[T]:
    """Begin a job in a thread of its own. It ends with the console, finished or not."""
    outcome: Future[T] = Future()

    def work() -> None:
        with boundary(outcome.set_exception):
            outcome.set_result(job())

    threading.Thread(target=work, name="functions page", daemon=True).start()
    return InProgress(question, outcome, time.monotonic(), stop)


def progress(work: InProgress[T], told: str, button: str, *, key: str, lines: Callable[[], str] | None = None) -> None:
    """Draw how long the work has been going on, its latest lines and the button that ends it; redraw it by itself."""

    @st.fragment(run_every=LOOK_SECONDS)
    def look() -> None:
        if work.outcome.done():
            st.rerun()
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            elapsed = duration((time.monotonic() - work.started) * 1e3)
            said = _("Ending …") if work.stop.is_pressed else told
            st.markdown(f":material/hourglass_top: {said} :gray[{elapsed}]", width="content")
            st.button(
                button, key=key, icon=":material/stop_circle:", on_click=work.stop.press, disabled=work.stop.is_pressed
            )
        if lines is not None and (text := lines()):
            st.code(text, language=None, wrap_lines=True)

    look()
