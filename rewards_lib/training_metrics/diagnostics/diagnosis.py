"""All rules over a run: findings worst first, and what became of every check.

Invariant: every rule has exactly one check, and a finding has a check that says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rewards_lib.contract import JsonObject, Sentence, sentence
from rewards_lib.training_metrics.diagnostics.conditions import CONDITIONS
from rewards_lib.training_metrics.diagnostics.evidence import TEST, Evidence, MissingSeriesError
from rewards_lib.training_metrics.diagnostics.findings import MetricFinding, Text
from rewards_lib.training_metrics.diagnostics.levels import text_of
from rewards_lib.training_metrics.diagnostics.outcomes import SEVERITIES, Outcome, Severity, State, step_text
from rewards_lib.training_metrics.diagnostics.rules import Rule, RuleBook, rule_book
from rewards_lib.training_metrics.diagnostics.weights import WeightCheck, check_weights, solved_weights
from rewards_lib.training_metrics.export import Run


@dataclass(frozen=True, slots=True)
class Check:
    """What became of one rule."""

    rule: str
    title: Text
    """What the rule is called."""
    number: int
    state: State
    why: Sentence | None = None
    missing: tuple[str, ...] = ()
    """Canonical names without which it could not be made."""
    silenced_by: str = ""
    """The rule that says the same with more right."""

    def to_json(self) -> JsonObject:
        """The check as the command line prints it."""
        return {"rule": self.rule, "number": self.number, "state": self.state, "why": str(self.why or "")}


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A run, judged."""

    findings: tuple[MetricFinding, ...]
    """Worst first, then by the rule's number; last of its severity that of the mix."""
    checks: tuple[Check, ...]
    """One for each rule, in order."""
    solved: Mapping[str, float] | None = None
    """The weights of the reward functions that explain the final reward, where they can be told."""
    sums: WeightCheck | None = None
    """The final reward against the weights of a mix; None where none were given."""

    @property
    def worst(self) -> Severity | None:
        """The worst severity found; None when nothing was."""
        return self.findings[0].severity if self.findings else None


def diagnose(run: Run, *, book: RuleBook | None = None, weights: Mapping[str, float] | None = None) -> Diagnosis:
    """Ask every rule about a run.

    ``weights`` of the reward functions, else those that explain the final reward, give its range; whether it is their
    weighted sum is checked too. Raises InputError when an own rule lacks a threshold its condition asks for.
    """
    book = book or rule_book()
    evidence = Evidence(run, weights)
    solved = solved_weights(evidence)
    evidence.weights = weights or solved or {}
    outcomes = {rule.id: _judge(evidence, rule, book) for rule in book.rules}
    checks, findings = [], []
    for rule in book.rules:
        outcome, missing = outcomes[rule.id]
        louder = next((one for one in rule.silenced_by if one in outcomes and outcomes[one][0].state == "finding"), "")
        if louder and outcome.state != "abstained":
            outcome = Outcome.abstained(sentence("told by {rule}", rule=louder))
        checks.append(Check(rule.id, rule.title, rule.number, outcome.state, outcome.why, missing, louder))
        if outcome.state == "finding":
            findings.append(_finding(rule, outcome))
    sums = check_weights(run, weights) if weights else None
    findings += [off] if sums and (off := sums.finding()) else []
    findings.sort(key=lambda finding: SEVERITIES.index(finding.severity))
    return Diagnosis(tuple(findings), tuple(checks), solved, sums)


def _judge(evidence: Evidence, rule: Rule, book: RuleBook) -> tuple[Outcome, tuple[str, ...]]:
    """The rule's outcome, and what it misses."""
    if evidence.run.last_values_only:
        return Outcome.abstained(sentence("last values only, not a history")), ()
    missing = tuple(need for need in rule.needs if not evidence.has(need))
    if missing:
        words = ", ".join(_concept(need, book) for need in missing)
        return Outcome.abstained(sentence("no {concept} in this export", concept=words)), missing
    count = evidence.points(rule.needs)
    if count < rule.min_steps:
        return Outcome.abstained(sentence("{count} of {needed} steps", count=count, needed=rule.min_steps)), ()
    tests = len(evidence.find(TEST) or ())
    if tests < rule.min_tests:
        return Outcome.abstained(sentence("{count} of {needed} evaluations", count=tests, needed=rule.min_tests)), ()
    try:
        return CONDITIONS[rule.condition](evidence, rule), ()
    except MissingSeriesError as error:
        missing = tuple(map(str, error.args))
        return Outcome.abstained(sentence("no {concept} in this export", concept=_concept(missing[0], book))), missing


def _concept(need: str, book: RuleBook) -> str:
    return book.concept(need.partition("|")[0].strip()).get("en", need)


def _finding(rule: Rule, outcome: Outcome) -> MetricFinding:
    begin, end = outcome.steps
    told = {
        "series": outcome.series[0] if outcome.series else "",
        "begin": step_text(begin),
        "end": step_text(end),
        "value": text_of(outcome.value, rule),
        "threshold": text_of(outcome.threshold, rule),
        "n": str(outcome.n),
    } | dict(outcome.told)
    return MetricFinding(
        rule.id,
        rule.title,
        outcome.severity or rule.severity,
        rule.texts.get(outcome.text, rule.texts["text"]),
        told,
        outcome.series,
        outcome.steps,
        outcome.value,
        outcome.threshold,
        outcome.n,
        rule.meaning,
        rule.advice,
        rule.source,
        rule.number,
    )
