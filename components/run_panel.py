"""The last run of a function: rewards, what went wrong, logs, calls to the network; always there, so nothing jumps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import pandas as pd
import streamlit as st

from components import drafts
from components.i18n import _, say
from components.result_table import tail
from components.state import Answer, OpenDraft, Remembered
from components.theme import TIER_COLOURS, UNSCORED, count, duration, number, plain
from rewards_lib.contract import CallOutcome, Finding, MixResult, NetworkCall, RuleResult, ScoreState
from rewards_lib.executor import Limits

LOG_CHARACTERS = 20_000
LONG_LOG_LINES, LONG_LOG_PX = 15, 360


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
        return f":red[:material/error:] **{plain(capital(say(rule.error)))}**  \n{told}"
    abstained = sum(score.state is ScoreState.ABSTAINED for score in rule.scores)
    scored = len(rule.scores) - abstained
    told = _("{count} of {total} completions scored.", count=scored, total=len(rule.scores))
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
    """Draw the panel of the last run; before the first one it says what to do."""
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


def log_view(result: MixResult | None) -> None:
    """What the functions of a result printed, and the traceback of each that raised."""
    tracebacks = [rule.traceback for rule in result.rules if rule.traceback] if result else []
    if result is None or not (result.logs or tracebacks):
        st.caption(_("Nothing was printed. print() and logging show up here."))
        return
    for traceback in tracebacks:
        st.code(traceback, language=None, wrap_lines=True)
    if result.logs:
        height: int | Literal["content"] = LONG_LOG_PX if result.logs.count("\n") > LONG_LOG_LINES else "content"
        st.code(result.logs[-LOG_CHARACTERS:], language=None, wrap_lines=True, height=height)


def network_view(draft: OpenDraft, calls: Sequence[NetworkCall]) -> list[str]:
    """The hosts a function may reach, and the calls of the last run. Returns the hosts as they stand in the box."""
    allowed = list(draft.content.get("allow_hosts", []))
    text = (
        st.text_area(
            _("Allowed hosts"),
            "\n".join(allowed),
            height=90,
            key=f"hosts_{draft.name}_{draft.epoch}",
            help=_(
                "One a line: host means ports 80 and 443, host:port exactly that, *.suffix every name below it. "
                "A private address must be allowed as host:port."
            ),
            placeholder=_("No host is allowed. Add 127.0.0.1:8080 to let this function reach one."),
        )
        or ""
    )
    for index, group in enumerate(grouped(calls)):
        _call_line(draft, group, allowed, key=f"allow_{index}")
    return [line.strip() for line in text.split("\n") if line.strip()]


def grouped(calls: Sequence[NetworkCall]) -> list[list[NetworkCall]]:
    """The calls that went to one address with one outcome together, in the order of the first of each."""
    groups: dict[tuple[str, int, CallOutcome], list[NetworkCall]] = {}
    for call in calls:
        groups.setdefault((call.host, call.port, call.outcome), []).append(call)
    return list(groups.values())


def _call_line(draft: OpenDraft, calls: Sequence[NetworkCall], allowed: Sequence[str], *, key: str) -> None:
    first = calls[0]
    address = f"{first.host}:{first.port}"
    times = f" × {len(calls)}" if len(calls) > 1 else ""
    with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="small"):
        if first.outcome == "open":
            sent, received = (sum(call.sent_bytes for call in calls), sum(call.received_bytes for call in calls))
            slowest = duration(max(call.duration_ms for call in calls))
            small = f"{count(sent)} B ↑ {count(received)} B ↓ · {slowest}"
            st.markdown(f":green[:material/check:] {plain(address)}{times}  :small[:gray[{small}]]", width="stretch")
            return
        told = f":red[:material/block:] {plain(address)}{times}  :small[:gray[{plain(say(first.why))}]]"
        st.markdown(told, width="stretch")
        if address not in allowed:
            st.button(_("Allow {address}", address=address), key=key, on_click=_allow, args=(draft, address))


def _allow(draft: OpenDraft, address: str) -> None:
    drafts.replace(draft, draft.content | {"allow_hosts": [*draft.content.get("allow_hosts", []), address]})
