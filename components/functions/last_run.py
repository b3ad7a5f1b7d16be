"""The last run of a function: rewards and what went wrong; always there, so nothing jumps."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from components import drafts
from components.i18n import _, say
from components.result_table import tail
from components.state import Answer, Remembered
from components.theme import TIER_COLOURS, UNSCORED, duration, number, plain
from rewards_lib.contract import Finding, MixResult, RuleResult, ScoreState
from rewards_lib.executor import Limits


def run_table(rule: RuleResult, texts: Sequence[str], *, key: str) -> None:
    """One row a completion: what the function gave it, and why where there is no number."""
    rows = [
        {
            "#": str(index + 1),
            "completion": tail(texts[index]),
            "reward": number(score.value) if score.state is not ScoreState.ABSTAINED else _("abstains"),
            "why": say(score.why),
        }
        for index, score in enumerate(rule.scores)
    ]
    st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        row_height=30,
        key=key,
        alt=_("Rewards of the last run"),
        placeholder=UNSCORED,
        column_config={
            "#": st.column_config.TextColumn(width=28),
            "completion": st.column_config.TextColumn(_("completion"), width=150),
            "reward": st.column_config.TextColumn(_("reward"), width=70, alignment="right"),
            "why": st.column_config.TextColumn(_("why"), width=210),
        },
    )


def run_sentence(result: MixResult) -> str:
    """What became of the run, in one sentence; the executor's own names the author's line."""
    rule = result.rules[0]
    if rule.error:
        unscored = sum(score.state is ScoreState.FAILED for score in rule.scores)
        told = _("{count} of {total} completions are unscored, not 0.", count=unscored, total=len(rule.scores))
        if len(rule.scores) == 1:
            told = _("The completion is unscored, not 0.")
        return f":red[:material/error:] **{plain(capital(say(rule.error)))}**  \n{told}"
    abstained = sum(score.state is ScoreState.ABSTAINED for score in rule.scores)
    scored = len(rule.scores) - abstained
    told = _("{count} of {total} completions scored.", count=scored, total=len(rule.scores))
    if len(rule.scores) == scored == 1:
        told = _("The completion is scored.")
    if abstained:
        told += " " + _("{count} abstained: the rule is left out of their sum.", count=abstained)
    return f"{':green[:material/check:]' if scored else ':gray[:material/remove:]'} {told}"


def capital(text: str) -> str:
    """The text as a sentence begins; a name such as reward_fn keeps its spelling."""
    return text[:1].upper() + text[1:] if text.startswith("line ") else text


def run_facts(rule: RuleResult, limit_seconds: float) -> str:
    """Small print: metrics, time of limit, memory, isolation."""
    parts = [
        f":gray[{_('metric')} {plain(name)}] **{number(value)}**" for name, value in sorted(rule.metrics.items())[:6]
    ]
    parts.append(f":gray[{_('time')}] {duration(rule.duration_ms)} :gray[{_('of')} {limit_seconds:g} s]")
    if rule.memory_mb is not None:
        parts.append(f":gray[{_('memory')}] {rule.memory_mb:.0f} MB")
    if rule.isolation:
        colour = TIER_COLOURS[rule.isolation.tier]
        parts.append(f":{colour}[:material/shield:] :gray[{_('isolation tier')} {rule.isolation.tier}]")
    return f":small[{'  :gray[·]  '.join(parts)}]"


def last_run(run: Remembered[Answer] | None, limits: Limits, *, stale: bool) -> None:
    """Draw the last run; before the first one it says what to do."""
    if run is None or run.result.result is None:
        st.caption(_("Not run yet. Press Run, or Ctrl+Enter in the editor: it runs on the sample above."))
        return
    result = run.result.result
    when = drafts.clock(run.at)
    st.caption(_("{time}, before the last edit or on another sample", time=when) if stale else when)
    run_table(result.rules[0], run.result.texts, key="run_table")
    st.markdown(run_sentence(result))
    with st.container(key="run_facts"):
        st.markdown(run_facts(result.rules[0], limits.wall_seconds))


def run_findings(result: MixResult | None) -> tuple[Finding, ...]:
    """What a run found beside the check of the text: what was left out of its result."""
    return tuple(one for one in result.findings if one.line is None) if result else ()
