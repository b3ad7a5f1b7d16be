"""A code with gaps to type into.

Invariant: code and answers reach the page as text nodes and values of fields, nothing else. A gap says by a sign as
well as by its colour whether it is right.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

import streamlit as st

from components import state
from components.i18n import _
from rewards_lib.practice import Cloze, Hidden, TokenKind

CSS = """
.code { font-family: var(--st-code-font); font-size: 0.93rem; line-height: 2; color: var(--st-text-color);
  white-space: pre-wrap; overflow-wrap: anywhere; border: 1px solid var(--st-border-color);
  border-radius: var(--st-base-radius); padding: 10px 14px; margin: 0; }
.gap { white-space: nowrap; }
input { font: inherit; line-height: 1.4; color: inherit; background: var(--st-secondary-background-color);
  border: 1px solid var(--st-border-color); border-radius: 4px; padding: 0 4px; }
input:focus { outline: 2px solid var(--st-primary-color); }
.right input { border-color: var(--st-green-text-color); color: var(--st-green-text-color); }
.wrong input { border-color: var(--st-red-text-color); color: var(--st-red-text-color); }
.shown input { border-style: dashed; color: var(--st-blue-text-color); }
.sign { font-family: var(--st-font); font-size: 0.75rem; }
.right .sign { color: var(--st-green-text-color); }
.wrong .sign { color: var(--st-red-text-color); }
"""
JS = """
const SIGNS = {right: "\\u2713", wrong: "\\u2717", shown: "\\u2190", open: ""};
export default function ({data, parentElement, setStateValue, setTriggerValue}) {
  const code = parentElement.querySelector(".code");
  code.setAttribute("aria-label", data.label);
  const answers = () => Object.fromEntries(
    [...code.querySelectorAll("input")].map((field) => [field.dataset.number, field.value]));
  const send = () => setStateValue("answers", {round: data.round, values: answers()});
  if (code.dataset.round !== data.round || code.dataset.judged !== data.judged) {
    code.dataset.round = data.round;
    code.dataset.judged = data.judged;
    code.replaceChildren(...data.segments.map((segment) => {
      if (typeof segment === "string") return document.createTextNode(segment);
      const [gap, field, sign] = ["span", "input", "span"].map((tag) => document.createElement(tag));
      gap.className = `gap ${segment.state}`;
      field.value = segment.value;
      field.size = Math.max(2, segment.width);
      field.dataset.number = segment.number;
      field.readOnly = segment.state === "shown" || segment.state === "right";
      field.setAttribute("aria-label", segment.label);
      field.placeholder = segment.number;
      field.autocomplete = "off";
      field.autocapitalize = "off";
      field.spellcheck = false;
      field.title = segment.label;
      field.addEventListener("change", send);
      field.addEventListener("keydown", (event) => {
        if (event.key !== "Enter") return;
        event.preventDefault();
        if (event.ctrlKey || event.metaKey) { send(); setTriggerValue("check", true); return; }
        const fields = [...code.querySelectorAll("input")];
        fields[(fields.indexOf(field) + 1) % fields.length].focus();
      });
      sign.className = "sign";
      sign.textContent = SIGNS[segment.state];
      gap.append(field, sign);
      return gap;
    }));
  }
}
"""


class ClozeEvent(NamedTuple):
    """What stands in the gaps, and whether a short-cut asked for a check."""

    answers: dict[int, str]
    check: bool


def cloze_view(
    cloze: Cloze, states: Mapping[int, str], answers: Mapping[int, str], *, round_id: str, key: str
) -> ClozeEvent:
    """Draw a code with its gaps and return what was typed into them.

    ``states`` says of each gap ``open``, ``right``, ``wrong`` or ``shown``; ``answers`` is what stands in them at first
    and after each check. One ``round_id`` is one set of gaps: what an older round sends is left aside.
    """
    segments = [
        part if isinstance(part, str) else _gap(part, states.get(part.number, "open"), answers.get(part.number, ""))
        for part in cloze.segments()
    ]
    judged = "".join(states.get(token.number, "open")[0] for token in cloze.hidden)
    result = _component()(
        key=key,
        data={"segments": segments, "round": round_id, "judged": judged, "label": _("Code with gaps")},
        default={"answers": {"round": round_id, "values": {}}},
        on_answers_change=_nothing,
        on_check_change=_nothing,
    )
    return ClozeEvent(typed_answers(key, round_id, answers), bool(result.check))


def typed_answers(key: str, round_id: str, before: Mapping[int, str]) -> dict[int, str]:
    """What the browser sent last for this round, over what stood there before."""
    held = (state.widget(key) or {}).get("answers") or {}
    typed = held.get("values") or {} if held.get("round") == round_id else {}
    return dict(before) | {int(number): str(text) for number, text in typed.items()}


def _gap(token: Hidden, gap_state: str, value: str) -> dict[str, Any]:
    kinds = {
        TokenKind.NAME: _("name"),
        TokenKind.KEYWORD: _("keyword"),
        TokenKind.NUMBER: _("number"),
        TokenKind.TEXT: _("text"),
        TokenKind.OPERATOR: _("operator"),
    }
    label = _("gap {number}: {kind}", number=token.number, kind=kinds[token.kind])
    shown = token.text if gap_state == "shown" else value
    return {
        "number": token.number,
        "width": len(token.text) + 1,
        "state": gap_state,
        "value": shown,
        "label": label,
    }


def _nothing() -> None:
    """Streamlit wants a callback before it reports a state or a trigger of a component."""


@cache
def _component() -> Any:
    # A string without a line break would be taken for a file name.
    return st.components.v2.component("cloze_view", html='<pre class="code" role="group"></pre>\n', css=CSS, js=JS)
