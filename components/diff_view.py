"""What changed between two texts, line by line: for versions, and for drafts that two tabs have edited.

Invariant: both texts are hostile; they reach the page as text nodes and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from typing import Any, Literal

import streamlit as st

from components.i18n import _

CONTEXT_LINES = 3
SHOWN_LINES = 2_000

CSS = """
.diff { font-family: var(--st-code-font); font-size: 0.86rem; line-height: 1.55; color: var(--st-text-color);
  border: 1px solid var(--st-border-color); border-radius: var(--st-base-radius); overflow: auto; max-height: 30rem;
  padding: 6px 0; }
.line { display: flex; min-height: 1.55em; padding: 0 10px; }
.line .sign { flex: 0 0 1.6em; user-select: none; }
.line .text { white-space: pre-wrap; overflow-wrap: anywhere; }
.added { background: var(--st-green-background-color); color: var(--st-green-text-color); }
.removed { background: var(--st-red-background-color); color: var(--st-red-text-color); }
.skipped { color: var(--st-gray-text-color); font-family: var(--st-font); }
"""
JS = """
const SIGNS = {added: "+", removed: "\\u2212", same: "", skipped: "\\u22ef"};
export default function ({data, parentElement}) {
  const root = parentElement.querySelector(".diff");
  root.setAttribute("aria-label", data.label);
  root.replaceChildren(...data.lines.map(({change, text}) => {
    const [line, sign, words] = ["div", "span", "span"].map((tag) => document.createElement(tag));
    line.className = `line ${change}`;
    line.setAttribute("role", "listitem");
    sign.className = "sign";
    sign.textContent = SIGNS[change];
    words.className = "text";
    words.textContent = text;
    line.append(sign, words);
    return line;
  }));
}
"""


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One line of a difference."""

    change: Literal["added", "removed", "same", "skipped"]
    text: str
    """The line without its line break; empty where lines were left out."""
    count: int = 1
    """How many lines this stands for: more than one only where equal lines were left out."""


def diff_lines(old: str, new: str, *, context: int = CONTEXT_LINES) -> list[DiffLine]:
    r"""List what leads from ``old`` to ``new``: removed before added, equal lines around them, longer runs left out.

    Equal texts give an empty list. A line break more at the end is an empty line more.

    >>> [(line.change, line.text) for line in diff_lines("a\nb", "a\nc")]
    [('same', 'a'), ('removed', 'b'), ('added', 'c')]
    """
    if old == new:
        return []
    before, after = old.split("\n"), new.split("\n")
    found: list[DiffLine] = []
    operations = SequenceMatcher(None, before, after).get_opcodes()
    for tag, old_start, old_end, new_start, new_end in operations:
        if tag == "equal":
            last = new_end == len(after) and old_end == len(before)
            found += _around(before[old_start:old_end], context if found else 0, 0 if last else context)
        else:
            found += [DiffLine("removed", line) for line in before[old_start:old_end]]
            found += [DiffLine("added", line) for line in after[new_start:new_end]]
    return found


def _around(lines: list[str], after_change: int, before_change: int) -> Iterator[DiffLine]:
    """Equal lines: those next to a change, and one entry for all others, unless that would hide a single line."""
    left_out = len(lines) - after_change - before_change
    if left_out <= 1:
        yield from (DiffLine("same", line) for line in lines)
        return
    yield from (DiffLine("same", line) for line in lines[:after_change])
    yield DiffLine("skipped", "", left_out)
    yield from (DiffLine("same", line) for line in lines[len(lines) - before_change :])


def diff_view(old: str, new: str, *, key: str) -> None:
    """Draw the lines that were added (in ``new`` alone) and removed (in ``old`` alone), and say how many."""
    lines = diff_lines(old, new)
    if not lines:
        st.caption(_("The texts are the same."))
        return
    told = _(
        "Lines added: {added}, removed: {removed}.",
        added=sum(line.change == "added" for line in lines),
        removed=sum(line.change == "removed" for line in lines),
    )
    st.caption(told)
    shown = lines[:SHOWN_LINES]
    if len(lines) > SHOWN_LINES:
        shown.append(DiffLine("skipped", "", sum(line.count for line in lines[SHOWN_LINES:])))
    _component()(data={"lines": [_row(line) for line in shown], "label": told}, key=key)


def _row(line: DiffLine) -> dict[str, Any]:
    if line.change == "skipped":
        return {"change": "skipped", "text": _("{count} lines left out", count=line.count)}
    return {"change": line.change, "text": line.text.replace("\r", "\\r")}  # a line end that differs is seen


@cache
def _component() -> Any:
    # A string without a line break would be taken for a file name.
    return st.components.v2.component("diff_view", html='<div class="diff" role="list"></div>\n', css=CSS, js=JS)
