"""How a reward reaches tokens: what is assigned, by which strategy, and what comes of it in numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import pandas as pd
import streamlit as st

from components import state
from components.i18n import _, explain, say
from components.theme import number, plain
from components.trajectories.token_view import TokenMark
from rewards_lib.agentic import (
    ALGORITHMS,
    WRITTEN,
    Algorithm,
    LoadedTrajectories,
    Part,
    Strategy,
    TokenTrack,
    Trajectory,
    credit_tokens,
    find_group_traps,
    group_advantages,
)
from rewards_lib.contract import Finding
from rewards_lib.errors import InputError

Quantity: TypeAlias = Literal["reward"] | Algorithm
QUANTITIES: tuple[Quantity, ...] = ("reward", *ALGORITHMS)
MARKS = {"error": ":red[:material/error:]", "warning": ":orange[:material/warning:]", "hint": ":gray[:material/info:]"}


@dataclass(frozen=True, slots=True)
class Assigned:
    """What stands on the tokens."""

    marks: list[TokenMark]
    """One a token, at the token itself."""
    value: float | None
    """What was assigned; None when there is nothing to assign."""


def trained_parts(trajectory: Trajectory) -> frozenset[Part]:
    """Draw what is in the loss, and return it; fixed where the file brings its own mask."""
    if trajectory.tokens is not None:
        return WRITTEN
    names = {
        Part.REASONING: _("reasoning"),
        Part.TOOL_CALL: _("tool calls"),
        Part.ANSWER: _("answers"),
        Part.END: _("ends of turns"),
        Part.TOOL: _("tool output"),
        Part.USER: _("user"),
        Part.SYSTEM: _("system"),
    }
    picked = st.pills(
        _("In the loss"),
        list(names),
        selection_mode="multi",
        default=[part for part in names if part in WRITTEN],
        format_func=names.__getitem__,
        key="trained_parts",
        persist_state="session",
        help=_("What the policy wrote belongs in; put tool output in and see what is said."),
    )
    return frozenset(picked)


def reward_of(trajectory: Trajectory) -> float | None:
    """Draw the reward, which may be changed to see what follows; an empty field is unscored."""
    reward = st.number_input(
        _("Reward of this trajectory"),
        value=trajectory.reward,
        step=0.1,
        format="%.4g",
        key=f"trajectory_reward_{trajectory.group}_{trajectory.name}",
        placeholder=_("unscored"),
        persist_state="session",
    )
    state.trajectory_rewards.get()[_identity(trajectory)] = reward
    return reward


def _identity(trajectory: Trajectory) -> tuple[str, str]:
    return trajectory.group, trajectory.name


def group_rewards(loaded: LoadedTrajectories, trajectory: Trajectory) -> list[float | None]:
    """The rewards of the group in order, with what was changed on the page."""
    edited = state.trajectory_rewards.get()
    return [edited.get(_identity(one), one.reward) for one in loaded.group_of(trajectory)]


def assign(loaded: LoadedTrajectories, trajectory: Trajectory, track: TokenTrack) -> Assigned:
    """Draw the choices and return what they put on the tokens."""
    reward = reward_of(trajectory)
    names = {
        "reward": _("the reward itself"),
        "grpo": _("advantage, GRPO as in verl"),
        "grpo_trl": _("advantage, GRPO as in TRL"),
        "grpo_openrlhf": _("advantage, GRPO as in OpenRLHF"),
        "dr_grpo": _("advantage, Dr. GRPO"),
        "rloo": _("advantage, RLOO"),
    }
    quantity = st.selectbox(
        _("What is assigned"),
        QUANTITIES,
        index=1,
        format_func=names.__getitem__,
        key="assigned_quantity",
        persist_state="session",
    )
    titles = {
        Strategy.LAST_TOKEN: _("last token"),
        Strategy.UNIFORM: _("uniform"),
        Strategy.KL_WEIGHTED: _("by KL"),
        Strategy.BROADCAST: _("every token"),
    }
    strategy = st.segmented_control(
        _("Put it on"),
        list(titles),
        default=Strategy.BROADCAST,
        required=True,
        format_func=titles.__getitem__,
        key="credit_strategy",
        persist_state="session",
    )
    strategy = strategy or Strategy.BROADCAST
    rewards = group_rewards(loaded, trajectory)
    value = reward if quantity == "reward" else _advantage(rewards, _place(loaded, trajectory), quantity)
    st.markdown(f":small[{_told(strategy, quantity, value, rewards)}]")
    _findings(find_group_traps(rewards))
    values = np.zeros(len(track.mask))
    if value is not None:
        try:
            values = credit_tokens(strategy, value, track)
        except InputError as error:
            st.info(plain(explain(error)), icon=":material/info:")
    marks = [TokenMark(bool(trained), float(one)) for trained, one in zip(track.mask, values, strict=True)]
    return Assigned(marks, value)


def _place(loaded: LoadedTrajectories, trajectory: Trajectory) -> int:
    return next(place for place, one in enumerate(loaded.group_of(trajectory)) if one is trajectory)


def _advantage(rewards: Sequence[float | None], place: int, algorithm: Algorithm) -> float | None:
    value = float(group_advantages(rewards, algorithm=algorithm)[place])
    return None if np.isnan(value) else value


def _told(strategy: Strategy, quantity: Quantity, value: float | None, rewards: Sequence[float | None]) -> str:
    """The arithmetic of the value, and what the strategy does with it."""
    if value is None:
        return _("Unscored: there is nothing to assign, and nothing is made up.")
    what = {
        Strategy.LAST_TOKEN: _(
            "All of it on the last trained token: no doubt about the sum, little signal in a long text."
        ),
        Strategy.UNIFORM: _("Shared out evenly: each token of a long answer gets less."),
        Strategy.KL_WEIGHTED: _("Shared out by how far each token left the reference model."),
        Strategy.BROADCAST: _("GRPO puts **one advantage on every trained token**; the sum grows with the length."),
    }[strategy]
    scored = [reward for reward in rewards if reward is not None]
    if quantity == "reward" or len(scored) < 2:
        return f"{number(value)}. {what}"
    mean, spread = float(np.mean(scored)), float(np.std(scored, ddof=1))
    told = _(
        "Mean of the group {mean}, standard deviation {spread}: advantage **{value}**.",
        mean=number(mean),
        spread=number(spread),
        value=number(value),
    )
    return f"{told} {what}"


def numbers_table(track: TokenTrack, assigned: Assigned) -> None:
    """Draw how many tokens are trained, at how many positions the loss stands, and the sums by part."""
    trained = sum(mark.marked for mark in assigned.marks)
    count = len(assigned.marks)
    shifted = trained - (assigned.marks[0].marked if assigned.marks else 0)
    with st.container(horizontal=True, gap="medium", key="credit_facts"):
        facts = [
            (_("in the mask"), _("{part} of {whole}", part=trained, whole=count)),
            (_("positions with a loss"), _("{part} of {whole}", part=shifted, whole=max(count - 1, 0))),
            (_("sum"), number(sum(mark.value for mark in assigned.marks))),
        ]
        for name, value in facts:
            st.markdown(f":small[:gray[{name}]]  \n**{value}**", width="content")
    names = {
        Part.REASONING: _("reasoning"),
        Part.TOOL_CALL: _("tool call"),
        Part.ANSWER: _("answer"),
        Part.END: _("end of turn"),
        Part.TOOL: _("tool output"),
        Part.USER: _("user"),
        Part.SYSTEM: _("system"),
        Part.HISTORY: _("from the prompt"),
        Part.TEMPLATE: _("template"),
        Part.UNKNOWN: _("roles unknown"),
    }
    rows = [_part_row(names[part], part, track, assigned) for part in names if part in track.part_of]
    st.dataframe(
        pd.DataFrame(rows, columns=["part", "tokens", "trained", "sum"]),
        hide_index=True,
        row_height=28,
        column_config={
            "part": st.column_config.TextColumn(_("part")),
            "tokens": st.column_config.NumberColumn(_("tokens")),
            "trained": st.column_config.NumberColumn(_("trained")),
            "sum": st.column_config.TextColumn(_("sum"), alignment="right"),
        },
        alt=_("Tokens, trained tokens and sum of what is assigned, by part"),
        key="credit_by_part",
    )


def _part_row(name: str, part: Part, track: TokenTrack, assigned: Assigned) -> tuple[str, int, int, str]:
    own = [mark for one, mark in zip(track.part_of, assigned.marks, strict=True) if one is part]
    return name, len(own), sum(mark.marked for mark in own), number(sum(mark.value for mark in own))


def trap_list(findings: Sequence[Finding]) -> None:
    """Draw the warnings, or say that there are none."""
    if not findings:
        st.markdown(f":small[:green[:material/check:] {_('No known trap in this trajectory.')}]")
    _findings(findings)


def _findings(findings: Sequence[Finding]) -> None:
    for finding in findings:
        st.markdown(f":small[{MARKS[finding.severity]} {plain(say(finding.message))}]")
