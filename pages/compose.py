"""Compose: choose rules and weights on the left, see at once what each completion earns on the right."""

import streamlit as st

from components import drafts, scoring, shell, state, undo
from components.i18n import _, explain
from components.mix_draft import mix_menu, open_mix, read_complete_rules
from components.own_completion import own_completion
from components.result_table import completion_detail, result_table
from components.rule_cards import add_rule, rename_dialog, rule_cards
from components.samples import all_samples, current_sample, edit_dialog, open_samples, sample_chooser
from components.theme import duration, plain
from rewards_lib.errors import boundary
from rewards_lib.mix import MAX_RULES
from rewards_lib.strict_json import write_json

shell.through_app()


def actions() -> None:
    """The next step from here."""
    if st.button(
        _("Test a request"), type="primary", icon=":material/arrow_forward:", icon_position="right", key="to_test"
    ):
        state.tested_with.set(f"mix:{state.mix_name.get()}")
        st.switch_page("pages/test.py")


shell.page_head(
    _("Compose"),
    _("Write the reward of an RL run: choose rules and weights, see at once what each completion earns."),
    actions,
)
draft = open_mix()
rename_dialog(draft)
left, right = st.columns([5, 7], gap="medium")

with left:
    head = st.container()
    drafts.autosave(draft, rule_cards(draft, key="rule"))
    with head:  # drawn last, so that it tells of this very save
        shell.panel_head(
            _("Mix {name}", name=plain(draft.name)),
            _("{count} of {limit} rules", count=len(draft.content["rules"]), limit=MAX_RULES),
            lambda: mix_menu(draft),
        )
        drafts.conflict_panel(draft)
    add_rule(draft, key="rule")

with right:
    payload = current_sample()
    shell.panel_head(
        _("What each completion earns"),
        _("sample {number} of {count}", number=state.sample_number.get(), count=len(all_samples())),
        lambda: sample_chooser(key="compose"),
    )
    with st.container(border=True, gap="xxsmall", key="sample_card"):
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            st.text(payload.sample.prompt or _("(no prompt)"), width="stretch")
            if st.button(_("Edit sample"), type="tertiary", icon=":material/edit:", key="edit_sample"):
                edit_dialog()
        truth = payload.sample.extra.get("answer")
        shown = plain(truth if isinstance(truth, str) else write_json(truth)) if truth is not None else _("none")
        st.markdown(f":small[:gray[{_('Ground truth')}]  {shown}  :gray[{_('from')}] sample.extra.answer]")
    undo.undo_line(key="replaced")
    drafts.conflict_panel(open_samples())

    results = st.container(gap="small")
    payload = own_completion(payload, key="own")
    with results, boundary(shell.show_failure):
        composed = read_complete_rules(draft.name, draft.content)
        mix = composed.mix
        for incomplete in composed.left_out:
            st.warning(
                _("{problem} The other rules are scored without it.", problem=plain(explain(incomplete))),
                icon=":material/warning:",
            )
        question = scoring.question_of(mix, payload)
        result = scoring.remember(state.composed, question, lambda: scoring.score(mix, payload))
        texts = [completion.text for completion in payload.completions]
        table_key = f"pays_{state.sample_number.get()}_{len(texts)}"
        selected = result_table(result, texts, key=table_key, selected=state.selected_completion.get())
        state.selected_completion.set(selected)
        completion_detail(result, selected, texts[selected], key="detail")
        if result.error:
            shell.show_result_error(result)
        st.caption(
            _(
                "Scored in {time} by {name} · draft {version}. Next: send a trainer's request on the Test page.",
                time=duration(result.duration_ms),
                name=plain(mix.name),
                version=result.mix_version[:6],
            )
        )
