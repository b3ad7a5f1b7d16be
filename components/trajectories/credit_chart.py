"""Credit along the trajectory: one bar a token, and under it the mask and the mask where the loss stands."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from components.i18n import _
from components.theme import figure, number, palette
from components.trajectories.token_view import TokenMark, shifted_marks
from rewards_lib.agentic import TokenTrack

MAX_BARS = 1_500
"""Beyond, a bar stands for several tokens."""
HEIGHT_PX = 230


def credit_chart(track: TokenTrack, marks: Sequence[TokenMark]) -> go.Figure:
    """Draw what each token is given, over two strips: the mask, and the mask shifted by one."""
    colours = palette()
    step = -(-len(marks) // MAX_BARS) if marks else 1
    drawn = figure(HEIGHT_PX)
    places = list(range(0, len(marks), step))
    values = [sum(mark.value for mark in marks[place : place + step]) for place in places]
    drawn.add_bar(
        x=places,
        y=values,
        width=0.82 * step,
        marker={"color": [colours.series[0] if value >= 0 else colours.bad for value in values]},
        customdata=[_told(track, place, step) for place in places],
        hovertemplate="%{customdata}<br>%{y:.4g}<extra></extra>",
    )
    strips = ((0, _("mask"), list(marks)), (1, _("loss stands at"), shifted_marks(marks)))
    for row, name, own in strips:
        trained = [any(mark.marked for mark in own[place : place + step]) for place in places]
        drawn.add_bar(
            x=places,
            y=[1] * len(places),
            width=0.82 * step,
            yaxis="y2",
            base=[-row] * len(places),
            offset=-0.41 * step,
            marker={"color": [colours.series[3] if one else colours.grid for one in trained]},
            customdata=[name] * len(places),
            hovertemplate="%{customdata} · %{x}<extra></extra>",
        )
    axis = drawn.layout.yaxis.to_plotly_json()
    drawn.update_layout(
        barmode="overlay",
        hovermode="closest",
        bargap=0,
        yaxis={"domain": [0.3, 1], "zeroline": True, "zerolinecolor": colours.line},
        yaxis2={
            **axis,
            "domain": [0, 0.22],
            "range": [-1.05, 1.05],
            "tickvals": [0.5, -0.5],
            "ticktext": [_("mask"), _("loss stands at")],
            "showgrid": False,
        },
        xaxis={"title": {"text": _("token")}, "anchor": "y2"},
    )
    return drawn


def _told(track: TokenTrack, place: int, step: int) -> str:
    """A token's text for the tooltip, with the signs that Plotly would read as markup taken out."""
    text = "".join(piece.text for piece in track.pieces[place : place + step])[:40]
    return f"{place} · {text.replace('<', '‹').replace('>', '›').replace('&', '＆').replace(chr(10), '↵')}"


def chart_words(marks: Sequence[TokenMark]) -> str:
    """The chart in one sentence, for whoever does not see it."""
    given = [place for place, mark in enumerate(marks) if mark.value]
    if not given:
        return _("No token is given anything.")
    return _(
        "{count} tokens are given something, from {first} to {last}; together {sum}.",
        count=len(given),
        first=given[0],
        last=given[-1],
        sum=number(sum(mark.value for mark in marks)),
    )
