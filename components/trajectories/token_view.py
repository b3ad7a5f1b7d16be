"""A trajectory as a conversation of tokens: which are trained on, and what each is given.

Invariant: tokens are hostile text; they reach the page as text nodes and nothing else. What is marked is underlined,
tinted by its share and named in its tooltip, so that colour is never alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import streamlit as st

from components.i18n import _
from components.theme import number, palette
from rewards_lib.agentic import Part, TokenTrack

FOLDED_TOKENS = 300
"""A row of tool output longer than this is folded."""
MAX_ROW_TOKENS = 3_000
"""A longer row is cut: the numbers beside it and the chart hold all of it."""

CSS = """
.rows { display: flex; flex-direction: column; gap: 6px; color: var(--st-text-color); font-family: var(--st-font); }
.row { display: flex; gap: 12px; }
.head { flex: 0 0 6.6rem; font-size: 0.86rem; padding-top: 5px; }
.head b { display: block; font-weight: 600; }
.head span { color: var(--st-gray-text-color); }
.body { flex: 1; min-width: 0; border: 1px solid var(--st-border-color); border-radius: var(--st-base-radius);
  padding: 5px 10px; font-family: var(--st-code-font); font-size: 0.86rem; line-height: 1.8; white-space: pre-wrap;
  overflow-wrap: anywhere; }
.t { color: var(--st-gray-text-color); border-radius: 3px; padding: 1px 0; margin-right: 1px;
  border-bottom: 2px solid transparent; }
.t.in { color: var(--st-text-color); border-bottom-color: var(--tone); }
summary { cursor: pointer; font-family: var(--st-font); color: var(--st-gray-text-color); }
@media (max-width: 640px) { .row { flex-direction: column; gap: 2px; } .head { flex: none; display: flex; gap: 8px; } }
"""
JS = """
export default function ({data, parentElement}) {
  const make = (tag, name, text) => {
    const node = document.createElement(tag);
    if (name) node.className = name;
    if (text !== undefined) node.textContent = text;
    return node;
  };
  const token = ([text, marked, share, negative, title]) => {
    const span = make("span", marked ? "t in" : "t", text);
    span.title = title;
    if (marked) {
      const tone = negative ? data.against : data.tone;
      span.style.setProperty("--tone", tone);
      span.style.backgroundColor = `color-mix(in srgb, ${tone} ${Math.round(share * 100)}%, transparent)`;
    }
    return span;
  };
  const root = parentElement.querySelector(".rows");
  root.setAttribute("aria-label", data.label);
  root.replaceChildren(...data.rows.map(({role, kind, tokens, fold}) => {
    const [row, head, body] = [make("div", "row"), make("div", "head"), make("div", "body")];
    row.setAttribute("role", "listitem");
    head.append(make("b", "", role), make("span", "", kind));
    const spans = tokens.map(token);
    if (fold) {
      const details = make("details");
      details.append(make("summary", "", fold), ...spans);
      body.append(details);
    } else {
      body.append(...spans);
    }
    row.append(head, body);
    return row;
  }));
}
"""


@dataclass(frozen=True, slots=True)
class TokenMark:
    """What is drawn on one token."""

    marked: bool
    value: float
    """The reward or advantage that is shown on it."""


def shifted_marks(marks: Sequence[TokenMark]) -> list[TokenMark]:
    """The same marks one place to the left, where the logits that predict the token stand; the last one is empty."""
    return [*marks[1:], TokenMark(marked=False, value=0.0)] if marks else []


def rows_of(track: TokenTrack, marks: Sequence[TokenMark]) -> list[dict[str, Any]]:
    """Cut a track into rows, one for each part of a turn; what the template adds joins the part it stands at."""
    names, cells = _names(), _cells(track, marks)
    rows: list[dict[str, Any]] = []
    turn, has_part = -1, False
    for stretch in track.stretches:
        is_frame = stretch.part in (Part.TEMPLATE, Part.END)
        if stretch.turn != turn or (has_part and not is_frame):
            rows.append({"role": "", "kind": "", "tokens": [], "fold": ""})
            has_part = False
        turn, row = stretch.turn, rows[-1]
        if not is_frame or not row["role"]:
            row["role"], row["kind"] = names[stretch.part]
        has_part = has_part or not is_frame
        row["tokens"] += cells[stretch.start : stretch.end]
    for row in rows:
        left_out = len(row["tokens"]) - MAX_ROW_TOKENS
        if left_out > 0:
            told = _("… {count} tokens more", count=left_out)
            row["tokens"] = [*row["tokens"][:MAX_ROW_TOKENS], [told, False, 0.0, False, told]]
        if (row["role"], row["kind"]) == names[Part.TOOL] and len(row["tokens"]) > FOLDED_TOKENS:
            row["fold"] = _("{count} tokens, folded", count=len(row["tokens"]))
    return rows


def _names() -> dict[Part, tuple[str, str]]:
    """Who speaks, and what it is."""
    return {
        Part.SYSTEM: (_("system"), ""),
        Part.USER: (_("user"), ""),
        Part.REASONING: (_("assistant"), _("reasoning")),
        Part.TOOL_CALL: (_("assistant"), _("tool call")),
        Part.ANSWER: (_("assistant"), _("answer")),
        Part.END: (_("assistant"), _("end of turn")),
        Part.TOOL: (_("tool"), _("tool output")),
        Part.HISTORY: (_("assistant"), _("from the prompt")),
        Part.TEMPLATE: (_("template"), ""),
        Part.UNKNOWN: (_("tokens"), _("roles unknown")),
    }


def _cells(track: TokenTrack, marks: Sequence[TokenMark]) -> list[list[Any]]:
    """One cell a token: text, whether it is marked, how strongly, whether against it, and its tooltip.

    Words are looked up once and not for each token: a look-up asks the session for its language, and a long
    trajectory has tens of thousands of tokens.
    """
    place_words, id_words, unmarked = _("token {place}"), _("id {id}"), _("not marked")
    largest = max((abs(mark.value) for mark in marks), default=0.0) or 1.0
    cells: list[list[Any]] = []
    for place, (piece, mark) in enumerate(zip(track.pieces, marks, strict=True)):
        told = [place_words.format(place=place)]
        if piece.id is not None:
            told.append(id_words.format(id=piece.id))
        told.append(number(mark.value) if mark.marked else unmarked)
        share = 0.06 + 0.26 * abs(mark.value) / largest if mark.marked else 0.0
        text = piece.text.replace("\n", "↵\n")
        cells.append([text, mark.marked, round(share, 3), mark.value < 0, " · ".join(told)])
    return cells


def token_view(rows: list[dict[str, Any]], *, label: str, key: str) -> None:
    """Draw rows of tokens; ``label`` says in words what is marked."""
    colours = palette()
    data = {"rows": rows, "label": label, "tone": colours.series[0], "against": colours.bad}
    _component()(data=data, key=key)


@cache
def _component() -> Any:
    # A string without a line break would be taken for a file name.
    return st.components.v2.component("token_view", html='<div class="rows" role="list"></div>\n', css=CSS, js=JS)
