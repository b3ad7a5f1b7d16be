"""What can be taken away: what is shown as one wide CSV, and the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import streamlit as st

from components import theme
from components.i18n import _, language
from components.metrics.charts import drawn_names
from components.metrics.drawing import Chart, Look
from components.metrics.html_report import report_head, report_html
from components.metrics.link import share_note
from rewards_lib.training_metrics import Diagnosis, Export, Run, wide_csv


def download_menu(
    exports: Sequence[Export],
    runs: Mapping[str, Run],
    judged: Mapping[str, Diagnosis],
    charts: Sequence[Chart],
    look: Look,
) -> None:
    """Draw the button with both downloads; the files are made when they are asked for."""
    stem = exports[0].name.rpartition(".")[0] or exports[0].name
    names = drawn_names(list(charts))
    with st.popover(_("Download"), icon=":material/download:", key="metric_download"):
        st.download_button(
            _("What is shown, as CSV"),
            partial(wide_csv, runs, names, step_range=look.step_range, x=exports[0].x),
            file_name=f"{stem}-shown.csv", mime="text/csv", icon=":material/table:", key="download_csv",
            on_click="ignore",
        )  # fmt: skip
        st.download_button(
            _("Report, one HTML file"),
            partial(report_html, report_head(exports, judged), list(charts), theme.palette(), language()),
            file_name=f"{stem}-report.html", mime="text/html", icon=":material/description:", key="download_report",
            on_click="ignore",
        )  # fmt: skip
        st.caption(_("Each chart gives its picture by the camera at its right."))
        share_note()
