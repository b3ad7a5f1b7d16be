"""Findings as sentences, worst first, each with its place; a line can be jumped to."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from components import state
from components.i18n import _, say
from components.theme import plain
from rewards_lib.contract import Finding, JsonObject

MARKS = {
    "error": ":red[:material/error:]", "warning": ":orange[:material/warning:]", "hint": ":gray[:material/info:]",
}  # fmt: skip
ORDER = ("error", "warning", "hint")
STOP_A_RUN = ("undeclared", "reward-fn")
"""Rules of a check whose warnings are errors of a run."""
MAX_SHOWN = 50


def findings_list(findings: Sequence[Finding], *, key: str) -> None:
    """Draw the findings. Those with a line get a button that puts the editor's cursor there."""
    for index, finding in enumerate(in_order(findings)[:MAX_SHOWN]):
        told = f"{MARKS[finding.severity]} {plain(say(finding.message))}"
        with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="small"):
            if finding.line is not None:
                st.button(
                    _("Line {line}", line=finding.line),
                    type="tertiary",
                    key=f"{key}_{index}",
                    help=_("Puts the cursor there"),
                    on_click=state.go_to_line.set,
                    args=(finding.line,),
                )
            elif finding.path:
                told += f"  :small[:gray[{plain(finding.path)}]]"
            st.markdown(told, width="stretch")
    if len(findings) > MAX_SHOWN:
        st.caption(_("And {count} more.", count=len(findings) - MAX_SHOWN))


def what_they_mean(findings: Sequence[Finding]) -> str:
    """One line below the list: whether a run would stop at what was found."""
    if not findings:
        return _("Nothing is refused.")
    if any(finding.rule in STOP_A_RUN for finding in findings):
        return _("A run stops at refused lines and at what a warning names; hints stop nothing.")
    return _("Refused lines stop a run; hints do not.")


def in_order(findings: Sequence[Finding]) -> list[Finding]:
    """Worst first, then by line."""
    return sorted(findings, key=lambda finding: (ORDER.index(finding.severity), finding.line or 0))


def counts(findings: Sequence[Finding]) -> str:
    """``2 refused · 1 hint · lines 3, 12`` for the head of an editor; empty when there is nothing."""
    refused, warnings, hints = (sum(finding.severity == severity for finding in findings) for severity in ORDER)
    parts = []
    if refused:
        parts.append(f":red[:material/error: {_('{count} refused', count=refused)}]")
    if warnings:
        told = _("1 warning") if warnings == 1 else _("{count} warnings", count=warnings)
        parts.append(f":orange[:material/warning: {told}]")
    if hints:
        parts.append(f":gray[:material/info: {_('1 hint') if hints == 1 else _('{count} hints', count=hints)}]")
    lines = sorted({finding.line for finding in findings if finding.line is not None})
    if lines:
        shown = ", ".join(map(str, lines[:6])) + (" …" if len(lines) > 6 else "")
        told = _("line {line}", line=shown) if len(lines) == 1 else _("lines {lines}", lines=shown)
        parts.append(f":gray[{told}]")
    return "  ".join(parts)


def marks(findings: Sequence[Finding]) -> list[JsonObject]:
    """The findings as the editor marks them at their line, in the visitor's language."""
    return [
        {
            "line": finding.line,
            "column": finding.column,
            "end_column": finding.end_column,
            "severity": finding.severity,
            "message": say(finding.message),
        }
        for finding in findings
    ]
