"""The verdict: one sentence, a row a test, and the test that is looked at with what was expected and what came."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from components.diff_view import diff_view
from components.i18n import _, say
from components.theme import TIER_COLOURS, UNSCORED, duration, plain
from rewards_lib.code_judge import LANGUAGES, Judgement, TestOutcome, Verdict
from rewards_lib.code_judge.verdicts import Execution

_SHOWN = 4_000
"""Characters of an input or output that are drawn."""
_GLYPHS = {Verdict.ACCEPTED: "check", Verdict.WRONG_ANSWER: "close", Verdict.NO_CODE: "remove"}
_SIGNS = {Verdict.ACCEPTED: "✓", Verdict.WRONG_ANSWER: "✗"}


def verdict_word(verdict: Verdict) -> str:
    """What a verdict is called."""
    return {
        Verdict.ACCEPTED: _("accepted"), Verdict.WRONG_ANSWER: _("wrong answer"),
        Verdict.TIME_LIMIT: _("time limit"), Verdict.MEMORY_LIMIT: _("memory limit"),
        Verdict.OUTPUT_LIMIT: _("output limit"), Verdict.RUNTIME_ERROR: _("runtime error"),
        Verdict.COMPILE_ERROR: _("compile error"), Verdict.NO_CODE: _("no program"),
        Verdict.JUDGE_ERROR: _("fault of the judge"),
    }[verdict]  # fmt: skip


def verdict_panel(judgement: Judgement) -> None:
    """Draw a judgement from the headline down to one test."""
    st.markdown(headline(judgement))
    st.markdown(_facts(judgement))
    if judgement.message:
        st.markdown(f":material/info: {plain(say(judgement.message))}")
    if judgement.verdict is Verdict.COMPILE_ERROR:  # there is no test to be looked at, only what the compiler said
        _compiler_words(judgement)
    elif judgement.outcomes:
        chosen = judgement.outcomes[_chosen(judgement)]
        if chosen.execution is not None:
            _test(chosen, chosen.execution)
    if judgement.code:
        with st.expander(_("Program that was judged"), key="judged_program"):
            st.code(judgement.code, language=judgement.language, line_numbers=True)


def _compiler_words(judgement: Judgement) -> None:
    ran = judgement.compilation or judgement.outcomes[0].execution
    if ran and ran.stderr:
        st.code(ran.stderr[:_SHOWN], language=None, wrap_lines=True)


def headline(judgement: Judgement) -> str:
    """Say the verdict and how many tests passed, as a heading in Markdown."""
    glyph = _GLYPHS.get(judgement.verdict, "error")
    colour = "green" if judgement.accepted else "red"
    counted = _("{passed} of {total} tests passed", passed=judgement.passed, total=judgement.total)
    word = verdict_word(judgement.verdict)
    return f"#### :{colour}[:material/{glyph}: {word[:1].upper()}{word[1:]}] :gray[· {counted}]"


def _facts(judgement: Judgement) -> str:
    parts = [LANGUAGES[judgement.language].title, duration(judgement.wall_seconds * 1e3)]
    if judgement.outcomes:
        parts.append(_("processor {time}", time=duration(judgement.cpu_seconds * 1e3)))
        parts.append(f"{judgement.peak_mb:.0f} MB")
    if judgement.compilation:
        parts.append(_("compiled before") if judgement.cached_compile else _("compiled now"))
    if judgement.incomplete_fence:
        parts.append(_("the code block is not closed"))
    shown = "  ·  ".join(map(plain, parts))
    if judgement.isolation:
        tier = judgement.isolation.tier
        shown += f"  ·  :{TIER_COLOURS[tier]}[:material/shield:] {_('isolation tier')} {tier}"
    return f":small[:gray[{shown}]]"


def _chosen(judgement: Judgement) -> int:
    """Draw the table of the tests; the row that is looked at: the one that was clicked, else the first failure."""
    rows = [_row(outcome) for outcome in judgement.outcomes]
    event = st.dataframe(
        pd.DataFrame(rows), hide_index=True, row_height=30, height=min(32 + 30 * len(rows), 242), key="judged_tests",
        alt=_("Tests"), on_select="rerun", selection_mode="single-row",
        column_config={
            "#": st.column_config.TextColumn(width=30),
            "verdict": st.column_config.TextColumn(_("verdict"), width=120),
            "cpu": st.column_config.TextColumn(_("processor"), width=80, alignment="right"),
            "wall": st.column_config.TextColumn(_("time"), width=70, alignment="right"),
            "memory": st.column_config.TextColumn(_("memory"), width=75, alignment="right"),
            "why": st.column_config.TextColumn(_("why"), width=230),
        },
    )  # fmt: skip
    clicked = event["selection"]["rows"]
    if clicked and clicked[0] < len(rows):
        return int(clicked[0])
    first = judgement.first_failure
    return judgement.outcomes.index(first) if first else 0


def _row(outcome: TestOutcome) -> dict[str, str]:
    ran = outcome.execution
    return {
        "#": str(outcome.index + 1),
        "verdict": f"{_SIGNS.get(outcome.verdict, '!')} {verdict_word(outcome.verdict)}",
        "cpu": duration(ran.cpu_seconds * 1e3) if ran else UNSCORED,
        "wall": duration(ran.wall_seconds * 1e3) if ran else UNSCORED,
        "memory": f"{ran.peak_mb:.0f} MB" if ran else UNSCORED,
        "why": say(outcome.message) if outcome.message else "",
    }


def _test(outcome: TestOutcome, ran: Execution) -> None:
    st.markdown(f"**{_('Test {number}', number=outcome.index + 1)}**  :gray[{plain(verdict_word(outcome.verdict))}]")
    if outcome.message:
        st.caption(plain(say(outcome.message)))
    with st.container(horizontal=True, gap="small"):
        for title, text in ((_("Input"), outcome.case.stdin), (_("Expected"), outcome.case.stdout)):
            _stream(title, text)
        _stream(_("Output"), ran.stdout)
    if outcome.verdict is Verdict.WRONG_ANSWER and len(outcome.case.stdout) + len(ran.stdout) < 20 * _SHOWN:
        st.caption(_("From the expected output to the program's:"))
        diff_view(_plain_lines(outcome.case.stdout), _plain_lines(ran.stdout), key=f"judged_diff_{outcome.index}")
    if ran.stderr:
        st.caption(_("Standard error"))
        st.code(ran.stderr[:_SHOWN], language=None, wrap_lines=True)


def _stream(title: str, text: str) -> None:
    with st.container(gap=None, width="stretch"):
        shown = text if len(text) <= _SHOWN else text[:_SHOWN] + " …"
        st.caption(title)
        st.code(shown or " ", language=None, height=110)


def _plain_lines(text: str) -> str:
    """Without what does not count: kinds of line ends, and line ends at the end."""
    return text.replace("\r\n", "\n").replace("\r", "\n").rstrip()
