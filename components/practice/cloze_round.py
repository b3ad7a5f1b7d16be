"""A round from memory: random tokens of a solution are hidden, written again, judged one by one."""

from __future__ import annotations

import secrets

import streamlit as st

from components import state
from components.i18n import _
from components.practice.cloze_view import cloze_view, typed_answers
from components.practice.plan import progress
from components.state import ClozeRound
from rewards_lib.practice import Cloze, check_answers, exercises, hide_tokens

VIEW_KEY = "cloze_view"
SHARES = (10, 20, 30, 40, 50, 60)


def current_round(name: str) -> ClozeRound:
    """This visitor's round over an exercise."""
    rounds = state.cloze_rounds.get()
    if name not in rounds:
        rounds[name] = ClozeRound(seed=secrets.randbelow(10_000))
    return rounds[name]


def cloze_of(name: str) -> Cloze:
    """The gaps of the present round."""
    own = current_round(name)
    return hide_tokens(exercises()[name].solution, share=own.percent / 100, seed=own.seed)


def judge(name: str) -> None:
    """Judge every gap, and keep the share that was right if nothing was shown before."""
    own, cloze = current_round(name), cloze_of(name)
    own.answers = typed_answers(VIEW_KEY, own.id, own.answers)
    verdicts = check_answers(cloze, own.answers)
    own.states = {number: _state(own, number, right=right) for number, right in verdicts.items()}
    if "shown" not in own.states.values():
        progress().note_recall(name, sum(verdicts.values()) / len(verdicts))


def _state(own: ClozeRound, number: int, *, right: bool) -> str:
    """What a gap is after a check; one that was left empty stays open, one that was shown stays shown."""
    if own.states.get(number) == "shown":
        return "shown"
    if right:
        return "right"
    return "wrong" if own.answers.get(number, "").strip() else "open"


def cloze_round(name: str) -> None:
    """Draw the choice of gaps and the code, and say how many are right."""
    own = current_round(name)
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom", key="cloze_controls"):
        percent = st.segmented_control(
            _("Hidden, %"), SHARES, default=own.percent, required=True, key=f"cloze_share_{name}",
            help=_("Names, keywords, numbers, texts and operators; never brackets or commas."),
        )  # fmt: skip
        seed = st.number_input(_("Seed"), 0, 99_999, own.seed, key=f"cloze_seed_{name}_{own.drawn}", width=130)
        if st.button(_("Hide others"), icon=":material/shuffle:", key="cloze_again"):
            _begin(name, own.percent, secrets.randbelow(10_000), own.drawn + 1)
    if (percent or own.percent, int(seed)) != (own.percent, own.seed):
        _begin(name, percent or own.percent, int(seed), own.drawn)
    cloze = cloze_of(name)
    st.caption(
        _("{hidden} of {count} tokens are hidden. Enter goes to the next gap, Ctrl+Enter checks.",
          hidden=len(cloze.hidden), count=cloze.candidates)
    )  # fmt: skip
    event = cloze_view(cloze, own.states, own.answers, round_id=own.id, key=VIEW_KEY)
    own.answers = event.answers
    if event.check:
        judge(name)
        st.rerun()
    _result(own, cloze)


def _begin(name: str, percent: int, seed: int, drawn: int) -> None:
    state.cloze_rounds.get()[name] = ClozeRound(seed=seed, percent=percent, drawn=drawn)
    st.rerun()


def _result(own: ClozeRound, cloze: Cloze) -> None:
    if not own.states:
        return
    right = sum(one == "right" for one in own.states.values())
    shown = sum(one == "shown" for one in own.states.values())
    told = _("**{right} of {count} right**", right=right, count=len(cloze.hidden))
    if shown:
        told += " · " + _("{shown} shown", shown=shown)
    done = right == len(cloze.hidden)
    st.markdown(f":{'green' if done else 'orange'}[:material/{'check' if done else 'edit'}:] {told}")
    if right + shown < len(cloze.hidden) and st.button(
        _("Show the rest"), type="tertiary", icon=":material/visibility:", key="cloze_show"
    ):
        own.states = {number: one if one == "right" else "shown" for number, one in own.states.items()}
        st.rerun()
