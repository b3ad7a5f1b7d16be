"""What a run says, in sentences: the verdict, the findings worst first, and one line about all the checks.

Invariant: nothing is coloured without a sentence, and a check that could not be made is never counted as passed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from components import state, theme
from components.i18n import _, language, say
from components.metrics.charts import chart_of
from components.metrics.diagnosis import judged_by
from components.metrics.drawing import Chart
from components.metrics.facts import step_text
from components.metrics.step_range import zoom
from rewards_lib.contract import fill
from rewards_lib.training_metrics import Check, Diagnosis, MetricFinding, Run, in_language, rule_book

MARKS = {
    "hard": ":red[:material/error:]", "warning": ":orange[:material/warning:]", "note": ":gray[:material/info:]",
}  # fmt: skip
MOST_SHOWN = 7
FEWEST_PASSED = 8
"""With fewer checks passed than this, a run without findings is not called healthy."""


def diagnosis_list(
    judged: Mapping[str, Diagnosis], runs: Mapping[str, Run], charts: Sequence[Chart], tools: Callable[[], None]
) -> None:
    """Draw the verdict over all runs, then each run's findings and its line of checks; ``tools`` stand in the first."""
    _verdict(judged)
    if told := judged_by():
        st.caption(theme.plain(told))
    for place, (label, one) in enumerate(judged.items()):
        if len(judged) > 1:
            st.markdown(theme.rule_mark(place, label))
        with st.container(gap=None, key=f"metric_findings_{place}"):
            for number, finding in enumerate(one.findings):
                if number == MOST_SHOWN:
                    st.caption(_("More notes, marked in the charts: {count}", count=len(one.findings) - MOST_SHOWN))
                    break
                _row(finding, runs, charts, key=f"finding_{place}_{finding.rule}")
            _weights(one)
            _checks(one.checks, tools if place == 0 else None, key=f"checks_{place}")


def _verdict(judged: Mapping[str, Diagnosis]) -> None:
    """One block: green where nothing is wrong, and what to do first where something is."""
    found = [finding for one in judged.values() for finding in one.findings]
    passed = sum(check.state == "ok" for one in judged.values() for check in one.checks)
    bad = {label: worst for label, one in judged.items() if (worst := _worst(one.findings))}
    if bad:
        severity = "hard" if any(worst[0].severity == "hard" for worst in bad.values()) else "warning"
        label = next(label for label, worst in bad.items() if worst[0].severity == severity)
        step = step_text(min(finding.steps[0] for finding in bad[label] if finding.severity == severity))
        title = (
            _("Broken from step {step}", step=step)
            if severity == "hard"
            else _("Something is wrong from step {step}", step=step)
        )
        st.error(
            _told(judged[label].findings),
            title=f"{label}: {title}" if label else title,
            icon=":material/trending_down:",
        )
    elif any(finding.rule == "too_short" for finding in found):
        st.info(
            _("Too few steps to judge; look at the charts."), title=_("Nothing wrong so far"), icon=":material/info:"
        )
    elif passed < FEWEST_PASSED * len(judged):
        told = _("Few checks could be made on these metrics, and all of them passed: {count}.", count=passed)
        st.info(told, title=_("Little can be judged"), icon=":material/info:")
    else:
        told = _("{count} checks passed.", count=passed)
        st.success(told, title=_("Healthy so far"), icon=":material/check_circle:")


def _worst(findings: Sequence[MetricFinding]) -> list[MetricFinding]:
    """The findings that are no notes, worst first."""
    return [finding for finding in findings if finding.severity != "note"]


def _told(found: Sequence[MetricFinding]) -> str:
    """How many findings there are, and which checkpoint to take where tests say so."""
    count = _("One finding:") if len(found) == 1 else _("{count} findings, worst first:", count=len(found))
    peak = next((finding for finding in found if finding.rule == "test_peak"), None)
    if peak is None:
        return count
    step = step_text(peak.steps[0])
    return f"{_('Go back to the checkpoint of step {step}: around it the tests were best.', step=step)} {count}"


def _row(finding: MetricFinding, runs: Mapping[str, Run], charts: Sequence[Chart], *, key: str) -> None:
    chart = chart_of(finding, charts)
    told, where = st.columns([10, 3.2], vertical_alignment="center", gap="xsmall")
    with told:
        advice = theme.plain(finding.advised(language()))
        st.markdown(f"{MARKS[finding.severity]} {_marked(finding)}  :small[:gray[{advice}]]")
    with where.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        with st.popover(_("Why"), type="tertiary", key=f"why_{key}"):
            _why(finding)
        if chart:
            st.button(
                theme.plain(chart.title),
                icon=":material/zoom_in:",
                type="tertiary",
                key=f"zoom_{key}",
                help=_("Scrolls to the chart and sets the steps"),
                on_click=_go_to,
                args=(chart.key, finding, runs),
            )


def _go_to(chart: str, finding: MetricFinding, runs: Mapping[str, Run]) -> None:
    begin, end = finding.steps
    zoom(runs, begin, end)
    state.metric_focus.set((chart, state.metric_focus.get()[1] + 1))


def _marked(finding: MetricFinding) -> str:
    """The sentence with its numbers in bold."""
    template = in_language(finding.texts, language())
    return fill(_escaped(template), {name: f"**{theme.plain(value)}**" for name, value in finding.told.items()})


def _escaped(template: str) -> str:
    """Text of a template with Markdown put out of action, its places left as they are."""
    parts = theme.plain(template)
    return parts.replace("\\{", "{").replace("\\}", "}").replace("\\_", "_")


def _why(finding: MetricFinding) -> None:
    """What it means, what to try, what it rests on."""
    spoken = language()
    st.markdown(f"**{_('What it means')}**  \n{theme.plain(in_language(finding.meaning, spoken))}")
    st.markdown(f"**{_('What to try')}**  \n{theme.plain(finding.advised(spoken))}")
    begin, end = (step_text(step) for step in finding.steps)
    rests = [_("rule {rule}", rule=finding.rule), _("steps {begin} to {end}", begin=begin, end=end)]
    if finding.n:
        rests.append(_("one point") if finding.n == 1 else _("{count} points", count=finding.n))
    if finding.threshold is not None:
        rests.append(_("threshold {threshold}", threshold=f"{finding.threshold:.4g}"))
    st.caption(theme.plain(" · ".join(rests)))
    if finding.source:
        st.caption(theme.plain(_("Source: {source}", source=finding.source)))


def _weights(one: Diagnosis) -> None:
    """What is known of the weights: whether the chosen mix holds; without one the weights that explain the reward."""
    sums = one.sums
    if sums is None:
        if solved := one.solved:
            pairs = " + ".join(f"{number_text(weight)} × {name}" for name, weight in solved.items())
            st.caption(theme.plain(_("Weights as solved from the series: {pairs}", pairs=pairs)))
    elif sums.missing:
        names = ", ".join(sums.missing)
        st.caption(theme.plain(_("The mix was not checked: the run does not report {names}.", names=names)))
    elif sums.holds:
        off, count = number_text(sums.largest), sums.n
        told = _("The final reward is the weighted sum of the mix at {count} steps, to {off}.", count=count, off=off)
        st.markdown(f":small[:green[:material/check:] {theme.plain(told)}]")


def number_text(value: float) -> str:
    """A weight or a difference with three significant digits."""
    return f"{value:.3g}".replace("-", "−")


def _checks(checks: Sequence[Check], tools: Callable[[], None] | None, *, key: str) -> None:
    """How many checks passed, how many could not be made and why; the whole list behind a button."""
    passed = sum(check.state == "ok" for check in checks)
    undone = checks_not_made(checks)
    count = _("One check passed") if passed == 1 else _("{count} checks passed", count=passed)
    told = f":green[:material/check:] {count}"
    if undone:
        said = _("{count} could not be made: {why}", count=len(undone), why=missing_text(undone))
        told += f" :gray[· {theme.plain(said)}]"
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=key):
        st.markdown(f":small[{told}]", width="stretch")
        if tools:
            tools()
        with st.popover(_("All checks"), type="tertiary", key=f"all_{key}"):
            words = {"ok": _("passed"), "finding": _("found"), "abstained": _("not made")}
            rows = [
                {
                    _("rule"): in_language(check.title, language()),
                    _("state"): words[check.state],
                    _("why"): _reason(check),
                }
                for check in checks
            ]
            st.dataframe(rows, hide_index=True, row_height=30, height=360, width=460, key=f"table_{key}")


def checks_not_made(checks: Sequence[Check]) -> list[Check]:
    """The checks that lacked something; one that another finding silenced is not among them."""
    return [check for check in checks if check.state == "abstained" and not check.silenced_by]


def _reason(check: Check) -> str:
    return _lack(_concepts([check])) if check.missing else say(check.why)


def missing_text(undone: Sequence[Check]) -> str:
    """Why checks could not be made, each reason once: what the export lacks, then the rest."""
    lacking = _concepts(undone)
    parts = [_lack(lacking)] if lacking else []
    parts += dict.fromkeys(say(check.why) for check in undone if not check.missing)
    return "; ".join(parts[:3])


def _concepts(checks: Sequence[Check]) -> list[str]:
    """What checks lack, each once, in the visitor's language."""
    needs = [need.split("|")[0].strip() for check in checks for need in check.missing]
    return list(dict.fromkeys(in_language(rule_book().concept(need), language()) for need in needs))


def _lack(concepts: Sequence[str]) -> str:
    return _("no {names} in this export", names=_(", ").join(concepts[:6]) + (" ..." if len(concepts) > 6 else ""))
