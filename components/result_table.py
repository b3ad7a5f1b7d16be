"""What each completion earns: a table of completions by rule, and the detail of one of them.

The rows and the sums are made by plain functions; only ``result_table`` and ``completion_detail`` draw.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from components.i18n import _, say
from components.theme import UNSCORED, coloured, duration, number, plain, rule_mark
from rewards_lib.contract import MixResult, RuleResult, Score, ScoreState

TABLE_CHARACTERS = 200
LONG_TEXT_PX = 240
NARROW_FROM = 4
"""With so many rules a cell holds only what the rule adds to the sum, so that no column is cut off."""


def result_table(result: MixResult, texts: Sequence[str], *, key: str, selected: int = 0) -> int:
    """Draw one row a completion and return the index of the selected one.

    ``texts`` are the completions, in order.
    """
    columns = rule_columns(result)
    is_narrow = len(columns) >= NARROW_FROM
    rows = table_rows(result, texts)
    scored = [reward for reward in result.rewards if reward is not None]
    high, low = max([*scored, 0.0]), min([*scored, 0.0])
    state = st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        row_height=32,
        key=key,
        placeholder=UNSCORED,
        on_select="rerun",
        selection_mode="single-row",
        selection_default={"selection": {"rows": [min(selected, len(rows) - 1)]}},
        column_config={
            "#": st.column_config.TextColumn(width=30),
            "completion": st.column_config.TextColumn(_("completion"), width=84 if is_narrow else 100),
            "reward": st.column_config.ProgressColumn(
                _("reward"), min_value=low, max_value=high if high > low else low + 1, format="plain", width=88
            )
            if scored
            else st.column_config.TextColumn(_("reward"), width=80),
            **{name: st.column_config.TextColumn(alignment="right", width=66 if is_narrow else 92) for name in columns},
        },
        alt=_("What each of {count} completions earns by rule and in total", count=len(rows)),
    )
    chosen = state.selection.rows
    return int(chosen[0]) if chosen else min(selected, len(rows) - 1)


def rule_columns(result: MixResult) -> list[str]:
    """The heads of the rule columns: ``accuracy × 0.35``, or the name alone where columns are narrow."""
    if len(result.rules) >= NARROW_FROM:
        return [rule.name for rule in result.rules]
    return [f"{rule.name} × {number(rule.weight)}" for rule in result.rules]


def table_rows(result: MixResult, texts: Sequence[str]) -> list[dict[str, Any]]:
    """The table as rows of cells; a completion without a reward has none, not 0."""
    rows: list[dict[str, Any]] = []
    for index, text in enumerate(texts):
        cells = {
            head: rule_cell(rule, rule.scores[index], only_part=len(result.rules) >= NARROW_FROM)
            for head, rule in zip(rule_columns(result), result.rules, strict=True)
        }
        rows.append({"#": str(index + 1), "completion": tail(text), "reward": result.rewards[index], **cells})
    return rows


def rule_cell(rule: RuleResult, score: Score, *, only_part: bool = False) -> str:
    """``1 → 0.35``: the rule's reward and what the weight makes of it, or that alone; a word without a number."""
    if score.value is None:
        return _("abstains") if score.state is ScoreState.ABSTAINED else UNSCORED
    part = number(score.value * rule.weight)
    return part if only_part else f"{number(score.value)} → {part}"


def tail(text: str) -> str:
    """A completion in one line of a table: its end, where answers stand."""
    line = " ".join(text.split())
    return line if len(line) <= TABLE_CHARACTERS else "…" + line[-TABLE_CHARACTERS:]


def completion_detail(result: MixResult, index: int, text: str, *, key: str) -> None:
    """Draw one completion: its sum in the rules' colours, its text, one line a rule with the reason."""
    with st.container(border=True, gap="xsmall", key=key):
        st.markdown(sum_line(result, index))
        shown = text or _("(an empty completion)")
        st.code(shown, language=None, wrap_lines=True, height=LONG_TEXT_PX if is_long(text) else "content")
        st.markdown(
            "  \n".join(reason_line(rule, place, rule.scores[index]) for place, rule in enumerate(result.rules))
        )


def is_long(text: str) -> bool:
    """Whether a completion takes more than about ten lines, and so gets a box that scrolls."""
    return len(text) > 800 or text.count("\n") > 10


def sum_line(result: MixResult, index: int) -> str:
    """``Completion 1 earns 0.45 = 0.35 × 1 + 0.1 × 1``, or why it earns nothing."""
    reward = result.rewards[index]
    if reward is None:
        failed = [rule.name for rule in result.rules if rule.scores[index].state is ScoreState.FAILED]
        because = (
            _("because {rules} could not be computed", rules=", ".join(map(plain, failed)))
            if failed
            else _("because every rule abstained")
        )
        return f"**{_('Completion {number} is unscored', number=index + 1)}**, {_('not 0')}, {because}."
    terms = " + ".join(
        coloured(f"{number(rule.weight)} × {number(rule.scores[index].value)}", place)
        for place, rule in enumerate(result.rules)
        if rule.scores[index].value is not None
    )
    return f"**{_('Completion {number} earns {reward}', number=index + 1, reward=number(reward))}**  =  {terms}"


def reason_line(rule: RuleResult, place: int, score: Score) -> str:
    """One line a rule: its square, its value, a mark and the reason."""
    told = say(score.why) or (_("no opinion on this completion") if score.state is ScoreState.ABSTAINED else "")
    return f"{rule_mark(place, rule.name)}  **{number(score.value)}**  {_mark(score)} {plain(told)}"


def _mark(score: Score) -> str:
    """A sign for what became of a score; one of 0 has its own, for to abstain is something else."""
    if score.state is not ScoreState.SCORED:
        return ":gray[:material/remove:]" if score.state is ScoreState.ABSTAINED else ":red[:material/error:]"
    if not score.value:
        return ":gray[:material/counter_0:]"
    return ":green[:material/check:]" if score.value > 0 else ":orange[:material/arrow_downward:]"


def rule_table(result: MixResult, *, key: str) -> None:
    """Draw one row a rule: where it comes from, how many it scored, mean, time, status."""
    rows = [
        {
            "rule": rule.name,
            "from": rule.version,
            "scored": f"{len(scored(rule))} / {len(rule.scores)}",
            "mean": number(sum(scored(rule)) / len(scored(rule))) if scored(rule) else UNSCORED,
            "time": duration(rule.duration_ms),
            "status": [rule.status],
        }
        for rule in result.rules
    ]
    heads = {"scored": _("scored"), "mean": _("mean"), "time": _("time")}
    right = {name: st.column_config.TextColumn(head, alignment="right", width=62) for name, head in heads.items()}
    st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        row_height=32,
        key=key,
        alt=_("Status and time by rule"),
        column_config={
            "rule": st.column_config.TextColumn(_("rule"), width=110),
            "from": st.column_config.TextColumn(_("from"), width=150),
            **right,
            "status": st.column_config.MultiselectColumn(
                _("status"), options=["success", "failure"], color=["green", "red"], width=90
            ),
        },
    )


def scored(rule: RuleResult) -> list[float]:
    """The rule's rewards that are numbers."""
    return [reward for reward in rule.rewards if reward is not None]
