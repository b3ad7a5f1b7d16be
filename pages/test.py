"""Test: the request that a trainer sends on the left, the exact answer it would get on the right."""

from datetime import UTC, datetime

import streamlit as st

from components import drafts, examples, request_draft, scoring, shell, state, undo
from components.answer_panel import answer_panel, badges, download
from components.code_editor import code_editor, current_text
from components.findings_list import marks
from components.i18n import _
from components.state import Remembered
from components.theme import plain
from rewards_lib.contract import fill

shell.through_app()
draft = request_draft.open_request()
pressed: dict[str, bool] = {}
scorers = request_draft.scorers()


def actions() -> None:
    """Choose what scores, and send."""
    before = state.tested_with.get() or f"mix:{state.mix_name.get()}"
    index = scorers.index(before) if before in scorers else 0
    chosen = st.selectbox(
        _("Score with"),
        scorers,
        index=index,
        format_func=request_draft.scorer_label,
        label_visibility="collapsed",
        width=260,
        key="score_with",
    )
    state.tested_with.set(chosen)
    pressed["send"] = st.button(_("Send"), type="primary", icon=":material/send:", key="send", shortcut="Ctrl+Enter")


shell.page_head(_("Test"), _("Paste the request a trainer sends; see the exact answer it would get."), actions)
ask, got = st.columns([5.4, 6], gap="medium")
text = current_text(draft.content["text"], key="request", version=draft.epoch)
drafts.autosave(draft, {"text": text})
read = request_draft.read_request(text)

with ask:

    def request_actions() -> None:
        """The saved mark and the examples."""
        drafts.saved_mark(draft)
        names = list(examples.requests())
        chosen = st.menu_button(
            _("Examples"),
            names,
            format_func=request_draft.example_label,
            type="tertiary",
            icon=":material/data_object:",
            key="request_examples",
        )
        if chosen:
            told = _("{example} took the place of the request.", example=request_draft.example_label(chosen))
            undo.replace(told, (draft, {"text": examples.requests()[chosen]}))
            st.rerun()

    shell.panel_head(_("Request"), read.told(text), request_actions)
    undo.undo_line(key="replaced")
    drafts.conflict_panel(draft, lambda content: str(content.get("text", "")))
    event = code_editor(
        draft.content["text"], key="request", version=draft.epoch, label=_("Request"), language="json", height=590,
        findings=marks(read.findings), goto=state.go_to_line.get(),
    )  # fmt: skip
    state.go_to_line.clear()
    known = state.answered.get()
    if read.error and (known is None or known.question != scoring.fingerprint(text, state.tested_with.get() or "")):
        shell.show_failure(read.error)

with got:
    scorer = state.tested_with.get() or scorers[0]
    if pressed["send"] or event.run:
        with st.spinner(_("Scoring …"), show_time=True):
            answer = request_draft.answer(event.value, scorer)
        if (known := state.answered.get()) and known.result.result:
            state.answered_before.set(known)
        question = scoring.fingerprint(event.value, scorer)
        state.answered.set(Remembered(question, answer, datetime.now(UTC)))
    last = state.answered.get()
    result = last.result.result if last else None
    shell.panel_head(_("Response"), badges(result) if result else "", lambda: download(result))
    if last is None:
        st.info(
            _("Press Send, or Ctrl+Enter in the request. The answer shows the rewards, each rule's part and the time.")
        )
    else:
        stale = last.question != scoring.fingerprint(event.value, scorer)
        line = _("Answer to the request of {time}, before the last change") if stale else _("{time} by {scorer}")
        with st.container(key="answer_of"):
            st.caption(
                fill(
                    line,
                    {"time": drafts.clock(last.at), "scorer": plain(request_draft.scorer_label(last.result.scorer))},
                )
            )
        answer_panel(last, key="answer")
        earlier = state.answered_before.get()
        if last.result.error and earlier:
            with st.expander(
                _("Answer to the request of {time}", time=drafts.clock(earlier.at)),
                icon=":material/history:",
                key="earlier_answer",
            ):
                answer_panel(earlier, key="earlier")
