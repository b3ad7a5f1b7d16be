"""What is said about runs before their charts: the figures that matter, how the files were read, what was mended."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import streamlit as st

from components import theme
from components.i18n import _, language, say
from components.metrics.drawing import END_POINTS, Look, ends, short_number
from components.metrics.files import x_label
from components.metrics.view import View
from rewards_lib.training_metrics import Export, Run, Series, canonical_names, notes_of

SHOWN_NOTES = 3
MOST_ROWS = 24
MOST_KEPT = 2048
"""Facts and rows of the table, a few numbers each."""


def facts_of(run: Run, look: Look) -> list[tuple[str, str]]:
    """Labels and values of one run within the steps looked at; what the run does not report is left out."""
    speaking = canonical_names(run.names)

    def find(canonical: str) -> Series | None:
        name = speaking.get(canonical)
        series = run.series(name).within(look.step_range) if name else None
        return series if series is not None and len(series) else None

    steps = Series(run.steps, run.steps).within(look.step_range).steps
    facts = [(_("Steps"), f"{step_text(float(steps[0]))} – {step_text(float(steps[-1]))}")] if len(steps) else []
    if reward := find("train/reward/final_rewards"):
        facts.append((_("Final reward"), _moved(reward)))
    if test := find("test/reward/final_rewards"):
        best = int(test.values.argmax())
        value, step = short_number(float(test.values[best])), step_text(float(test.steps[best]))
        facts.append((_("Best test"), _("{value} at step {step}", value=value, step=step)))
    if length := find("train/generation/response_length.mean"):
        first, last = (theme.count(round(end)) if end is not None else theme.UNSCORED for end in ends(length))
        facts.append((_("Response tokens"), f"{first} → {last}"))
    if share := find("train/generation/response_length.clipfrac"):
        first, last = (theme.percent(end) for end in ends(share))
        facts.append((_("Truncation"), f"{first} → {last}"))
    return facts


@st.cache_resource(max_entries=MOST_KEPT, show_spinner=False)
def _facts_of(within: str, spoken: str, label: str, _view: View) -> list[tuple[str, str]]:  # noqa: ARG001 -- keys
    return facts_of(_view.runs[label], _view.look)


def facts(view: View) -> None:
    """Draw a row of facts for each run: label above, value below."""
    for place, label in enumerate(view.runs):
        with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
            if len(view.runs) > 1:
                st.markdown(theme.rule_mark(place, label), width=180)
            for name, value in _facts_of(view.within, language(), label, view):
                with st.container(width="content", gap=None):
                    st.caption(name)
                    st.markdown(f"**{theme.plain(value)}**", help=_help(name))


def _help(name: str) -> str | None:
    """What "first → last" means, beside the facts that use it; why the best test may not be the one a finding names."""
    if name in (_("Final reward"), _("Response tokens"), _("Truncation")):
        return _("Mean of the first and of the last {count} values", count=END_POINTS)
    if name == _("Best test"):
        return _("The best single evaluation; findings go by the mean of several in a row, since one alone is noisy.")
    return None


@dataclass(frozen=True)
class Figures:
    """A series within the steps looked at, in numbers."""

    points: int
    first: float
    last: float
    mean: float
    least: float
    least_step: float
    most: float
    most_step: float


def figures_of(series: Series) -> Figures | None:
    """The numbers of a series; None when it has no value."""
    if not len(series):
        return None
    steps, values = series.steps, series.values
    low, high = int(values.argmin()), int(values.argmax())
    return Figures(
        len(series), float(values[0]), float(values[-1]), float(values.mean()), float(values[low]), float(steps[low]),
        float(values[high]), float(steps[high]),
    )  # fmt: skip


@st.cache_resource(max_entries=MOST_KEPT, show_spinner=False)
def _figures_of(within: str, label: str, name: str, _view: View) -> Figures | None:  # noqa: ARG001 -- a key
    return figures_of(_view.runs[label].series(name).within(_view.look.step_range))


def values_table(view: View, names: Collection[str]) -> None:
    """Draw, behind a button, a table of what is shown: each series within the steps looked at, in numbers."""
    with st.expander(_("Values of the shown series within these steps")):
        rows = [
            {
                _("run"): label,
                _("series"): name,
                _("points"): shown.points,
                _("first"): shown.first,
                _("last"): shown.last,
                _("mean"): shown.mean,
                _("min"): shown.least,
                _("min at step"): shown.least_step,
                _("max"): shown.most,
                _("max at step"): shown.most_step,
            }
            for label, run in view.runs.items()
            for name in run.names
            if name in names and (shown := _figures_of(view.within, label, name, view))
        ]
        if len(view.runs) == 1:
            rows = [{key: value for key, value in row.items() if key != _("run")} for row in rows]
        numbers = [_("first"), _("last"), _("mean"), _("min"), _("max")]
        st.dataframe(
            rows,
            hide_index=True,
            row_height=30,
            # a table that ends in the middle of a row looks cut; a long one is scrolled
            height="content" if len(rows) <= MOST_ROWS else 30 * MOST_ROWS,
            column_config={name: st.column_config.NumberColumn(format="%.4g", width="small") for name in numbers},
            key="metric_values",
        )


def mended(exports: Sequence[Export]) -> None:
    """Draw what was mended on reading, the first few in sentences; the rest stands under How it was read."""
    notes = notes_of(exports)
    if not notes:
        return
    shown = notes if len(notes) == SHOWN_NOTES + 1 else notes[:SHOWN_NOTES]
    with st.container(gap=None, key="metric_notes"):
        for note in shown:
            st.markdown(f":small[:gray[:material/build:] {theme.plain(_sentence(say(note)))}]")
        if len(notes) > len(shown):
            st.caption(_("{count} more under How it was read", count=len(notes) - len(shown)))


def how_it_was_read(exports: Sequence[Export]) -> None:
    """Draw the button that tells encoding, size, step column and everything that was mended."""
    with st.popover(_("How it was read"), icon=":material/info:", type="tertiary", key="how_it_was_read"):
        for export in exports:
            told = _("{reading}; steps counted by {x}.", reading=say(export.reading), x=x_label(export.x))
            st.markdown(f"**{theme.plain(export.name)}**  \n{theme.plain(told)}")
            for note in export.notes:
                st.markdown(f"- {theme.plain(_sentence(say(note)))}")
            if not export.notes:
                st.markdown(f"- {_('Nothing had to be mended.')}")
            if export.constant:
                names = ", ".join(export.constant[:12])
                st.markdown(f"- {theme.plain(_('Constant series, drawn last: {names}.', names=names))}")


def step_text(step: float) -> str:
    """A step as it is read: whole ones without a point."""
    return theme.count(int(step)) if step % 1 == 0 else theme.number(step, 3)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _moved(series: Series) -> str:
    first, last = ends(series)
    return f"{short_number(first)} → {short_number(last)}"
