"""Code judge: a completion and its tests on the left, the verdict of every test on the right."""

import streamlit as st

from components import drafts, shell, state, undo
from components.code_editor import code_editor, current_text
from components.code_judge import draft as submission_draft
from components.code_judge import judging
from components.code_judge.verdict import verdict_panel
from components.i18n import _

shell.through_app()
draft = submission_draft.open_submission()
texts = {
    name: current_text(draft.content[name], key=f"judge_{name}", version=draft.epoch)
    for name in ("completion", "tests")
}
drafts.autosave(draft, draft.content | texts)
judging.collect(wait_seconds=0)
pressed: dict[str, bool] = {}


def actions() -> None:
    """Judge."""
    busy = state.judging.get() is not None
    pressed["judge"] = st.button(
        _("Judge"), type="primary", icon=":material/gavel:", key="judge", shortcut="Ctrl+Enter", disabled=busy
    )


shell.page_head(_("Code judge"), _("Run a completion's program against tests; see the verdict of every one."), actions)
undo.undo_line(key="judge_undo")
asked, told = st.columns([5.4, 6], gap="medium")

with asked:

    def submission_actions() -> None:
        """The saved mark and the examples."""
        drafts.saved_mark(draft)
        chosen = st.menu_button(
            _("Examples"), list(submission_draft.EXAMPLES), format_func=submission_draft.example_label,
            type="tertiary", icon=":material/data_object:", key="judge_examples",
        )  # fmt: skip
        if chosen:
            submission_draft.load_example(draft, chosen)
            st.rerun()

    shell.panel_head(_("Completion"), right=submission_actions)
    drafts.conflict_panel(draft)
    event = code_editor(
        draft.content["completion"], key="judge_completion", version=draft.epoch, label=_("Completion"),
        language="text", height=260, hint=_("As the policy wrote it: the last block of the language is judged."),
    )  # fmt: skip
    shell.panel_head(_("Tests"), _("a JSON list, one test a line, or an address"))
    listed = code_editor(
        draft.content["tests"], key="judge_tests", version=draft.epoch, label=_("Tests"), language="json", height=190
    )
    drafts.autosave(draft, draft.content | submission_draft.settings(draft))

with told:
    if pressed["judge"] or event.run or listed.run:
        judging.start(draft)
    judging.collect()
    answer = state.judged.get()
    shell.panel_head(_("Verdict"), drafts.clock(answer.at) if answer else "", lambda: judging.download(answer))
    judging.progress()
    if answer is None:
        st.info(_("Press Judge, or Ctrl+Enter in an editor. The program runs confined, once for each test."))
    else:
        if answer.question != judging.question_of(draft.content):
            st.caption(_("Of the submission before the last change."))
        if answer.result.error:
            shell.show_failure(answer.result.error, title=_("There is no verdict"))
        elif answer.result.judgement:
            verdict_panel(answer.result.judgement)
