"""Other weights, without scoring again: a slider a rule; means, signal and ranks follow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from components import cache, drafts, state
from components.i18n import _
from components.result_table import tail
from components.rollouts.results import Opened, decimals_of, weights_of
from components.theme import coloured, count, number, percent, plain
from rewards_lib.mix import mix_to_json
from rewards_lib.rollouts import RewardTable, reweigh
from rewards_lib.rollouts.group_statistics import BEST_OF_N, group_table, mean_of, right_from
from rewards_lib.rollouts.rank_changes import rank_changes

MOST_WEIGHT = 2.0


def what_if_tab(opened: Opened) -> None:
    """The sliders left, what follows right."""
    if not opened.rules or opened.weights is None:
        st.info(_("The weights of this file's rules are not known, so nothing can be added up anew."))
        return
    left, right = st.columns([4, 7], gap="medium")
    with left:
        weights = _sliders(opened)
    table = reweigh(opened.table, decimals_of(weights))
    with right:
        _figures(opened, table)
        _ranks(opened, table)
    _largest_changes(opened, table)


def _sliders(opened: Opened) -> dict[str, float]:
    given = opened.weights or {}
    weights = {}
    for place, name in enumerate(opened.rules):
        st.markdown(f"{coloured('■', place)} **{plain(name)}**  :small[:gray[{_('now')} {number(given[name])}]]")
        weights[name] = st.slider(
            _("Weight of {name}", name=name), 0.0, max(MOST_WEIGHT, 2 * given[name]), given[name], 0.01,
            key=f"what_if_{name}_{opened.job.id}", label_visibility="collapsed",
        )  # fmt: skip
    with st.container(horizontal=True, gap="xsmall"):
        st.button(_("As they are"), key="what_if_reset", icon=":material/undo:", on_click=_reset, args=(opened,))
        if opened.mix is not None and weights != weights_of(opened.mix):
            can_be = all(weight >= 0.01 for weight in weights.values())
            st.button(
                _("Take these weights to Compose"), key="what_if_use", icon=":material/arrow_forward:",
                disabled=not can_be, on_click=_use, args=(opened, weights),
                help=None if can_be else _("A weight of 0 means: take the rule out of the mix."),
            )  # fmt: skip
    return weights


def _reset(opened: Opened) -> None:
    for name, weight in (opened.weights or {}).items():
        state.put_widget(f"what_if_{name}_{opened.job.id}", weight)


def _use(opened: Opened, weights: dict[str, float]) -> None:
    """Put the weights into the draft of the mix that scored."""
    if opened.mix is None:
        return
    content = mix_to_json(opened.mix)
    for rule in content["rules"]:
        rule["weight"] = round(weights[rule["name"]], 2)
    stored = cache.store().find_draft("mix", opened.mix.name)
    drafts.replace(drafts.open_draft("mix", opened.mix.name, lambda: content), content)
    state.mix_name.set(opened.mix.name)
    told = (
        _("The draft of {name} has these weights now.") if stored else _("A draft {name} was made with these weights.")
    )
    st.toast(told.format(name=opened.mix.name), icon=":material/check:")


def _figures(opened: Opened, table: RewardTable) -> None:
    before, after = opened.groups, group_table(table, right=right_from(table))
    names = {"bo1": _("One try, bo1"), "bon": _("Best, bon"), "won": _("Worst, won")}
    columns = st.columns(4, gap="small")
    with st.container(key="what_if_figures"):
        for column, (name, label) in zip(columns, names.items(), strict=False):
            old, new = mean_of(BEST_OF_N[name](before)), mean_of(BEST_OF_N[name](after))
            column.metric(label, number(new), _change(old, new), delta_color="off")
        flat = [float(groups.has_no_variance.mean()) if len(groups.sizes) else None for groups in (before, after)]
        moved = None if flat[0] == flat[1] else percent(flat[0])
        columns[3].metric(
            _("No signal"), percent(flat[1]), _("was {value}", value=moved) if moved else None, delta_color="off"
        )


def _change(old: float | None, new: float | None) -> str | None:
    if old is None or new is None or abs(old - new) < 1e-9:
        return None
    return _("was {value}", value=number(old))


def _ranks(opened: Opened, table: RewardTable) -> None:
    found = rank_changes(opened.table.rewards, table.rewards, opened.table.group_of)
    if not found.pairs:
        st.caption(_("No group has two scored completions."))
        return
    if not (found.flips or found.ties_broken or found.ties_made):
        st.success(_("No rank inside any group changes: GRPO's signs stay as they are."), icon=":material/check:")
        return
    st.markdown(
        _(
            "**{flips} of {pairs} pairs inside groups change their order**, in {groups} groups; {broken} that were "
            "equal are told apart now, {made} became equal.",
            flips=count(found.flips), pairs=count(found.pairs), groups=count(found.groups),
            broken=count(found.ties_broken), made=count(found.ties_made),
        )
    )  # fmt: skip


def _largest_changes(opened: Opened, table: RewardTable) -> None:
    moves = np.nan_to_num(table.rewards - opened.table.rewards)
    order = [int(place) for place in np.argsort(-np.abs(moves), kind="stable")[:12] if abs(moves[place]) > 1e-9]
    if not order:
        return
    st.markdown(f"**{_('The largest changes')}**")
    st.dataframe(
        pd.DataFrame(_rows(opened, table, order)), hide_index=True, row_height=30, key="what_if_table",
        alt=_("The largest changes"),
        column_config={
            "group": st.column_config.TextColumn(_("group"), width=90),
            "now": st.column_config.TextColumn(_("now"), width=80, alignment="right"),
            "then": st.column_config.TextColumn(_("then"), width=80, alignment="right"),
            **{name: st.column_config.TextColumn(alignment="right", width=90) for name in opened.rules},
            "completion": st.column_config.TextColumn(_("completion"), width=420),
        },
    )  # fmt: skip


def _rows(opened: Opened, table: RewardTable, order: list[int]) -> list[dict[str, Any]]:
    return [
        {
            "group": table.groups[int(table.group_of[place])], "now": number(float(opened.table.rewards[place])),
            "then": number(float(table.rewards[place])),
            **{name: number(float(column[place])) for name, column in table.rules.items()},
            "completion": tail(rollout.text),
        }
        for place, rollout in zip(order, opened.scored.read(order), strict=True)
    ]  # fmt: skip
