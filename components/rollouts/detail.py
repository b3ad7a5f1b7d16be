"""One completion opened: prompt, ground truth, its text with what decided marked, every rule and its reason."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from components import cache, drafts, state, theme
from components.i18n import _
from components.result_table import reason_line
from components.rollouts.marked_text import marked_text
from components.rollouts.results import Opened, explain_rollout, number_at
from components.shell import show_failure
from components.theme import UNSCORED, coloured, number, plain
from rewards_lib.contract import MixResult, Payload
from rewards_lib.errors import boundary
from rewards_lib.payloads import bare
from rewards_lib.regression_cases import Case, Expected, save_case
from rewards_lib.rollouts import Rollout
from rewards_lib.rollouts.filtering import prompt_text
from rewards_lib.rollouts.rollout import payload_of
from rewards_lib.strict_json import write_json

PROMPT_CHARACTERS = 600
MOST_BARS = 64


def detail(opened: Opened, place: int, places: Sequence[int]) -> None:
    """Draw one completion; previous and next stay inside what the filter let through."""
    rollout = opened.scored.read([place])[0]
    with st.container(border=True, gap="xsmall", key="rollout_detail"):
        _head(opened, place, places, rollout)
        prompt = prompt_text(rollout)
        truth = (rollout.sample.get("extra") or {}).get("answer")
        st.markdown(f":small[:gray[{_('Prompt')}]]")
        st.text(prompt[:PROMPT_CHARACTERS] + ("…" if len(prompt) > PROMPT_CHARACTERS else ""))
        if truth is not None:
            shown = truth if isinstance(truth, str) else write_json(truth)
            st.markdown(f":small[:gray[{_('Ground truth')}]  {plain(shown)}]")
        explained = None
        with boundary(show_failure), st.spinner(_("Asking the rules why ..."), show_time=False):
            explained = explain_rollout(opened, place)
        _text(opened, rollout, explained)
        _reasons(opened, place, rollout, explained)
        _advantage(opened, place)
        _group(opened, place)
        _deeds(opened, place, rollout)


def _head(opened: Opened, place: int, places: Sequence[int], rollout: Rollout) -> None:
    index = places.index(place)
    reward = number_at(opened.table.rewards, place)
    earns = _("earns {reward}", reward=number(reward)) if reward is not None else _("is unscored, not 0")
    members = opened.scored.members(int(opened.table.group_of[place]))
    small = _("line {line} · {place} of {size} in its group", line=int(opened.table.lines[place]),
              place=members.index(place) + 1, size=len(members))  # fmt: skip
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.markdown(f"**{plain(rollout.id[:40])} {earns}**  :small[:gray[{small}]]", width="content")
        with st.container(horizontal=True, width="content", gap="xsmall"):
            moves = ((_("Previous"), "chevron_left", -1, "Left"), (_("Next"), "chevron_right", 1, "Right"))
            for label, icon, step, shortcut in moves:
                other = places[index + step] if 0 <= index + step < len(places) else place
                st.button(
                    label, icon=f":material/{icon}:", type="tertiary", key=f"detail_{icon}",
                    disabled=other == place, shortcut=shortcut,
                    on_click=state.rollout_place.set, args=(other,),
                )  # fmt: skip


def _text(opened: Opened, rollout: Rollout, explained: tuple[MixResult, int] | None) -> None:
    text = rollout.text or _("(an empty completion)")
    result, own = explained or (None, 0)
    spans = {rule.name: rule.scores[own].spans for rule in result.rules} if result else {}
    series = theme.palette().series
    colours = {name: series[place % 5] for place, name in enumerate(opened.rules)}
    marked_text(text, spans if rollout.text else {}, colours, label=_("The completion"), key="rollout_text")
    if any(spans.values()):
        st.caption(_("Marked is what decided, in the colour of its rule."))


def _reasons(opened: Opened, place: int, rollout: Rollout, explained: tuple[MixResult, int] | None) -> None:
    if explained is not None:
        result, own = explained
        st.markdown(told_reasons(result, own))
        again, kept = result.rewards[own], number_at(opened.table.rewards, place)
        if again != kept and not (again is not None and kept is not None and abs(again - kept) < 1e-9):
            told = _(
                "Scored again it earns {again}, in the file stands {kept}: the reward is not the same each time.",
                again=number(again), kept=number(kept),
            )  # fmt: skip
            st.markdown(f":orange[:material/warning:] {told}")
    else:
        lines = [
            f"{theme.rule_mark(number_, name)}  **{number(number_at(opened.table.rules[name], place))}**"
            for number_, name in enumerate(opened.rules)
        ]
        st.markdown("  \n".join(lines) or f":small[:gray[{_('The file tells the reward alone, and no reason.')}]]")
    if rollout.recorded and rollout.recorded.error:
        st.markdown(f":red[:material/error:] {plain(rollout.recorded.error)}")
    _sum(opened, place)


def _sum(opened: Opened, place: int) -> None:
    reward = number_at(opened.table.rewards, place)
    if reward is None or not opened.weights:
        return
    terms = [
        coloured(f"{number(opened.weights[name])} × {number(value)}", number_)
        for number_, name in enumerate(opened.rules)
        if (value := number_at(opened.table.rules[name], place)) is not None
    ]
    st.markdown(f"**{number(reward)}**  =  {' + '.join(terms)}")


def _advantage(opened: Opened, place: int) -> None:
    """The advantage with its arithmetic."""
    members = opened.scored.members(int(opened.table.group_of[place]))
    rewards = opened.table.rewards[members]
    known = rewards[~np.isnan(rewards)]
    own = number_at(opened.table.rewards, place)
    value = number_at(opened.advantages["grpo"], place)
    if own is None or value is None or known.size < 2:
        st.markdown(f":small[:gray[{_('Advantage (GRPO)')}]  {UNSCORED}]")
        return
    told = _(
        "({reward} − {mean}) / {std} over the {count} of its group", reward=number(own),
        mean=number(float(known.mean())), std=number(float(known.std(ddof=1))), count=int(known.size),
    )  # fmt: skip
    st.markdown(f":small[:gray[{_('Advantage (GRPO)')}]  **{number(value, 2)}**  :gray[= {told}]]")


def _group(opened: Opened, place: int) -> None:
    members = opened.scored.members(int(opened.table.group_of[place]))[:MOST_BARS]
    if len(members) < 2:
        return
    st.markdown(f":small[**{_('The group')}**]")
    colour = theme.palette().series[0]
    rewards = [number_at(opened.table.rewards, member) for member in members]
    drawn = theme.figure(96)
    drawn.add_bar(
        x=list(range(1, len(members) + 1)), y=rewards, hovertemplate="%{x}: %{y:.4g}<extra></extra>",
        marker_color=[colour if member == place else theme.tint(colour, 0.35) for member in members],
    )  # fmt: skip
    drawn.update_layout(hovermode="closest", xaxis={"dtick": 1 if len(members) <= 16 else 8})
    told = ", ".join(number(reward) for reward in rewards)
    theme.show(drawn, alt=_("Rewards of the group: {told}", told=told), key="group_chart")


# --- what can be done with it --------------------------------------------------------------------------------------


def _deeds(opened: Opened, place: int, rollout: Rollout) -> None:
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="center"):
        if opened.mix is not None and rollout.completion is not None:
            with st.popover(_("This reward is wrong"), icon=":material/flag:", key="mark_wrong"):
                _mark(opened, place, rollout)
        if rollout.completion is not None and st.button(
            _("Open in Test"), type="tertiary", icon=":material/arrow_forward:", icon_position="right", key="to_test"
        ):
            open_in_test(payload_of([rollout]))
    if state.rollout_told.get():
        st.markdown(f":green[:material/check:] {state.rollout_told.get()}")
        state.rollout_told.clear()


def _mark(opened: Opened, place: int, rollout: Rollout) -> None:
    """Keep the completion as a regression case of its mix, with what it should have earned."""
    present = number_at(opened.table.rewards, place)
    is_unscored = st.checkbox(_("It should be unscored"), key=f"case_unscored_{place}")
    wanted = st.number_input(
        _("It should earn"), value=present, step=0.1, format="%.4f", key=f"case_reward_{place}",
        disabled=is_unscored,
    )  # fmt: skip
    note = st.text_input(_("Note"), key=f"case_note_{place}", placeholder=_("why"), max_chars=300) or ""
    st.caption(_("It becomes a regression case of {name}: every later version is checked against it.",
                 name=plain(case_key(opened).partition(":")[2])))  # fmt: skip
    is_said = is_unscored or wanted is not None
    if st.button(_("Keep as a case"), type="primary", key=f"case_keep_{place}", disabled=not is_said):
        expected = Expected() if is_unscored else Expected(reward=wanted)
        name = f"{opened.job.request.title} {rollout.id}"
        keep_case(opened, payload_of([rollout]), expected, name=name, note=note)
        st.rerun()


def case_key(opened: Opened) -> str:
    """The name that the cases of this result's mix are kept under."""
    return f"mix:{opened.mix.name}" if opened.mix else ""


def keep_case(opened: Opened, payload: Payload, expected: Expected, *, name: str, note: str = "") -> None:
    """Keep one completion as a regression case of the mix that scored it."""
    save_case(cache.store(), Case(name, payload, (expected,), case_key(opened), note))
    state.rollout_told.set(_("Kept as a case; see Cases."))


def open_in_test(payload: Payload) -> None:
    """Put a payload into the Test page's request and go there."""
    draft = drafts.open_draft("payload", "request", lambda: {"text": ""})
    drafts.replace(draft, {"text": write_json(bare.encode(payload), indent=1)})
    st.switch_page("pages/test.py")


def told_reasons(result: MixResult, own: int) -> str:
    """A line a rule for the completion number ``own`` of a result."""
    return "  \n".join(reason_line(rule, place, rule.scores[own]) for place, rule in enumerate(result.rules))
