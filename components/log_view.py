"""What functions printed, and the tracebacks of those that raised."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from components.i18n import _
from rewards_lib.contract import MixResult

LOG_CHARACTERS = 20_000
LONG_LOG_LINES, LONG_LOG_PX = 15, 360


def log_view(result: MixResult | None) -> None:
    """What the functions of a result printed, and the traceback of each that raised."""
    tracebacks = [rule.traceback for rule in result.rules if rule.traceback] if result else []
    if result is None or not (result.logs or tracebacks):
        st.caption(_("Nothing was printed. print() and logging show up here."))
        return
    for traceback in tracebacks:
        st.code(traceback, language=None, wrap_lines=True)
    if result.logs:
        height: int | Literal["content"] = LONG_LOG_PX if result.logs.count("\n") > LONG_LOG_LINES else "content"
        st.code(result.logs[-LOG_CHARACTERS:], language=None, wrap_lines=True, height=height)
