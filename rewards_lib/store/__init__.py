"""Drafts and published versions of functions, mixes and payloads, in one SQLite file or another database.

Invariant: what a call acknowledged is on the disk, and no save replaces a text that its author has not seen.
Importing this package does not import SQLAlchemy; opening a ``Store`` does.
"""

from rewards_lib.store.free_names import free_names
from rewards_lib.store.progress import ExerciseProgress, Progress
from rewards_lib.store.records import (
    Draft,
    DraftConflict,
    Item,
    ItemKind,
    Kind,
    Version,
    WithdrawnError,
    read_reference,
)
from rewards_lib.store.store import Store

__all__ = [
    "Draft",
    "DraftConflict",
    "ExerciseProgress",
    "Item",
    "ItemKind",
    "Kind",
    "Progress",
    "Store",
    "Version",
    "WithdrawnError",
    "free_names",
    "read_reference",
]
