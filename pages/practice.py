"""Practice: short exercises of the field, graded in the browser, and their solutions from memory."""

import streamlit as st

from components import shell
from components.i18n import _, say
from components.practice.cloze_round import cloze_round, judge
from components.practice.plan import level_name, plan
from components.practice.workbench import check, give_hint, workbench
from rewards_lib.practice import exercises

shell.through_app()
head = st.container()
name = plan()
work = st.container()
exercise = exercises()[name]
modes = {"write": _("Write it"), "recall": _("From memory")}
with work, st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
    st.subheader(f"{exercise.place}  {say(exercise.title)}", anchor=False, width="content")
    mode = st.segmented_control(
        _("Mode"), list(modes), default="write", required=True, format_func=modes.__getitem__, key="practice_mode",
        label_visibility="collapsed", persist_state="session",
    )  # fmt: skip
pressed: dict[str, bool] = {}


def actions() -> None:
    """A hint, and the check."""
    if mode == "write":
        st.button(_("Hint"), icon=":material/lightbulb:", key="exercise_hint", on_click=give_hint, args=(name,))
    pressed["check"] = st.button(
        _("Check"), type="primary", icon=":material/done_all:", key="exercise_check", shortcut="Ctrl+Enter"
    )


with head:
    shell.page_head(
        _("Practice"),
        _("Short exercises, from the first format reward to rewards that nobody gets past; graded here."),
        actions,
    )
if pressed["check"]:
    if mode == "write":
        with work:
            check(name)
    else:
        judge(name)
    st.rerun()  # the plan counts what was solved
with work:
    if mode == "write":
        level, minutes = level_name(exercise.level), _("about {minutes} minutes", minutes=exercise.minutes)
        st.markdown(f":gray-badge[{level}]  :gray-badge[{minutes}]")
        st.markdown(say(exercise.task))
        workbench(name)
    else:
        cloze_round(name)
