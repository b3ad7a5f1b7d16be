"""Data sets of prompts for RL: checked against what trainers ask for, converted from columns, kept to be picked from.

Invariant: a row that cannot be used is counted and kept apart with its number; nothing is mended in silence.
"""

from rewards_lib.datasets.checking import DatasetReport, check_dataset
from rewards_lib.datasets.conversion import ColumnPlan, convert, guess_plan
from rewards_lib.datasets.shelf import StoredDataset, list_datasets, read_samples, remove_dataset, save_dataset

__all__ = [
    "ColumnPlan",
    "DatasetReport",
    "StoredDataset",
    "check_dataset",
    "convert",
    "guess_plan",
    "list_datasets",
    "read_samples",
    "remove_dataset",
    "save_dataset",
]
