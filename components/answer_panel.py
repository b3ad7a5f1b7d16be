"""The answer to a request, as the trainer would get it, with everything that led to it."""

from __future__ import annotations

import streamlit as st

from components.findings_list import findings_list
from components.i18n import _
from components.log_view import log_view
from components.result_table import completion_detail, result_table, rule_table
from components.shell import show_failure, show_result_error
from components.state import Answer, Remembered
from components.theme import TIER_COLOURS, duration
from rewards_lib.contract import MixResult
from rewards_lib.strict_json import JsonError, write_json


def badges(result: MixResult) -> str:
    """Status, time, version and isolation, for the head of the panel."""
    good = result.status == "success"
    parts = [
        f":green-badge[:material/check: {_('success')}]" if good else f":red-badge[:material/close: {_('failure')}]",
        f":gray-badge[{duration(result.duration_ms)}]",
        f":gray-badge[{result.mix_version[:6]}]",
    ]
    if result.isolation:
        colour = TIER_COLOURS[result.isolation.tier]
        parts.append(f":{colour}-badge[:material/shield: {_('isolation tier')} {result.isolation.tier}]")
    return "  ".join(parts)


def download(result: MixResult | None) -> None:
    """Draw the button that keeps the answer with everything that led to it, as the command line prints it."""
    st.download_button(
        _("Download"),
        write_json(result.to_json(), indent=1) if result else "",
        "result.json",
        "application/json",
        type="tertiary",
        icon=":material/download:",
        disabled=result is None,
        key="download_answer",
    )


def answer_panel(answer: Remembered[Answer], *, key: str) -> None:
    """Draw the answer: the exact JSON, then by completion, by rule, findings and the log."""
    result, error = answer.result.result, answer.result.error
    if error is not None:
        show_failure(error, title=_("The request is not JSON") if isinstance(error, JsonError) else None)
        st.caption(_("Nothing was scored."))
        return
    if result is None:
        return
    with st.container(key=f"{key}_json"):
        st.code(write_json(result.response()), language=None, wrap_lines=True)
    if result.error:
        show_result_error(result)
    st.markdown(f"**{_('By completion')}**")
    texts = answer.result.texts
    selected = result_table(result, texts, key=f"{key}_completions_{answer.question[:8]}")
    completion_detail(result, selected, texts[selected], key=f"{key}_detail")
    st.markdown(f"**{_('By rule')}**")
    rule_table(result, key=f"{key}_rules")
    if result.findings:
        st.markdown(f"**{_('Findings')}**  :small[:gray[{_('they change no reward')}]]")
        with st.container(gap=None):
            findings_list(result.findings, key=f"{key}_finding")
    with st.expander(_("Log"), icon=":material/terminal:", key=f"{key}_log"):
        log_view(result)
