"""The charts of a view, each drawn once for what it depends on and kept for all visitors.

Invariant: a chart that is kept is never changed again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from components.metrics.charts import charts_of_findings, main_charts, mark_findings, optimiser_charts, series_chart
from components.metrics.controls import Pick
from components.metrics.drawing import Chart
from components.metrics.view import View

MOST_KEPT = 32
"""Views, at about a megabyte each."""


@dataclass(frozen=True)
class KnownCharts:
    """The charts whose meaning is known."""

    main: Sequence[Chart]
    told: Sequence[Chart]
    """Of what findings are about and no other chart draws."""
    optimiser: Sequence[Chart]

    @property
    def all(self) -> list[Chart]:
        """In the order of the page."""
        return [*self.main, *self.told, *self.optimiser]


def known_charts(view: View) -> KnownCharts:
    """The charts of the view; where there is one run, its findings are marked in them."""
    found = [[one.rule, one.severity, one.steps, one.series] for one in view.findings]
    return _known_charts(view.drawn, json.dumps(found), view)


@st.cache_resource(max_entries=MOST_KEPT, show_spinner=False)
def _known_charts(drawn: str, found: str, _view: View) -> KnownCharts:  # noqa: ARG001 -- keys
    runs, look, findings = _view.runs, _view.look, _view.findings
    main, optimiser = main_charts(runs, look, _view.limits), optimiser_charts(runs, look)
    charts = KnownCharts(main, charts_of_findings(findings, [*main, *optimiser], runs, look), optimiser)
    if len(runs) == 1:
        mark_findings(findings, charts.all)
    return charts


def picked_chart(view: View, pick: Pick) -> Chart:
    """The chart of a further series."""
    return _picked_chart(view.drawn, pick.title, list(pick.members.items()), view)


@st.cache_resource(max_entries=4 * MOST_KEPT, show_spinner=False)
def _picked_chart(drawn: str, title: str, members: list[tuple[str, str]], _view: View) -> Chart:  # noqa: ARG001 -- a key
    return series_chart(_view.runs, dict(members), title, _view.look, key=f"chart_series_{title}")
