"""A completion as it is, with the parts marked that decided a rule; hostile text reaches the page as text nodes.

The marks are in the rules' colours and underlined, and say in a tooltip which rules they belong to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Any

import streamlit as st

CSS = """
.marked { font-family: var(--st-code-font); font-size: 0.86rem; line-height: 1.55; color: var(--st-text-color);
  background: var(--st-secondary-background-color); border-radius: var(--st-base-radius); padding: 10px 12px;
  white-space: pre-wrap; overflow-wrap: anywhere; overflow: auto; max-height: 22rem; }
.marked mark { color: inherit; background: transparent; border-bottom: 2px solid; border-radius: 2px; }
"""
JS = """
export default function ({data, parentElement}) {
  const root = parentElement.querySelector(".marked");
  root.setAttribute("aria-label", data.label);
  root.replaceChildren(...data.parts.map(({text, rules, colour}) => {
    if (!rules) return document.createTextNode(text);
    const mark = document.createElement("mark");
    mark.textContent = text;
    mark.title = rules;
    mark.style.borderColor = colour;
    mark.style.background = `color-mix(in srgb, ${colour} 16%, transparent)`;
    return mark;
  }));
}
"""
MOST_CHARACTERS = 200_000


def marked_parts(text: str, spans: Mapping[str, Sequence[tuple[int, int]]]) -> list[tuple[str, tuple[str, ...]]]:
    """Cut a text where marks begin and end: each part with the rules that marked it.

    >>> marked_parts("abcd", {"one": [(1, 3)], "two": [(2, 9)]})
    [('a', ()), ('b', ('one',)), ('c', ('one', 'two')), ('d', ('two',))]
    """
    inside = {
        name: [(max(start, 0), min(end, len(text))) for start, end in own if start < end and start < len(text)]
        for name, own in spans.items()
    }
    cuts = sorted({0, len(text), *(edge for own in inside.values() for pair in own for edge in pair)})
    return [
        (text[start:end], tuple(name for name, own in inside.items() if any(a <= start and end <= b for a, b in own)))
        for start, end in pairwise(cuts)
    ]


def marked_text(
    text: str, spans: Mapping[str, Sequence[tuple[int, int]]], colours: Mapping[str, str], *, label: str, key: str
) -> None:
    """Draw a text with the spans of each rule marked in its colour."""
    parts = [
        {"text": part, "rules": ", ".join(rules), "colour": colours[rules[0]] if rules else ""}
        for part, rules in marked_parts(text[:MOST_CHARACTERS], spans)
    ]
    _component()(data={"parts": parts, "label": label}, key=key)


@cache
def _component() -> Any:
    # A string without a line break would be taken for a file name.
    return st.components.v2.component("marked_text", html='<div class="marked" role="group"></div>\n', css=CSS, js=JS)
