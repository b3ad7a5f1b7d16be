"""Writing an exercise's code: the editor, the check, what came of it, hints and the solution."""

from __future__ import annotations

from datetime import UTC, datetime

import pandas as pd
import streamlit as st

from components import cache, drafts, state
from components.code_editor import code_editor, current_text
from components.findings_list import marks
from components.i18n import _, say
from components.practice.plan import progress
from components.state import OpenDraft, Remembered
from components.theme import plain
from rewards_lib.practice import CheckOutcome, CheckState, Exercise, Grade, exercises, grade

LINE_PX = 19
HEIGHTS_PX = (190, 560)


def open_text(name: str) -> OpenDraft:
    """What this visitor wrote for an exercise; its starting text at first."""
    draft = drafts.open_draft("exercise", name, lambda: {"text": exercises()[name].starting_text})
    text = current_text(str(draft.content["text"]), key=f"exercise_{name}", version=draft.epoch)
    if text != draft.content["text"]:
        drafts.autosave(draft, {"text": text})
    return draft


def check(name: str) -> None:
    """Run the checks over what was written, remember the grade, count the try."""
    text = str(open_text(name).content["text"])
    with st.spinner(_("Checking …"), show_time=True):
        found = grade(exercises()[name], text, cache.executor())
    state.exercise_grades.get()[name] = Remembered(text, found, datetime.now(UTC))
    progress().note_try(name, passed=found.passed, checks=len(found.outcomes))


def give_hint(name: str) -> None:
    """Show one hint more."""
    shown = state.exercise_hints.get()
    shown[name] = min(shown.get(name, 0) + 1, len(exercises()[name].hints))


def workbench(name: str) -> None:
    """Draw the editor and everything under it."""
    exercise, draft = exercises()[name], open_text(name)
    graded = state.exercise_grades.get().get(name)
    fresh = graded is not None and graded.question == draft.content["text"]
    drafts.conflict_panel(draft, lambda content: str(content.get("text", "")))
    text = str(draft.content["text"])
    least, most = HEIGHTS_PX
    event = code_editor(
        text,
        key=f"exercise_{name}",
        version=draft.epoch,
        label=say(exercise.title),
        height=min(max((text.count("\n") + 3) * LINE_PX, least), most),
        findings=marks(graded.result.findings) if graded and fresh else (),
        hint=_("Ctrl+Enter checks · Esc, then Tab leaves the editor"),
    )
    if event.run:
        check(name)
        st.rerun()
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="center"):
        drafts.saved_mark(draft)
        if st.button(_("Begin again"), type="tertiary", icon=":material/restart_alt:", key="exercise_restart"):
            drafts.replace(draft, {"text": exercise.starting_text})
            state.exercise_grades.get().pop(name, None)
            st.rerun()
        label = _("Hide the solution") if name in state.exercise_opened.get() else _("Show the solution")
        if st.button(label, type="tertiary", icon=":material/visibility:", key="exercise_solution_button"):
            _toggle_solution(name)
            st.rerun()
    for number, hint in enumerate(exercise.hints[: state.exercise_hints.get().get(name, 0)], 1):
        st.markdown(f":small[:material/lightbulb: **{_('Hint {number}', number=number)}**  {say(hint)}]")
    if graded:
        _verdict(graded.result, fresh=fresh)
        _scenes(exercise)
    is_solved = graded is not None and graded.result.is_solved
    if name in state.exercise_opened.get():
        _solution(exercise)
    elif is_solved:
        st.markdown(say(exercise.why))
    if is_solved:
        _next_button(name)
    st.markdown(f":small[:material/forum: **{_('To think about')}**  {say(exercise.question)}]")


def _toggle_solution(name: str) -> None:
    opened = state.exercise_opened.get()
    if name in opened:
        opened.discard(name)
    else:
        opened.add(name)
        progress().note_solution_seen(name)


def _solution(exercise: Exercise) -> None:
    with st.container(border=True, gap="xsmall", key="exercise_solution"):
        st.markdown(f"**{_('One solution')}**")
        st.code(exercise.solution, language=None)
        st.markdown(say(exercise.why))


def _verdict(found: Grade, *, fresh: bool) -> None:
    """The sentence first, then every case with what came."""
    count = _("{passed} of {count} cases pass.", passed=found.passed, count=len(found.outcomes))
    mark = ":green[:material/check:]" if found.is_solved else ":red[:material/close:]"
    stale = "" if fresh else f"  :small[:gray[{_('before the last edit')}]]"
    st.markdown(f"{mark} **{count}**{stale}  \n{say(found.message)}")
    _first_wrong(found)
    st.dataframe(
        pd.DataFrame([_row(outcome) for outcome in found.outcomes]),
        hide_index=True,
        row_height=30,
        height="content",
        key="exercise_cases",
        placeholder="",
        alt=_("Cases of the exercise: passed or not, expected and got"),
        column_config={
            "verdict": st.column_config.MultiselectColumn(
                _("verdict"), options=list(_verdicts().values()), color=["green", "red", "red", "gray"], width=90
            ),
            "case": st.column_config.TextColumn(_("case"), width=190),
            "call": st.column_config.TextColumn(_("tried"), width=300),
            "expected": st.column_config.TextColumn(_("expected"), width=110),
            "got": st.column_config.TextColumn(_("got"), width=160),
        },
    )
    if found.printed:
        with st.expander(_("What it printed")):
            st.text(found.printed)


def _first_wrong(found: Grade) -> None:
    """The first case that went wrong, whole: the table below cuts what is long."""
    wrong = next((one for one in found.outcomes if one.state in (CheckState.FAILED, CheckState.RAISED)), None)
    if wrong is not None:
        told = _("expected {expected}, got {got}", expected=repr(wrong.check.gives), got=wrong.got)
        st.code(f"{wrong.check.call}\n# {told}", language="python", wrap_lines=True)


def _scenes(exercise: Exercise) -> None:
    """The code that the cases call beside the learner's own."""
    if exercise.support:
        with st.expander(_("Code that the cases use")):
            st.code(exercise.support.strip(), language="python")


def _verdicts() -> dict[CheckState, str]:
    return {
        CheckState.PASSED: _("pass"),
        CheckState.FAILED: _("fail"),
        CheckState.RAISED: _("raises"),
        CheckState.NOT_REACHED: _("not run"),
    }


def _row(outcome: CheckOutcome) -> dict[str, object]:
    got = outcome.got
    if outcome.line is not None:
        got = _("line {line}: {error}", line=outcome.line, error=got)
    return {
        "verdict": [_verdicts()[outcome.state]],
        "case": plain_case(say(outcome.check.case)),
        "call": outcome.check.call,
        "expected": repr(outcome.check.gives),
        "got": got,
    }


def plain_case(text: str) -> str:
    """A case's name without the signs of Markdown, which a table shows as they are."""
    return text.replace("`", "").replace("*", "")


def _next_button(name: str) -> None:
    names = list(exercises())
    place = names.index(name) + 1
    if place < len(names):
        title = say(exercises()[names[place]].title)
        st.button(
            _("Next: {title}", title=plain(title)),
            icon=":material/arrow_forward:",
            icon_position="right",
            key="exercise_next",
            on_click=state.put_widget,
            args=("exercise", names[place]),
        )
