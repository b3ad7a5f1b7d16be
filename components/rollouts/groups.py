"""The groups of a result: which carry a signal, every reward at a glance, and what their advantages would be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from components import theme
from components.i18n import _
from components.result_table import tail
from components.rollouts.results import Opened, number_at
from components.rollouts.tabs import show_completions
from components.theme import UNSCORED, count, number, percent, plain
from rewards_lib.rollouts.analysis import slices
from rewards_lib.rollouts.reading import open_rollouts
from rewards_lib.rollouts.reward_table import read_table
from rewards_lib.rollouts.survey import survey

PAGE_GROUPS = 100
MAP_GROUPS = 200
ALGORITHMS = {
    "grpo": "GRPO verl", "grpo_trl": "GRPO TRL", "grpo_openrlhf": "OpenRLHF", "dr_grpo": "Dr. GRPO",
    "rloo": "RLOO", "gdpo": "GDPO",
}  # fmt: skip


def groups_tab(opened: Opened) -> None:
    """The groups, one of them with its advantages, and slices by a field."""
    left, right = st.columns([6, 5], gap="medium")
    with left:
        chosen = _table(opened)
    with right:
        _advantages(opened, chosen)
    _heat_map(opened)
    _slices(opened)


def _table(opened: Opened) -> int:
    """Draw a page of the groups and return the number of the chosen one in the reward table."""
    kinds = {"all": _("All"), "signal": _("With a signal"), "right": _("Always right"), "wrong": _("Always wrong")}
    kind = st.pills(
        _("Show"), list(kinds), default="all", required=True, format_func=kinds.__getitem__, key="group_kind",
        label_visibility="collapsed",
    )  # fmt: skip
    groups = opened.groups
    flat, right = groups.has_no_variance, groups.right > 0
    wanted = {"all": flat | ~flat, "signal": ~flat, "right": flat & right, "wrong": flat & ~right}[kind or "all"]
    order = np.flatnonzero(wanted)[np.argsort(-groups.means[wanted], kind="stable")]
    pages = max(1, -(-len(order) // PAGE_GROUPS))
    page = st.pagination(pages, key=f"group_page_{kind}") if pages > 1 else 1
    shown = order[(page - 1) * PAGE_GROUPS : page * PAGE_GROUPS]
    if not len(shown):
        st.caption(_("There are no such groups."))
        return int(groups.numbers[0])
    firsts = [opened.scored.members(int(groups.numbers[place]))[0] for place in shown]
    prompts = [_prompt(rollout) for rollout in opened.scored.read(firsts)]
    state = st.dataframe(
        pd.DataFrame([_row(opened, int(place), prompt) for place, prompt in zip(shown, prompts, strict=True)]),
        hide_index=True, row_height=30, height=390, key=f"group_table_{kind}_{page}", alt=_("Groups"),
        on_select="rerun", selection_mode="single-row", selection_default={"selection": {"rows": [0]}},
        column_config=_columns(opened),
    )  # fmt: skip
    rows = state.selection.rows
    return int(groups.numbers[shown[min(rows[0], len(shown) - 1)] if rows else shown[0]])


def _row(opened: Opened, place: int, prompt: str) -> dict[str, Any]:
    groups = opened.groups
    flat = bool(groups.has_no_variance[place])
    return {
        "group": opened.table.groups[int(groups.numbers[place])], "mean": float(groups.means[place]),
        "worst": number(float(groups.worst[place])), "best": number(float(groups.best[place])),
        "right": f"{int(groups.right[place])} / {int(groups.sizes[place])}",
        "signal": [_("none") if flat else _("yes")], "prompt": prompt,
    }  # fmt: skip


def _columns(opened: Opened) -> dict[str, Any]:
    high, low = float(opened.groups.best.max(initial=0.0)), float(opened.groups.worst.min(initial=0.0))
    return {
        "group": st.column_config.TextColumn(_("group"), width=80),
        "mean": st.column_config.ProgressColumn(
            _("mean"), min_value=low, max_value=high if high > low else low + 1, format="%.3f", width=100
        ),
        "worst": st.column_config.TextColumn(_("worst"), width=60, alignment="right"),
        "best": st.column_config.TextColumn(_("best"), width=60, alignment="right"),
        "right": st.column_config.TextColumn(_("right"), width=60, alignment="right"),
        "signal": st.column_config.MultiselectColumn(
            _("signal"), options=[_("yes"), _("none")], color=["green", "gray"], width=70
        ),
        "prompt": st.column_config.TextColumn(_("prompt"), width=360),
    }


def _prompt(rollout: Any) -> str:
    messages = rollout.sample.get("messages") or []
    return tail(str(messages[-1].get("content", ""))) if messages else ""


def _advantages(opened: Opened, group: int) -> None:
    """The rewards of one group and what each algorithm makes of them."""
    members = opened.scored.members(group)
    name = opened.table.groups[group]
    with st.container(border=True, gap="xsmall", key="group_advantages"):
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            st.markdown(f"**{_('Advantages in {group}', group=plain(name[:40]))}**", width="content")
            st.button(
                _("Read its completions"), key="read_group", type="tertiary", icon=":material/arrow_forward:",
                icon_position="right", on_click=show_completions, args=(f"group == {name!r}",),
            )  # fmt: skip
        rows = [
            {"#": str(place + 1), "reward": number(number_at(opened.table.rewards, member))}
            | {
                ALGORITHMS[one]: number(number_at(column, member), 3)
                for one, column in opened.advantages.items()
            }
            for place, member in enumerate(members[:PAGE_GROUPS])
        ]  # fmt: skip
        heads = {label: st.column_config.TextColumn(alignment="right", width=92) for label in ALGORITHMS.values()}
        st.dataframe(
            pd.DataFrame(rows), hide_index=True, row_height=30, key="advantage_table", height="content",
            alt=_("Advantages by algorithm"),
            column_config={
                "#": st.column_config.TextColumn(width=34),
                "reward": st.column_config.TextColumn(_("reward"), width=70, alignment="right"), **heads,
            },
        )  # fmt: skip
        rewards = opened.table.rewards[members]
        known = rewards[~np.isnan(rewards)]
        if known.size > 1:
            st.caption(
                _(
                    "Mean {mean}, unbiased standard deviation {std}. The GRPO columns differ in what they add to it: "
                    "1e-6, 1e-4, 1e-9. Equal rewards have no advantage.",
                    mean=number(float(known.mean())), std=number(float(known.std(ddof=1))),
                )
            )  # fmt: skip


def _heat_map(opened: Opened) -> None:
    groups = opened.groups
    shown = np.argsort(-groups.means, kind="stable")
    total = len(shown)
    if total > MAP_GROUPS:
        shown = shown[np.linspace(0, total - 1, MAP_GROUPS).astype(int)]
    width = int(groups.sizes.max(initial=0))
    if not 1 < width <= 128:
        return
    cells = np.full((len(shown), width), np.nan)
    names = []
    for row, place in enumerate(shown):
        rewards = opened.table.rewards[opened.scored.members(int(groups.numbers[place]))]
        known = np.sort(rewards[~np.isnan(rewards)])[::-1][:width]
        cells[row, : len(known)] = known
        names.append(opened.table.groups[int(groups.numbers[place])])
    st.markdown(f"**{_('Every reward')}**  :small[:gray[{_('a row of the chart is a group, best completion first')}]]")
    colours = theme.palette()
    drawn = theme.figure(min(420, 90 + 6 * len(shown)), x_title=_("completion of the group, best first"))
    drawn.add_heatmap(
        z=cells, x=list(range(1, width + 1)), text=[[name] * width for name in names],
        hovertemplate="%{text}: %{z:.4g}<extra></extra>",
        colorscale=[[0, theme.tint(colours.series[0], 0.08)], [1, colours.series[0]]],
        colorbar={"thickness": 8, "outlinewidth": 0, "tickfont": {"color": colours.muted, "size": 11}},
    )  # fmt: skip
    drawn.update_layout(
        hovermode="closest",
        xaxis={"dtick": 1 if width <= 16 else 8},
        yaxis={"showticklabels": False, "autorange": "reversed"},
    )
    theme.show(drawn, alt=_("Rewards of {count} groups", count=total), key="heat_map")


def _slices(opened: Opened) -> None:
    """The same figures by a field of the samples."""
    fields = _fields(opened.job.id, opened)
    if not fields:
        return
    st.markdown(f"**{_('By a field of the samples')}**")
    field = st.selectbox(
        _("Field"), fields, index=None, key="slice_field", placeholder=_("level, source ..."), width=260,
        label_visibility="collapsed",
    )  # fmt: skip
    if not field:
        return
    with st.spinner(_("Reading {name} ...", name=field)):
        found = _sliced(opened.job.id, field, opened.right, opened)
    rows = [
        {
            "value": value, "rollouts": count(row["rollouts"]), "bo1": number(row["bo1"]), "bon": number(row["bon"]),
            "won": number(row["won"]), "flat": percent(row["zero_variance_share"]), "unscored": count(row["unscored"]),
            "note": _("few rows") if row["is_few"] else "",
        }
        for value, row in found.items()
    ]  # fmt: skip
    heads = {
        "rollouts": _("completions"), "bo1": _("mean"), "bon": _("best"), "won": _("worst"), "flat": _("no signal"),
        "unscored": _("unscored"),
    }  # fmt: skip
    st.dataframe(
        pd.DataFrame(rows), hide_index=True, row_height=30, key="slice_table", alt=_("Figures by {field}", field=field),
        column_config={
            "value": st.column_config.TextColumn(plain(field), width=180),
            **{name: st.column_config.TextColumn(head, alignment="right", width=90) for name, head in heads.items()},
            "note": st.column_config.TextColumn(_("note"), width=120),
        },
    )  # fmt: skip


@st.cache_data(max_entries=16, show_spinner=False)
def _fields(job_id: str, _opened: Opened) -> list[str]:  # noqa: ARG001 -- the id is the key
    found = survey(open_rollouts(_opened.scored.path, format_name="scored"), most=200)
    return [name for name in found.fields if name != "answer"]


@st.cache_data(max_entries=32, show_spinner=False)
def _sliced(job_id: str, field: str, right: float, _opened: Opened) -> dict[str, Any]:  # noqa: ARG001
    table = read_table(open_rollouts(_opened.scored.path, format_name="scored"), by=field)
    return dict(slices(table, right)) or {UNSCORED: {}}
