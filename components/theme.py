"""The palette, and how numbers, rules and figures look; light and dark.

Invariant: colour never carries meaning alone; a mark, a word or a place says the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go
import streamlit as st

THIN_SPACE = "\u202f"
UNSCORED = "—"
TIER_COLOURS = {"A": "green", "B": "orange", "C": "red"}
"""Markdown colours of the isolation tiers."""


@dataclass(frozen=True)
class Palette:
    """The colours of one theme, by role."""

    text: str
    muted: str
    grid: str
    line: str
    ground: str
    good: str
    watch: str
    bad: str
    primary: str
    series: tuple[str, str, str, str, str]
    """Rules or runs 1 to 5, in order."""
    good_zone: str
    bad_zone: str


LIGHT = Palette(
    text="#1B1F27", muted="#5B6472", grid="#E9ECF0", line="#DDE1E7", ground="#FFFFFF",
    good="#00806A", watch="#B97A00", bad="#C8451B", primary="#2457C5",
    series=("#1F5FD0", "#B35C00", "#00806A", "#A8429E", "#3C4656"),
    good_zone="rgba(0,128,106,0.09)", bad_zone="rgba(200,69,27,0.08)",
)  # fmt: skip
DARK = Palette(
    text="#E4E7EC", muted="#A3ACBA", grid="#222933", line="#2B323C", ground="#0B0E12",
    good="#33C2A0", watch="#F0BE5A", bad="#FF8A5C", primary="#3C70E1",
    series=("#6FA5FF", "#F2A33A", "#33C2A0", "#E68AD6", "#D9DFE8"),
    good_zone="rgba(51,194,160,0.10)", bad_zone="rgba(255,138,92,0.12)",
)  # fmt: skip


def is_dark() -> bool:
    """Whether the visitor looks at the dark theme."""
    return st.context.theme.type == "dark"


def palette() -> Palette:
    """The colours of the visitor's theme."""
    return DARK if is_dark() else LIGHT


def tint(colour: str, alpha: float) -> str:
    """A hexadecimal colour with an opacity from 0 to 1, as Plotly takes it."""
    red, green, blue = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
    return f"rgba({red},{green},{blue},{alpha})"


def number(value: float | None, digits: int = 4) -> str:
    """A reward as it is read: no trailing zeros, a true minus sign, an em dash for unscored.

    >>> number(0.450), number(-0.1), number(None)
    ('0.45', '−0.1', '—')
    """
    if value is None:
        return UNSCORED
    text = f"{value:.{digits}f}".rstrip("0").rstrip(".") if abs(value) < 1e15 else f"{value:.6g}"
    return (text if text not in ("", "-0") else "0").replace("-", "−")


def count(value: int) -> str:
    """A whole number with thin spaces between thousands."""
    return f"{value:,}".replace(",", THIN_SPACE)


def size(count_of_bytes: int) -> str:
    """A size as it is read, in steps of a thousand: ``812 B``, ``3.4 MB``, ``2 GB``.

    >>> size(812), size(3_400_000), size(2_000_000_000)
    ('812 B', '3.4 MB', '2 GB')
    """
    value, units = float(count_of_bytes), ["B", "kB", "MB", "GB"]
    while value >= 999.5 and len(units) > 1:
        value, units = value / 1000, units[1:]
    return f"{number(value, 1 if value < 99.5 else 0)} {units[0]}"


def duration(milliseconds: float | None) -> str:
    """A time with its unit: ``38 ms``, ``1.9 s``; a dash where it was not measured.

    >>> duration(38.2), duration(1900), duration(None)
    ('38 ms', '1.9 s', '—')
    """
    if milliseconds is None:
        return UNSCORED
    return f"{milliseconds:.0f} ms" if milliseconds < 1000 else f"{milliseconds / 1000:.1f} s"


def percent(share: float | None) -> str:
    r"""A share as a whole number of percent; a dash where there is none.

    >>> percent(0.125), percent(None)
    ('12\u202f%', '—')
    """
    return UNSCORED if share is None else f"{share * 100:.0f}{THIN_SPACE}%"


def span(seconds: float) -> str:
    """How long something lasts already: ``42 s``, ``12 min``, ``3 h 12 min``, ``2 d 4 h``.

    >>> span(42), span(11_520)
    ('42 s', '3 h 12 min')
    """
    minutes, hours = int(seconds // 60), int(seconds // 3600)
    if minutes < 1:
        return f"{int(seconds)} s"
    if hours < 1:
        return f"{minutes} min"
    if hours < 48:
        return f"{hours} h {minutes % 60} min"
    return f"{hours // 24} d {hours % 24} h"


def plain(text: str) -> str:
    """Text of others inside Markdown, with every sign that Markdown would read put out of action."""
    return "".join(f"\\{sign}" if sign in "\\`*_{}[]<>()#+-.!|~$:" else sign for sign in text)


def coloured(text: str, index: int) -> str:
    """Markdown text in the colour of rule ``index`` (from 0)."""
    return f':color[{text}]{{foreground="{palette().series[index % 5]}"}}'


def rule_mark(index: int, name: str) -> str:
    """Markdown for a rule's name with its square: colour and place, never colour alone."""
    return f"{coloured('■', index)} **{plain(name)}**"


def figure(height: int, *, legend: bool = False, y_title: str | None = None, x_title: str | None = None) -> go.Figure:
    """An empty figure in the console's style, ``height`` pixels high."""
    colours = palette()
    small = {"size": 11, "color": colours.muted}
    axis: dict[str, Any] = {
        "gridcolor": colours.grid, "linecolor": colours.line, "zeroline": False, "ticks": "", "tickfont": small,
        "title": {"font": small, "standoff": 6}, "automargin": True,
    }  # fmt: skip
    return go.Figure(
        layout={  # in one go: every update_layout call validates the whole figure again, 24 ms against 2 ms
            "height": height,
            "margin": {"l": 4, "r": 8, "t": 24 if legend else 8, "b": 4},
            "showlegend": legend,
            "hovermode": "x unified",
            "font": {"family": "Source Sans, sans-serif", "size": 12, "color": colours.text},
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "legend": {
                "orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0, "itemwidth": 30, "traceorder": "normal",
                "font": {"size": 11, "color": colours.text},
            },
            "xaxis": {**axis, "showgrid": False, "title": {**axis["title"], "text": x_title}},
            "yaxis": {**axis, "title": {**axis["title"], "text": y_title}},
        }
    )  # fmt: skip


def show(drawn: go.Figure, *, alt: str, key: str) -> None:
    """Draw a figure with our colours and without a tool bar; ``alt`` is what it says in words."""
    st.plotly_chart(drawn, theme=None, alt=alt, key=key, config={"displayModeBar": False, "displaylogo": False})
