"""The exercises to choose from and how far each came: one row, so that nothing stands before the exercise itself."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from components import cache, state
from components.i18n import _, say
from rewards_lib.practice import Exercise, Level, exercises
from rewards_lib.store import ExerciseProgress, Progress

QUERY_KEY = "exercise"


def progress() -> Progress:
    """The progress kept in this console's store."""
    return Progress(cache.store())


def plan() -> str:
    """Draw the exercises with their state and return the name of the one chosen; the choice stands in the address."""
    known, reached = exercises(), progress().load()
    solved = sum(one.solved_at is not None for name, one in reached.items() if name in known)
    names = list(known)
    asked = st.query_params.get(QUERY_KEY)
    current = state.exercise_name.get() or (asked if asked in known else _first_open(names, reached))
    left, right = st.columns([5, 6], gap="medium", vertical_alignment="center")
    chosen = left.selectbox(
        _("Exercise"), names, index=names.index(current),
        format_func=lambda name: _entry(known[name], reached.get(name)), label_visibility="collapsed", key="exercise",
    )  # fmt: skip
    right.progress(solved / len(known), text=_("{solved} of {count} solved", solved=solved, count=len(known)))
    current = chosen or current
    state.exercise_name.set(current)
    if asked != current:
        st.query_params[QUERY_KEY] = current
    return current


def _first_open(names: list[str], reached: Mapping[str, ExerciseProgress]) -> str:
    """The first exercise that is not solved; the first of all when every one is."""
    return next((name for name in names if name not in reached or not reached[name].solved_at), names[0])


def level_name(level: Level) -> str:
    """A level in the visitor's language."""
    return {
        Level.FIRST_STEPS: _("first steps"), Level.NEEDS_CARE: _("needs care"), Level.HARD: _("hard"),
    }[level]  # fmt: skip


def _entry(exercise: Exercise, reached: ExerciseProgress | None) -> str:
    """What the list says of an exercise: ``1  Format reward · first steps · solved``."""
    told = [f"{exercise.place}  {say(exercise.title)}", level_name(exercise.level)]
    if reached and reached.solved_at:
        told.append(_("solved"))
    elif reached and reached.tries:
        told.append(_("{best} of {count} cases", best=reached.best, count=len(exercise.checks)))
    if reached and reached.recalled:
        told.append(_("{share} % from memory", share=round(100 * reached.recalled)))
    return " · ".join(told)
