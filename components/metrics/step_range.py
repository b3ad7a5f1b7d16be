"""Which steps are looked at: by the slider, by dragging over a chart, by a finding's button, and from the address.

Invariant: an end that was not chosen is open. The rows that a followed file gains are then shown; between two chosen
ends a view stays where it is, however long the run becomes.
"""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from components import state
from components.address import finite_number
from components.i18n import _
from rewards_lib.training_metrics import Run, StepRange

ADDRESS = "metric_steps"
"""Key of the address: the first and the last step, with two dots between; nothing stands for an open end."""


def range_slider(runs: Mapping[str, Run]) -> StepRange:
    """Draw the slider over all steps; return the first and the last of those to look at, None where all are shown.

    A slider over another span is another slider, hence its key; what was chosen is kept apart from it.
    """
    low, high = _span(runs)
    if low == high:
        return None, None
    chosen = _chosen(low, high)
    key = _slider_key(low, high)
    st.slider(
        _("Steps"),
        low,
        high,
        (low if chosen[0] is None else chosen[0], high if chosen[1] is None else chosen[1]),
        label_visibility="collapsed",
        width=220,
        key=key,
        on_change=_keep_slider,
        args=(low, high, key),
    )
    if chosen != (None, None):
        st.button(
            _("All steps"), icon=":material/zoom_out_map:", type="tertiary", key="all_steps", on_click=zoom,
            args=(runs, low, high),
        )  # fmt: skip
    _write_address(chosen)
    return chosen


def zoom(runs: Mapping[str, Run], begin: float, end: float) -> None:
    """Set the steps to look at: those given and a quarter of them on either side. For callbacks."""
    low, high = _span(runs)
    margin = max(end - begin, (high - low) / 20) / 4
    _choose(low, high, max(low, begin - margin), min(high, end + margin))


def zoom_to_selection(runs: Mapping[str, Run], key: str) -> None:
    """Set the steps to those that were dragged over in the chart of this key. For callbacks."""
    selected = (state.widget(key) or {}).get("selection", {}).get("box", [])
    if not selected or len(selected[0].get("x", [])) < 2:
        return
    low, high = _span(runs)
    begin, end = sorted(float(x) for x in selected[0]["x"][:2])
    first, last = (round(begin), round(end)) if isinstance(low, int) else (begin, end)
    if min(high, last) > max(low, first):
        _choose(low, high, first, last)


def follow_address() -> None:
    """Look at the steps that the address names; what is no range is passed over."""
    begin, _dots, end = (st.query_params.get(ADDRESS) or "").partition("..")
    # addresses of earlier versions name all steps in the key and both ends as values
    for key in [key for key in st.query_params if key.startswith(f"{ADDRESS}_")]:
        begin, end = (*st.query_params.get_all(key), "", "")[:2]
        del st.query_params[key]
    state.metric_zoom.set((finite_number(begin), finite_number(end)))


def _write_address(chosen: StepRange) -> None:
    begin, end = ("" if step is None else f"{step:.12g}" for step in chosen)
    if begin or end:
        st.query_params[ADDRESS] = f"{begin}..{end}"
    else:
        state.metric_zoom.clear()
        st.query_params.pop(ADDRESS, None)


def _span(runs: Mapping[str, Run]) -> tuple[float, float]:
    """The first and the last step of all runs, as whole numbers where both are."""
    steps = [run.steps for run in runs.values() if len(run.steps)]
    first, last = min(float(one[0]) for one in steps), max(float(one[-1]) for one in steps)
    return (int(first), int(last)) if first % 1 == 0 and last % 1 == 0 else (first, last)


def _slider_key(low: float, high: float) -> str:
    return f"metric_steps_{low}_{high}"


def _chosen(low: float, high: float) -> StepRange:
    """What was chosen, as far as it lies in the span and leaves something to look at."""
    kind = type(low)
    first, last = (None if step is None else kind(step) for step in state.metric_zoom.get())
    first = None if first is None or first <= low else first
    last = None if last is None or last >= high else last
    empty = (low if first is None else first) >= (high if last is None else last)
    return (None, None) if empty else (first, last)


def _choose(low: float, high: float, first: float, last: float) -> None:
    """Keep a choice and move the slider there; an end of the span is an open end."""
    kind = type(low)
    first, last = kind(max(low, first)), kind(min(high, last))
    state.put_widget(_slider_key(low, high), (first, last))
    state.metric_zoom.set((first if first > low else None, last if last < high else None))


def _keep_slider(low: float, high: float, key: str) -> None:
    first, last = state.widget(key)
    state.metric_zoom.set((first if first > low else None, last if last < high else None))
