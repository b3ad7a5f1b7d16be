"""What is wrong with a run: rules as data, their conditions, and the findings and checks they give."""

from rewards_lib.training_metrics.diagnostics.diagnosis import Check, Diagnosis, diagnose
from rewards_lib.training_metrics.diagnostics.findings import MetricFinding, in_language
from rewards_lib.training_metrics.diagnostics.outcomes import SEVERITIES, Severity
from rewards_lib.training_metrics.diagnostics.rules import Rule, RuleBook, read_rules, rule_book
from rewards_lib.training_metrics.diagnostics.weights import WeightCheck, check_weights, solve_weights

__all__ = [
    "SEVERITIES",
    "Check",
    "Diagnosis",
    "MetricFinding",
    "Rule",
    "RuleBook",
    "Severity",
    "WeightCheck",
    "check_weights",
    "diagnose",
    "in_language",
    "read_rules",
    "rule_book",
    "solve_weights",
]
