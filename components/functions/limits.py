"""The limits of a function: how long, how much memory, how many threads, how much output; shown with their defaults."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from components.i18n import _
from components.state import OpenDraft
from rewards_lib.executor import Limits, limits_from
from rewards_lib.executor.limits import RANGES


@dataclass(frozen=True)
class _Box:
    """How one limit is shown: its words, and how much of its own unit one unit of the box is."""

    label: str
    told: str
    step: float
    unit: int = 1


def limits_panel(draft: OpenDraft) -> dict[str, float | int]:
    """Draw a box for each limit of the draft. Returns those that differ from the defaults, in the units of ``Limits``.

    The answer belongs under the draft's ``limits``: an author who changes nothing keeps a draft without any.
    """
    now, usual = limits_from(draft.content), Limits()
    chosen: dict[str, float | int] = {}
    with st.container(horizontal=True, gap="small"):
        for name, box in _boxes().items():
            value = _number(draft, name, box, getattr(now, name))
            if value != getattr(usual, name):
                chosen[name] = value
    st.caption(_("A run that reaches a limit ends and says which. Processor time may be twice the time."))
    return chosen


def _number(draft: OpenDraft, name: str, box: _Box, value: float) -> float | int:
    least, most = (bound / box.unit for bound in RANGES[name])
    kind = float if isinstance(box.step, float) else int
    chosen = st.number_input(
        box.label,
        kind(least),
        kind(most),
        kind(value / box.unit),
        step=kind(box.step),
        format="%g" if kind is float else None,
        help=box.told,
        key=f"limit_{name}_{draft.name}_{draft.epoch}",
        width=150,
    )
    return chosen * box.unit


def _boxes() -> dict[str, _Box]:
    return {
        "wall_seconds": _Box(_("Time (s)"), _("From the request to the result."), 1.0),
        "memory_mb": _Box(_("Memory (MB)"), _("What a run may hold beyond the worker itself."), 64),
        "threads": _Box(_("Threads"), _("At once; starting one more raises RuntimeError."), 1),
        "output_bytes": _Box(_("Output (KB)"), _("Shown of each stream; the rest is counted."), 16, unit=1_024),
    }
