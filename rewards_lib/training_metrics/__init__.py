"""Exports of training runs in, series, families and what was mended out.

Invariant: importing this package is cheap; pandas is loaded when the first file is read.
"""

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
    smooth_series,
)
from rewards_lib.training_metrics.steps import ROW_NUMBER, Restart, StepColumnError

__all__ = [
    "ROW_NUMBER",
    "Export",
    "Family",
    "Restart",
    "Run",
    "Series",
    "StepColumnError",
    "StepRange",
    "canonical_name",
    "canonical_names",
    "downsample",
    "drawn_points",
    "families_of",
    "group_families",
    "metrics_report",
    "notes_of",
    "read_export",
    "report_exports",
    "runs_of",
    "series_of",
    "smooth_series",
    "split_name",
]
