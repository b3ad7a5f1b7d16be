"""How runs are looked at: steps, smoothing, what counts the steps, and which further series are drawn."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components import address, state, theme
from components.i18n import _, say
from components.metrics.drawing import Look
from components.metrics.facts import step_text
from components.metrics.files import choose_x, x_label
from components.metrics.step_range import range_slider
from rewards_lib.training_metrics import ROW_NUMBER, Export, Run, canonical_name, group_families

AXES, PICKED = "metric_axes", "metric_series"
"""Keys of the address: kinds of axes, and series that were picked."""
MOST_SMOOTHED, FIRST_SMOOTHED = 0.99, 0.8
MOST_OF_A_NAME = 26
INDENT = "\u2003"
MOST_PICKED = 12
FIRST_PICKED = 4
"""How many series are drawn unasked where none of the known charts can be."""


def look_chooser(exports: Mapping[str, Export], runs: Mapping[str, Run]) -> Look:
    """Draw the row of controls over exports, by their digests; return what they say."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="metric_controls"):
        st.markdown(_run_line(list(exports.values()), runs), width="content")
        step_range = range_slider(runs)
        weight = st.slider(
            _("Smoothing"),
            0.0,
            MOST_SMOOTHED,
            FIRST_SMOOTHED,
            0.01,
            format=_("smoothing") + " %.2f",
            label_visibility="collapsed",
            width=150,
            key="metric_smoothing",
            persist_state="session",
            bind="query-params",
        )
        if len(exports) == 1:
            _x_chooser(*next(iter(exports.items())))
        axes = _axes_chooser()
    return Look(step_range, weight, log_x="log_x" in axes, log_y="log" in axes, clip="clip" in axes)


def close_all() -> None:
    """Look at no run any more, and at the next one in the usual way. For callbacks."""
    state.metric_files.set(())
    state.metric_zoom.clear()
    state.metric_link_told.clear()
    address.forget_options(AXES, PICKED)
    state.put_widget(AXES, [])


def _axes_chooser() -> list[str]:
    words = {"log": _("values logarithmic"), "log_x": _("steps logarithmic"), "clip": _("without outliers")}
    if not state.is_drawn(AXES) and (named := address.named_options(AXES, words)):
        state.put_widget(AXES, named)
    with st.popover(_("Axes"), type="tertiary", key="axes_menu"):
        chosen: list[str] = st.pills(
            _("Kinds of axes"),
            list(words),
            selection_mode="multi",
            format_func=words.__getitem__,
            key=AXES,
            persist_state="session",
        )
        st.caption(_("Drag over a chart to look at those steps in all of them."))
    address.keep_options(AXES, chosen)
    return chosen


def _run_line(exports: Sequence[Export], runs: Mapping[str, Run]) -> str:
    """Whose series these are, with their colours where there are several."""
    if len(runs) > 1:
        return "  ".join(theme.rule_mark(index, label) for index, label in enumerate(runs))
    (run,) = runs.values()
    count = _count_steps(run)
    told = [_("one step") if count == 1 else _("{count} steps", count=theme.count(count))]
    told += [_("restart at {step}", step=step_text(restart.step)) for restart in run.restarts[:2]]
    name = theme.plain(_short(exports[0].name))
    return f"{theme.coloured('●', 0)} **{name}** :small[:gray[{theme.plain(' · '.join(told))}]]"


def _short(name: str) -> str:
    """A long name without its middle: the controls stand in one row."""
    return name if len(name) <= MOST_OF_A_NAME else f"{name[:14]}…{name[-9:]}"


def _count_steps(run: Run) -> int:
    """Different steps; they rise, and a step may stand on several rows."""
    return int((run.steps[1:] > run.steps[:-1]).sum()) + bool(len(run.steps))


def _x_chooser(digest: str, export: Export) -> None:
    choices = list(dict.fromkeys([export.x, *export.x_choices, ROW_NUMBER]))
    key = f"metric_x_column_{digest}"
    st.selectbox(
        _("Steps counted by"),
        choices,
        index=choices.index(export.x),
        format_func=x_label,
        label_visibility="collapsed",
        width=180,
        key=key,
        on_change=choose_x,
        args=(digest, key),
    )


@dataclass(frozen=True)
class Pick:
    """A further series, or a custom metric with its band."""

    title: str
    members: Mapping[str, str]


def picked(picks: Mapping[str, Pick], *, unasked: bool) -> list[Pick]:
    """The series that the picker, drawn further down, holds; at first those of the address, or ``unasked`` a few."""
    key = _picker_key()
    if not state.is_drawn(key):
        named = address.named_options(PICKED, {title: title for title in picks})
        state.put_widget(key, named[:MOST_PICKED] or (list(picks)[:FIRST_PICKED] if unasked else []))
    return [picks[title] for title in state.widget(key) or () if title in picks]


def _picker_key() -> str:
    return "metric_picked_" + "_".join(file.digest for file in state.metric_files.get())


def series_picker(exports: Sequence[Export], picks: Mapping[str, Pick], *, others: bool) -> None:
    """Draw the filter and the list of all series that have no chart yet; ``others`` have one."""
    if not picks:
        return
    title = _("Other series") if others else _("Series")
    st.markdown(f"**{title}**  :small[:gray[{_('{count} in this export', count=len(picks))}]]")
    tree, left, right = st.columns([3, 3, 6], vertical_alignment="bottom", gap="small")
    branch = _branch_chooser(tree, picks)
    typed = left.text_input(
        _("Filter"),
        placeholder=_("Filter: a regular expression"),
        label_visibility="collapsed",
        icon=":material/search:",
        key="metric_filter",
        persist_state="session",
    )
    pattern = _pattern(typed or "")
    key = _picker_key()
    held = [title for title in state.widget(key) or () if title in picks]
    options = [t for t in picks if (t.startswith(branch) and pattern.search(t)) or t in held]
    chosen = right.multiselect(
        _("Series to draw"),
        options,
        format_func=lambda title: _label(title, exports),
        max_selections=MOST_PICKED,
        placeholder=_("Choose series to draw ({count} match)", count=len(options)),
        label_visibility="collapsed",
        wrap=True,
        key=key,
        persist_state="session",
    )
    address.keep_options(PICKED, chosen)


def _pattern(typed: str) -> re.Pattern[str]:
    """What was typed as a regular expression; one that filters nothing, and why, where it cannot be used."""
    from rewards_lib.presets.patterns import explosive_parts  # here: nobody who types no filter waits for it

    try:
        pattern = re.compile(typed, re.IGNORECASE)
    except re.error as error:
        st.warning(_("{typed} is no regular expression: {why}.", typed=theme.plain(typed), why=str(error)))
        return re.compile("")
    # matching holds up all visitors
    if problems := explosive_parts(typed, "i"):
        why = theme.plain(say(problems[0]))
        st.warning(_("{typed} is not used as a filter: {why}.", typed=theme.plain(typed), why=why))
        return re.compile("")
    return pattern


def _branch_chooser(place: DeltaGenerator, picks: Collection[str]) -> str:
    """Draw the tree of names, a branch for each prefix that several series share; return the prefix that was chosen."""
    branches = branches_of(picks)
    if not branches:
        return ""
    chosen: str | None = place.selectbox(
        _("Branch"),
        list(branches),
        index=None,
        format_func=lambda branch: f"{INDENT * (branch.count('/') - 1)}{branch} · {theme.count(branches[branch])}",
        placeholder=_("All branches"),
        label_visibility="collapsed",
        key="metric_branch_" + "_".join(file.digest for file in state.metric_files.get()),
        persist_state="session",
    )
    return chosen or ""


def branches_of(titles: Collection[str]) -> dict[str, int]:
    """The prefixes, up to and with a slash, that at least two series share, in the order of a tree, with their counts.

    >>> branches_of(["train/a/x", "train/a/y", "train/b", "loss"])
    {'train/': 3, 'train/a/': 2}
    """
    counts = Counter(title[: found.end()] for title in titles for found in re.finditer("/", title))
    return {branch: count for branch, count in sorted(counts.items()) if count > 1}


def picks_of(exports: Sequence[Export], runs: Mapping[str, Run], drawn: Collection[str]) -> dict[str, Pick]:
    """Everything that can be drawn beside the known charts: custom metrics first, constant series last."""
    bands: dict[str, Pick] = {}
    single: dict[str, Pick] = {}
    for run in runs.values():
        for family in group_families(run.names):
            if family.kind == "custom":
                bands.setdefault(family.name, Pick(family.name, family.members))
                continue
            for name in family.members.values():
                if name not in drawn:
                    single.setdefault(name, Pick(name, {"value": name}))
    constant = {name for export in exports for name in export.constant}
    moving = {title: pick for title, pick in single.items() if title not in constant}
    return bands | moving | {title: pick for title, pick in single.items() if title in constant}


def _label(title: str, exports: Sequence[Export]) -> str:
    """A series' own name, with what it means beside it where that is another word, and a mark on constants."""
    canonical = canonical_name(title)
    meaning = f" ({canonical})" if canonical and canonical != title else ""
    constant = f" · {_('constant')}" if any(title in export.constant for export in exports) else ""
    return f"{title}{meaning}{constant}"
