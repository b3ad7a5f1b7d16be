"""The completions of a result: filtered, sorted, page by page, one of them opened with all that led to its reward."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from components import state
from components.i18n import _, explain
from components.result_table import tail
from components.rollouts.detail import detail
from components.rollouts.results import Opened, number_at
from components.rollouts.tabs import AT, FILTER_TEXT
from components.theme import count, number, plain
from rewards_lib.errors import InputError
from rewards_lib.rollouts.filtering import read_filter, select

PAGE_ROWS = 100
KINDS = {
    "scored": "reward != null", "abstained": 'reward == null and error == ""',
    "unscored": 'reward == null and error != ""',
}  # fmt: skip
"""The kinds that are filters themselves."""


def completions_tab(opened: Opened) -> None:
    """The table left, the opened completion right."""
    places = _chosen(opened)
    table, right = st.columns([6, 5], gap="medium")
    with table:
        place = _table(opened, places)
    with right:
        if place is None:
            st.caption(_("No completion is like that. Change the filter."))
        else:
            detail(opened, place, places)


def _chosen(opened: Opened) -> list[int]:
    """Draw filter, kind and order; the places that are left, in the order to show them in."""
    kinds = {
        "all": _("All"), "scored": _("Scored"), "abstained": _("Abstained"), "unscored": _("Unscored"),
        "top": _("Top"), "disagree": _("Rules disagree"),
    }  # fmt: skip
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="center", key="completion_controls"):
        text = st.text_input(
            _("Filter"), state.rollout_filter.get(), key=FILTER_TEXT, label_visibility="collapsed", width=330,
            icon=":material/search:", placeholder=_('words, or reward < 0.5 and "box" in text'),
        ) or ""  # fmt: skip
        kind = st.pills(
            _("Show"), list(kinds), default="all", required=True, format_func=kinds.__getitem__,
            label_visibility="collapsed", key="completion_kind",
        ) or "all"  # fmt: skip
        orders = {
            "file": _("as in the file"),
            "reward": _("reward"),
            "advantage": _("advantage"),
            "length": _("length"),
        }
        orders |= {f"rule:{name}": name for name in opened.rules}
        order = st.selectbox(
            _("Order"), list(orders), format_func=orders.__getitem__, key="completion_order", width=170,
            label_visibility="collapsed",
        )  # fmt: skip
        is_down = st.toggle(_("largest first"), value=True, key="completion_down", disabled=order == "file")
    _take_filter(opened, text)
    places = _filtered(opened.job.id, state.rollout_filter.get(), kind, opened)
    return _ordered(opened, places, order, is_down=is_down)


def _take_filter(opened: Opened, text: str) -> None:
    """Put a filter in force if it can be read; else what was shown stays, and the sentence says what is wrong."""
    if not _is_known(opened, state.rollout_filter.get()):
        state.rollout_filter.clear()  # it was of another result, whose rules this one does not have
    try:
        if text.strip():
            read_filter(text, opened.rules)
    except InputError as error:
        st.markdown(f":red[:material/error: {plain(explain(error))}]")
        if state.rollout_filter.get():
            st.caption(_("Still shown: {filter}", filter=plain(state.rollout_filter.get())))
        return
    state.rollout_filter.set(text.strip())


def _is_known(opened: Opened, text: str) -> bool:
    try:
        return not text or bool(read_filter(text, opened.rules))
    except InputError:
        return False


@st.cache_data(max_entries=32, show_spinner=False)
def _filtered(job_id: str, text: str, kind: str, _opened: Opened) -> list[int]:  # noqa: ARG001 -- the id is the key
    places = list(range(len(_opened.table.rewards)))
    for wanted in (KINDS.get(kind), text):
        if wanted:
            found = set(select(_opened.scored, read_filter(wanted, _opened.rules), _opened.advantages["grpo"]))
            places = [place for place in places if place in found]
    if kind == "top":
        best = _opened.summary["reward"]["max"] or 0.0
        places = [place for place in places if _opened.table.rewards[place] >= best - 1e-9]
    if kind == "disagree":
        places = [place for place in places if _disagree(_opened, place)]
    return places


def _disagree(opened: Opened, place: int) -> bool:
    """Whether one rule gave its best and another its worst."""
    sides = set()
    for name in opened.rules:
        value, found = number_at(opened.table.rules[name], place), opened.summary["rules"][name]
        if value is not None and found["max"] - found["min"] > 1e-9:
            sides |= {"best"} if value >= found["max"] - 1e-9 else {"worst"} if value <= found["min"] + 1e-9 else set()
    return sides == {"best", "worst"}


def _ordered(opened: Opened, places: list[int], order: str, *, is_down: bool) -> list[int]:
    if order == "file":
        return places
    columns: dict[str, Any] = {
        "reward": opened.table.rewards, "advantage": opened.advantages["grpo"], "length": opened.table.lengths,
        **{f"rule:{name}": column for name, column in opened.table.rules.items()},
    }  # fmt: skip
    column = columns[order]

    def key(place: int) -> tuple[bool, float]:
        value = float(column[place])
        return math.isnan(value), -value if is_down else value

    return sorted(places, key=key)


def _wanted_place() -> int:
    """The place that is looked at; on opening an address, the one that it names."""
    at = st.query_params.get(AT, "")
    if not state.rollout_seen.get() and at.isdecimal():
        state.rollout_place.set(int(at) - 1)
    state.rollout_seen.set(True)
    return state.rollout_place.get()


def _table(opened: Opened, places: Sequence[int]) -> int | None:
    """Draw a page of completions; the place of the one that is looked at, None when there is none."""
    if not places:
        st.caption(_("0 of {total} completions", total=count(len(opened.table.rewards))))
        return None
    wanted = _wanted_place()
    index = places.index(wanted) if wanted in places else 0
    pages = -(-len(places) // PAGE_ROWS)
    number_shown = index // PAGE_ROWS + 1
    page = number_shown
    table, below = st.container(), st.container()
    if pages > 1:
        with below:
            page = st.pagination(pages, default=number_shown, key=f"completion_page_{number_shown}_{len(places)}")
        if page != number_shown:
            index = (page - 1) * PAGE_ROWS
    shown = list(places[(page - 1) * PAGE_ROWS : page * PAGE_ROWS])
    row = index - (page - 1) * PAGE_ROWS
    state_ = table.dataframe(
        pd.DataFrame(_rows(opened, shown)), hide_index=True, row_height=30, height=470,
        key=f"completion_table_{hash(tuple(shown))}_{row}", alt=_("Scored completions"),
        on_select="rerun", selection_mode="single-row", selection_default={"selection": {"rows": [row]}},
        column_config=_columns(opened),
    )  # fmt: skip
    rows = state_.selection.rows
    place = shown[min(rows[0], len(shown) - 1)] if rows else shown[row]
    state.rollout_place.set(place)
    st.query_params[AT] = str(place + 1)
    first = (page - 1) * PAGE_ROWS + 1
    below.caption(
        _(
            "{first} to {last} of {found}, of {total} completions",
            first=count(first), last=count(first + len(shown) - 1), found=count(len(places)),
            total=count(len(opened.table.rewards)),
        )
    )  # fmt: skip
    return place


def _rows(opened: Opened, places: Sequence[int]) -> list[dict[str, Any]]:
    table = opened.table
    return [
        {
            "group": table.groups[int(table.group_of[place])], "reward": number_at(table.rewards, place),
            **{name: number(number_at(column, place)) for name, column in table.rules.items()},
            "advantage": number(number_at(opened.advantages["grpo"], place), 2),
            "completion": tail(rollout.text),
        }
        for place, rollout in zip(places, opened.scored.read(places), strict=True)
    ]  # fmt: skip


def _columns(opened: Opened) -> dict[str, Any]:
    scored = opened.summary["reward"]
    low, high = min(scored["min"] or 0.0, 0.0), max(scored["max"] or 0.0, 0.0)
    return {
        "group": st.column_config.TextColumn(_("group"), width=62),
        "reward": st.column_config.ProgressColumn(
            _("reward"), min_value=low, max_value=high if high > low else low + 1, format="%.2f", width=92
        ),
        **{name: st.column_config.TextColumn(alignment="right", width=76) for name in opened.rules},
        "advantage": st.column_config.TextColumn(_("advantage"), alignment="right", width=78),
        "completion": st.column_config.TextColumn(_("completion"), width=360),
    }
