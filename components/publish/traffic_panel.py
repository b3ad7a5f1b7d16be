"""What comes in: the latest requests, failures first, and how long answers took."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import streamlit as st

from components import service, shell, theme
from components.i18n import _
from components.publish.names import Publishable
from rewards_lib.serving.traffic import Row, Show, by_minute, is_failure, newest_first

LOOK_SECONDS = 2.0


def requests_panel(chosen: Publishable) -> None:
    """Draw the live log of the chosen name with its filter."""
    labels: dict[Show, str] = {"all": _("All"), "failures": _("Failures"), "refused": "503"}

    @st.fragment(run_every=LOOK_SECONDS if service.find() else None)
    def live() -> None:
        filters = st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center")
        with filters:
            st.markdown(f"**{_('Requests')}**  :small[:gray[{_('newest first, the last failures on top')}]]")
            show = st.pills(
                _("Show"), list(labels), default="all", required=True, format_func=labels.__getitem__,
                label_visibility="collapsed", key="requests_shown",
            )  # fmt: skip
        rows = newest_first(service.request_rows(), show, name=chosen.name)
        if not rows:
            st.caption(_("No request yet. Send the line above, or the test call below."))
            return
        _table(rows)

    live()


def _table(rows: list[Row]) -> None:
    columns: dict[str, list[Any]] = {
        _("time"): [datetime.fromisoformat(row["time"]).astimezone().strftime("%H:%M:%S.%f")[:12] for row in rows],
        _("version"): [
            f"v{number}" if (number := str(row.get("version", "")).rpartition("@")[2]) else "—" for row in rows
        ],
        "n": [row.get("completions", 0) for row in rows],
        "ms": [round(float(row["ms"]), 1) for row in rows],
        _("status"): [[_word(row)] for row in rows],
        _("what"): [str(row.get("error", "")) for row in rows],
    }
    st.dataframe(
        columns, hide_index=True, row_height=30, height=min(36 + 30 * len(rows), 330), key="requests_table",
        alt=_("The latest requests"),
        column_config={
            _("time"): st.column_config.TextColumn(width=96), _("version"): st.column_config.TextColumn(width=56),
            "n": st.column_config.NumberColumn(width=40, help=_("completions in the request")),
            "ms": st.column_config.NumberColumn(width=64, format="%.1f"),
            _("status"): st.column_config.MultiselectColumn(
                options=["success", "failure", "503", "error"], color=["green", "red", "orange", "red"], width=84
            ),
            _("what"): st.column_config.TextColumn(width=420),
        },
    )  # fmt: skip


def _word(row: Row) -> str:
    if row["http_status"] == 503:
        return "503"
    if row["http_status"] != 200:
        return "error"
    return "failure" if is_failure(row) else "success"


def latency_chart(chosen: Publishable) -> None:
    """Draw p50 and p95 by minute, with the moments at which versions were published."""
    now = datetime.now(UTC)
    minutes = by_minute(newest_first(service.request_rows(), name=chosen.name, most=1_000_000), now)
    shell.panel_head(_("Time to answer"), _("ms, last 30 minutes"))
    if not minutes:
        st.caption(_("Shown once requests were answered."))
        return
    colours = theme.palette()
    figure = theme.figure(180, x_title=_("minutes"))
    places = [-minute.ago for minute in minutes]
    for name, values, colour in (
        ("p95", [minute.p95_ms for minute in minutes], colours.series[1]),
        ("p50", [minute.p50_ms for minute in minutes], colours.series[0]),
    ):
        figure.add_scatter(
            x=places, y=values, name=name, mode="lines+markers", line={"color": colour, "width": 1.8},
            marker={"size": 4, "symbol": "diamond" if name == "p95" else "circle"},
        )  # fmt: skip
        figure.add_annotation(
            x=places[-1], y=values[-1], text=f"{name} {values[-1]:.0f}", showarrow=False, xanchor="left", xshift=6,
            font={"color": colour, "size": 11},
        )  # fmt: skip
    marked = 99.0
    for version in chosen.versions:
        ago = (now - version.published_at).total_seconds() / 60
        if ago <= 30 and abs(ago - marked) > 2:  # names of two in the same moments would cover each other
            marked = ago
            figure.add_vline(x=-ago, line={"color": colours.muted, "width": 1, "dash": "dot"})
            figure.add_annotation(
                x=-ago, y=1, yref="paper", text=f"v{version.number}", showarrow=False, yanchor="bottom",
                font={"color": colours.muted, "size": 11},
            )  # fmt: skip
    figure.update_yaxes(rangemode="tozero")
    figure.update_xaxes(range=[-30, 0.5])
    figure.update_layout(margin={"r": 56, "t": 18})
    last = minutes[-1]
    alt = _("p50 is {p50} ms and p95 {p95} ms in the last minute with requests.", p50=round(last.p50_ms),
            p95=round(last.p95_ms))  # fmt: skip
    theme.show(figure, alt=alt, key="latency")
