"""The report of the opened runs: one HTML file of findings and charts that needs no network.

Invariant: everything in it that came from a file is escaped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import plotly.io
from plotly.offline import get_plotlyjs

from components import theme
from components.i18n import _, language, say
from components.metrics.diagnosis import judged_by
from components.metrics.drawing import Chart
from components.metrics.findings import checks_not_made
from rewards_lib.training_metrics import Diagnosis, Export, in_language, notes_of

STYLE = """
body{{font:14px/1.5 "Source Sans Pro",system-ui,sans-serif;margin:2rem auto;max-width:1100px;padding:0 1rem;
background:{ground};color:{text}}}
h1{{font-size:1.5rem}}h2{{font-size:1.1rem;margin:1.6rem 0 .3rem}}small,.small{{color:{muted}}}
li{{margin:.4rem 0}}.hard,.warning{{color:{bad};font-weight:600}}.note{{color:{muted};font-weight:600}}
.charts{{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,480px),1fr));gap:1rem}}
"""


def report_head(exports: Sequence[Export], judged: Mapping[str, Diagnosis]) -> str:
    """The report above its charts, as HTML: files, findings with what to try, checks, what was mended."""
    spoken = language()
    parts = [f"<h1>{escape(_('Training metrics'))}: {escape(', '.join(export.name for export in exports))}</h1>"]
    for label, one in judged.items():
        passed = sum(check.state == "ok" for check in one.checks)
        rows = "".join(
            f'<li><span class="{finding.severity}">{escape(finding.said(spoken))}</span><br>'
            f"{escape(in_language(finding.meaning, spoken))} {escape(finding.advised(spoken))}"
            f"<br><small>{escape(in_language(finding.title, spoken))} · {escape(finding.source)}</small></li>"
            for finding in one.findings
        )
        undone = len(checks_not_made(one.checks))
        told = _("Checks passed: {passed}; could not be made: {undone}.", passed=passed, undone=undone)
        parts.append(f"<h2>{escape(label or _('Findings'))}</h2><ul>{rows}</ul><p class=small>{escape(told)}</p>")
    if by := judged_by():
        parts.append(f"<p class=small>{escape(by)}</p>")
    notes = "".join(f"<li>{escape(say(note))}</li>" for note in notes_of(exports))
    if notes:
        parts.append(f"<h2>{escape(_('Mended while reading'))}</h2><ul class=small>{notes}</ul>")
    return "".join(parts)


def report_html(head: str, charts: Sequence[Chart], colours: theme.Palette, spoken: str) -> bytes:
    """The whole file: the head, every chart, and plotly itself, so that it opens without a network."""
    drawn = "".join(
        f"<section><b>{escape(chart.title)}</b> <small>{escape(chart.small)}</small>"
        f"{plotly.io.to_html(chart.figure, include_plotlyjs=False, full_html=False, config={'displaylogo': False})}"
        "</section>"
        for chart in charts
    )
    style = STYLE.format(ground=colours.ground, text=colours.text, muted=colours.muted, bad=colours.bad)
    return (
        f'<!doctype html><html lang="{spoken}"><head><meta charset="utf-8"><title>Training metrics</title>'
        f'<meta name="viewport" content="width=device-width"><style>{style}</style><script>{get_plotlyjs()}</script>'
        f'</head><body>{head}<div class="charts">{drawn}</div></body></html>'
    ).encode()
