"""What a result says at a glance: the verdict, six numbers, how rewards spread, which groups carry a signal."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from components import state, theme
from components.i18n import _, say
from components.rollouts.advice import advice
from components.rollouts.results import Opened
from components.rollouts.tabs import show_completions
from components.theme import UNSCORED, count, number, percent, plain
from rewards_lib.contract import Sentence, sentence

MOST_BARS = 24
BINS = 30
MOST_GROUPS = 150
MOST_POINTS = 2000


def overview(opened: Opened) -> None:
    """The first tab."""
    _failures(opened)
    left, right = st.columns(2, gap="medium")
    with left, st.container(gap=None):
        _spread(opened)
    with right, st.container(gap=None):
        _signal(opened)
    st.markdown(f"**{_('By rule')}**")
    _rule_table(opened)
    left, right = st.columns(2, gap="medium")
    with left, st.container(gap="xsmall"):
        _passes(opened)
    with right, st.container(gap=None):
        _length(opened)
    advice(opened)
    with st.expander(_("How these numbers are made"), icon=":material/functions:", key="numbers_how"):
        st.markdown(
            _(
                "bo1, bon and won are means over groups of the mean, the best and the worst reward; pass at k is the "
                "unbiased estimate 1 − C(n−c, k) / C(n, k) (arXiv 2107.03374). Intervals resample groups 1 000 times "
                "with a fixed seed. A rollout is right from {right} on: half of the largest reward. Unscored rollouts "
                "enter no mean.",
                right=number(opened.right) if math.isfinite(opened.right) else UNSCORED,
            )
        )


def _failures(opened: Opened) -> None:
    """Equal failures as one cause, with how many and one of them."""
    causes = opened.job.result.get("failures") or []
    if not causes:
        return
    with st.container(border=True, gap="xsmall", key="failures"):
        told = _("{count} rollouts are unscored, by cause", count=count(sum(cause["count"] for cause in causes)))
        st.markdown(f":red[:material/error:] **{told}**")
        for place, cause in enumerate(causes[:5]):
            with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
                st.markdown(f"**{count(cause['count'])}**  {plain(cause['why'])}", width="stretch")
                st.button(
                    _("Show line {line}", line=cause["line"]), key=f"cause_{place}", type="tertiary",
                    on_click=show_completions, args=(f"line == {cause['line']}",),
                )  # fmt: skip


# --- charts --------------------------------------------------------------------------------------------------------


def _spread(opened: Opened) -> None:
    names = [_("total"), *opened.rules]
    st.markdown(f"**{_('How rewards spread')}**  :small[:gray[{_('completions by reward')}]]")
    chosen = st.pills(
        _("Rule"), names, default=names[0], required=True, key="spread_of", label_visibility="collapsed"
    ) if len(names) > 2 else names[0]  # fmt: skip
    place = names.index(chosen) - 1
    column = opened.table.rewards if place < 0 else opened.table.rules[opened.rules[place]]
    values, counts, width = histogram(column[~np.isnan(column)])
    colours = theme.palette()
    drawn = theme.figure(240, x_title=_("reward"), y_title=_("completions"))
    drawn.add_bar(
        x=values, y=counts, width=width, marker_color=colours.series[max(place, 0)], text=[count(n) for n in counts],
        textposition="outside" if len(counts) <= 12 else "none", cliponaxis=False,
        hovertemplate="%{x:.4g}: %{y}<extra></extra>",
    )  # fmt: skip
    drawn.update_layout(
        hovermode="closest", yaxis_range=[0, max(counts, default=1) * 1.15],
        uniformtext={"minsize": 11, "mode": "show"},
    )  # fmt: skip
    told = ", ".join(f"{number(value)}: {many}" for value, many in zip(values[:12], counts[:12], strict=True))
    theme.show(drawn, alt=_("Completions by reward: {told}", told=told), key="spread_chart")


def histogram(column: Any) -> tuple[list[float], list[int], float]:
    """Bars of a column: one a value where they are few and apart, else of equal width; with the bars' width."""
    values, counts = np.unique(np.round(column, 9), return_counts=True)
    gaps = np.diff(values)
    if len(values) <= MOST_BARS and (not gaps.size or gaps.min() > np.ptp(values) / (2 * BINS)):
        return values.tolist(), counts.tolist(), float(min(gaps.min() * 0.6, np.ptp(values) / 8)) if gaps.size else 0.1
    counts, edges = np.histogram(column, bins=BINS)
    middles = (edges[:-1] + edges[1:]) / 2
    return middles.tolist(), counts.tolist(), float(edges[1] - edges[0])


def _signal(opened: Opened) -> None:
    groups = opened.groups
    order = np.lexsort((-groups.best, -groups.means))
    total = len(order)
    shown = order if total <= MOST_GROUPS else order[np.linspace(0, total - 1, MOST_GROUPS).astype(int)]
    flat = groups.has_no_variance[shown]
    small = _("{count} prompts by mean; bar from worst to best, dot is the mean", count=count(total))
    if total > MOST_GROUPS:
        small = _(
            "{count} prompts by mean, every {step}th of them drawn", count=count(total), step=total // MOST_GROUPS
        )
    st.markdown(f"**{_('Signal by group')}**  :small[:gray[{small}]]")
    colours = theme.palette()
    drawn = theme.figure(270, legend=True, x_title=_("prompt, easiest to hardest"), y_title=_("reward"))
    places = np.arange(len(shown)) + 1
    live = ~flat
    means, best, worst = groups.means[shown], groups.best[shown], groups.worst[shown]
    names = [opened.table.groups[int(place)] for place in groups.numbers[shown]]
    drawn.add_bar(
        x=places[live], y=(best - worst)[live], base=worst[live], width=0.5, showlegend=False, hoverinfo="skip",
        marker_color=theme.tint(colours.series[0], 0.35),
    )  # fmt: skip
    for chosen, label, mark in (
        (live, _("has a signal"), {"color": colours.series[0], "size": 7}),
        (flat, _("no signal"), {"color": colours.muted, "size": 8, "symbol": "x-thin-open", "line": {"width": 2}}),
    ):
        drawn.add_scatter(
            x=places[chosen], y=means[chosen], mode="markers", marker=mark, name=label,
            customdata=[names[place] for place in np.flatnonzero(chosen)],
            hovertemplate="%{customdata}: %{y:.4g}<extra></extra>",
        )  # fmt: skip
    drawn.update_layout(hovermode="closest", clickmode="event+select")
    st.plotly_chart(
        drawn, theme=None, key="signal_chart", on_select=_open_group, selection_mode="points",
        alt=_("{count} groups, {flat} of them without a signal", count=total, flat=int(groups.has_no_variance.sum())),
        config={"displayModeBar": False, "displaylogo": False},
    )  # fmt: skip
    st.caption(_("Click a dot or a × to read that group."))


def _open_group() -> None:
    chosen = state.widget("signal_chart")
    points = chosen["selection"]["points"] if chosen else []
    if points and "customdata" in points[0]:
        name = points[0]["customdata"]
        name = name[0] if isinstance(name, list) else name
        show_completions(f"group == {str(name)!r}")


def _length(opened: Opened) -> None:
    st.markdown(f"**{_('Reward against length')}**  :small[:gray[{_('characters of the completion')}]]")
    lengths, rewards = opened.table.lengths, opened.table.rewards
    both = np.flatnonzero(~(np.isnan(lengths) | np.isnan(rewards)))
    if not both.size:
        st.caption(_("The file holds no completions."))
        return
    drawn_places = both if both.size <= MOST_POINTS else both[np.linspace(0, both.size - 1, MOST_POINTS).astype(int)]
    drawn = theme.figure(240, x_title=_("length"), y_title=_("reward"))
    drawn.add_scatter(
        x=lengths[drawn_places], y=rewards[drawn_places], mode="markers",
        marker={"color": theme.tint(theme.palette().series[0], 0.5), "size": 5},
        hovertemplate="%{x}: %{y:.4g}<extra></extra>",
    )  # fmt: skip
    drawn.update_layout(hovermode="closest")
    found = opened.summary["correlations"]["length"]["reward"]
    theme.show(drawn, alt=_("Reward against length; correlation {value}", value=number(found)), key="length_chart")
    st.caption(_("Correlation with the length: {value}", value=number(found)))


# --- tables --------------------------------------------------------------------------------------------------------


def _rule_table(opened: Opened) -> None:
    if not opened.rules:
        st.caption(_("The file tells no rules apart: it holds the reward alone."))
        return
    lengths = opened.summary["correlations"]["length"]
    rows = []
    for name in opened.rules:
        found = opened.summary["rules"][name]
        weight = opened.weights[name] if opened.weights else None
        rows.append({
            "rule": name, "weight": number(weight), "mean": number(found["mean"]), "std": number(found["std"]),
            "min": number(found["min"]), "max": number(found["max"]),
            "unscored": count(len(opened.table.rewards) - found["n"]), "length": number(lengths[name], 2),
            "note": say(rule_note(opened, name)),
        })  # fmt: skip
    heads = {
        "weight": _("weight"), "mean": _("mean"), "std": _("std"), "min": _("min"), "max": _("max"),
        "unscored": _("no number"), "length": _("with length"),
    }  # fmt: skip
    right = {name: st.column_config.TextColumn(head, alignment="right", width=74) for name, head in heads.items()}
    st.dataframe(
        pd.DataFrame(rows), hide_index=True, row_height=30, key="rule_statistics", alt=_("Statistics by rule"),
        column_config={
            "rule": st.column_config.TextColumn(_("rule"), width=130), **right,
            "note": st.column_config.TextColumn(_("note"), width=340),
        },
    )  # fmt: skip
    pairs = opened.summary["correlations"]["rules"]
    if pairs:
        told = " · ".join(f"{plain(pair)} {number(value, 2)}" for pair, value in pairs.items())
        st.markdown(f":small[:gray[{_('Correlation of the rules')}]  {told}]")


def rule_note(opened: Opened, name: str) -> Sentence | None:
    """What stands out about a rule; None when nothing does."""
    found = opened.summary["rules"][name]
    if not found["n"]:
        return sentence("Gave no number at all.")
    if found["max"] - found["min"] < 1e-9:
        return sentence("Same for every completion: its weight changes no rank.")
    for pair, value in opened.summary["correlations"]["rules"].items():
        one, _bar, other = pair.partition(" | ")
        if name == other and value is not None and abs(value) > 0.95:
            return sentence("Says nearly the same as {other}.", other=one)
    value = opened.summary["correlations"]["length"][name]
    if value is not None and abs(value) > 0.5:
        return sentence("Goes with the length of the completion.")
    return None


def _passes(opened: Opened) -> None:
    st.markdown(f"**{_('Pass at k')}**  :small[:gray[{_('chance that one of k completions is right')}]]")
    found, intervals = opened.summary["pass_at"], opened.summary["intervals"]
    rows = [
        {"k": k, "pass": percent(value), "interval": _span(intervals[f"pass_at_{k}"])} for k, value in found.items()
    ]
    st.dataframe(
        pd.DataFrame(rows), hide_index=True, row_height=30, key="pass_table", alt=_("Pass at k"), width=380,
        column_config={
            "k": st.column_config.TextColumn("k", width=50, alignment="right"),
            "pass": st.column_config.TextColumn(_("pass at k"), width=100, alignment="right"),
            "interval": st.column_config.TextColumn(_("95 % interval"), width=150, alignment="right"),
        },
    )  # fmt: skip
    kept = opened.readiness.kept_share
    if kept:
        st.caption(
            _(
                "Dynamic sampling (DAPO) would keep {kept} of the groups: {times} times the generations for a batch.",
                kept=percent(kept), times=number(1 / kept, 2),
            )
        )  # fmt: skip


def _span(span: list[float] | None) -> str:
    return UNSCORED if span is None else f"{percent(span[0])} … {percent(span[1])}"
