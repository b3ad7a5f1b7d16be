"""Rules as data: thresholds that are changed, own rules, and what is refused."""

from pathlib import Path

import numpy as np
import pytest

from rewards_lib.errors import InputError
from rewards_lib.training_metrics import Run, diagnose, diagnostics, read_rules, rule_book

OWN = """
rules:
  - id: tool_failures
    severity: warning
    condition: outside
    needs: [train/generation/aborted]
    bounds: {train/generation/aborted: {above: limit}}
    window: 5
    min_steps: 5
    thresholds: {limit: 0.01}
    unit: share
    text: "{value} of the rollouts failed."
    meaning: "The tool is down."
    advice: "Mend it."
"""


def run(values):
    steps = np.arange(1.0, len(values) + 1)
    return Run("", ("response/aborted_ratio",), steps, np.array([values]))


def test_a_changed_threshold_changes_the_verdict_and_not_the_book():
    flat = run(np.full(40, 0.03))
    assert "aborted" not in {finding.rule for finding in diagnose(flat).findings}
    book = rule_book().with_thresholds({"aborted": {"limit": 0.02}})
    assert "aborted" in {finding.rule for finding in diagnose(flat, book=book).findings}
    assert next(rule for rule in rule_book().rules if rule.id == "aborted").thresholds == {"limit": 0.05}


def test_every_rule_is_called_something_short_in_both_languages():
    """Charts write it beside the mark of a finding."""
    for rule in rule_book().rules:
        assert 1 < len(rule.title["en"]) <= 22, rule.id
        assert 1 < len(rule.title["zh"]) <= 12, rule.id


def test_an_own_rule_without_a_title_is_called_by_its_id():
    (bare,), (titled,) = read_rules(OWN), read_rules(OWN.replace("    text:", "    title: tool down\n    text:"))
    assert (bare.title, titled.title) == ({"en": "tool failures"}, {"en": "tool down"})


def test_an_own_rule_is_asked_beside_the_forty():
    book = rule_book().with_rules(read_rules(OWN))
    diagnosis = diagnose(run(np.full(40, 0.03)), book=book)
    assert len(diagnosis.checks) == 41
    assert "3\u202f% of the rollouts failed." in {finding.said("zh") for finding in diagnosis.findings}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("severity: warning", "severity: awful"), "severity cannot be 'awful'; it may be hard, warning, note"),
        (("condition: outside", "condition: magic"), "condition cannot be 'magic'"),
        (("{limit: 0.01}", "{limit: much}"), "Thresholds must be names with numbers"),
        (("window: 5", "window: five"), "window must be a whole number"),
        (("window: 5", "window: 0"), "window must be a whole number from 1"),
        (("{above: limit}", "{abov: limit}"), "a bound cannot be 'abov'; it may be above, from, below"),
        (("{above: limit}", "{above: 0.1}"), "A bound must be the name of a threshold, not 0.1"),
        (("bounds: {train/generation/aborted: {above: limit}}", "bounds: [a]"), "bounds must be names of metrics"),
        (("bounds: {train/generation/aborted: {above: limit}}", "k: 1"), "that bounds must name"),
        (("needs: [train/generation/aborted]", "needs: train/generation/aborted"), "needs must be a list of names"),
        (("unit: share", "unit: furlong"), "unit cannot be 'furlong'"),
        (("unit: share", "strong: awful"), "strong cannot be 'awful'"),
        (("unit: share", "tresholds: {a: 1}"), "tresholds must be a text, or en and zh"),
        (("{value} of the", "{failures} of the"), "a word in braces cannot be 'failures'"),
        (("{value} of the", "{value.__class__} of the"), "a word in braces cannot be 'value.__class__'"),
        (("{value} of the", "{ of the"), "The braces of a text do not fit"),
        (('text: "{value} of the rollouts failed."', ""), "The rule has no text"),
        (("id: tool_failures", "name: x"), "A rule needs an id"),
        (("rules:", "rules: [[["), "This is not YAML"),
    ],
)
def test_what_is_wrong_with_an_own_rule_is_said(change, says):
    with pytest.raises(InputError, match=says.split("'", maxsplit=1)[0]) as refused:
        read_rules(OWN.replace(*change))
    assert says in str(refused.value)


def test_an_own_rule_may_speak_of_a_custom_metric_by_its_own_name():
    custom = "train/metrics/tool_failures(mean)"
    book = rule_book().with_rules(read_rules(OWN.replace("train/generation/aborted", custom)))
    steps = np.arange(1.0, 41)
    found = diagnose(Run("", (custom,), steps, np.full((1, 40), 0.03)), book=book).findings
    assert ("tool_failures", (custom,)) in {(finding.rule, finding.series) for finding in found}


def test_an_own_rule_that_does_not_say_what_its_condition_looks_at_abstains_without_it():
    own = OWN.replace("condition: outside", "condition: entropy_high")
    (check,) = (
        one
        for one in diagnose(run(np.full(40, 0.03)), book=rule_book().with_rules(read_rules(own))).checks
        if one.rule == "tool_failures"
    )
    assert (check.state, str(check.why)) == ("abstained", "no entropy in this export")


def test_an_own_rule_without_its_threshold_says_which():
    book = rule_book().with_rules(read_rules(OWN.replace("{limit: 0.01}", "{}")))
    with pytest.raises(InputError, match="rule tool_failures: The rule needs the threshold limit"):
        diagnose(run(np.full(40, 0.03)), book=book)


def test_every_threshold_of_the_forty_is_asked_for():
    folder = Path(diagnostics.__file__).parent
    asked = "".join(file.read_text("utf-8") for file in folder.glob("*.py"))
    for rule in rule_book().rules:
        bounds = {name for sides in rule.bounds.values() for name in sides.values()}
        assert [name for name in rule.thresholds if name not in bounds and f'"{name}"' not in asked] == [], rule.id


def test_the_documentation_lists_every_rule_with_its_thresholds_and_its_example_is_read():
    page = (Path(__file__).parents[3] / "docs" / "training_metrics.md").read_text(encoding="utf-8")
    for rule in rule_book().rules:
        (row,) = (line for line in page.splitlines() if line.startswith(f"| {rule.number} | `{rule.id}` |"))
        assert all(f"{name} {value:g}" in row for name, value in rule.thresholds.items())
    assert read_rules(page.partition("```yaml")[2].partition("```")[0])[0].id == "tool_failures"
