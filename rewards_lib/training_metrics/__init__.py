"""Exports of training runs in; series, families, what was mended and what is wrong with the run out.

Invariant: importing this package is cheap; what reads a file is loaded when the first one is read.
"""

from rewards_lib.training_metrics.csv_export import wide_csv
from rewards_lib.training_metrics.diagnostics import (
    SEVERITIES,
    Check,
    Diagnosis,
    MetricFinding,
    Rule,
    RuleBook,
    WeightCheck,
    check_weights,
    diagnose,
    in_language,
    read_rules,
    rule_book,
    solve_weights,
)
from rewards_lib.training_metrics.export import Export, Run, read_export
from rewards_lib.training_metrics.families import Family, group_families
from rewards_lib.training_metrics.names import canonical_name, canonical_names, split_name
from rewards_lib.training_metrics.report import (
    families_of,
    metrics_report,
    notes_of,
    report_exports,
    runs_of,
    series_of,
)
from rewards_lib.training_metrics.series import (
    Series,
    StepRange,
    downsample,
    drawn_points,
    means_around,
    smooth_series,
)
from rewards_lib.training_metrics.steps import RELATIVE_TIME, ROW_NUMBER, Restart, StepColumnError

__all__ = [
    "RELATIVE_TIME",
    "ROW_NUMBER",
    "SEVERITIES",
    "Check",
    "Diagnosis",
    "Export",
    "Family",
    "MetricFinding",
    "Restart",
    "Rule",
    "RuleBook",
    "Run",
    "Series",
    "StepColumnError",
    "StepRange",
    "WeightCheck",
    "canonical_name",
    "canonical_names",
    "check_weights",
    "diagnose",
    "downsample",
    "drawn_points",
    "families_of",
    "group_families",
    "in_language",
    "means_around",
    "metrics_report",
    "notes_of",
    "read_export",
    "read_rules",
    "report_exports",
    "rule_book",
    "runs_of",
    "series_of",
    "smooth_series",
    "solve_weights",
    "split_name",
    "wide_csv",
]
