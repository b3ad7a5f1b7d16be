"""The data sets that a console keeps: rows that broke no rule, in a folder of its own, listed in the store.

Invariant: what stands on the list can be read; a data set that is saved again under its name takes the old one's place.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path

from rewards_lib.contract import JsonObject, Sample
from rewards_lib.data_directory import data_directory
from rewards_lib.errors import InputError, NotFoundError
from rewards_lib.rollouts.rollout import BadRow
from rewards_lib.rollouts.rows import Row
from rewards_lib.store import Store
from rewards_lib.strict_json import write_json
from rewards_lib.whole_files import write_whole

_NAME = re.compile(r"\w[\w.-]{0,79}")


@dataclass(frozen=True, slots=True)
class StoredDataset:
    """A data set on the list."""

    name: str
    path: Path
    rows: int
    saved_at: datetime

    @property
    def size_bytes(self) -> int:
        """The size of its file; 0 once it was removed elsewhere."""
        try:
            return self.path.stat().st_size
        except FileNotFoundError:
            return 0


def datasets_folder() -> Path:
    """Where the files of the data sets lie."""
    return data_directory() / "datasets"


def save_dataset(store: Store, name: str, rows: Iterable[Row | BadRow]) -> StoredDataset:
    """Keep the good rows of a data set under a name. Raises InputError for a bad name or when no row is good."""
    if not _NAME.fullmatch(name):
        raise InputError("{name} is not a usable name.", name=repr(name), remedy="Use letters, digits, _ - and dots.")
    folder = datasets_folder()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.jsonl"
    count = 0
    with write_whole(path) as file:
        for row in rows:
            if not isinstance(row, BadRow):
                file.write(write_json(row[1]).encode() + b"\n")
                count += 1
        if not count:
            raise InputError("The data set has no row that can be used.")
    item = store.put_item("dataset", name, {"rows": count})
    return StoredDataset(name, path, count, item.saved_at)


def list_datasets(store: Store) -> list[StoredDataset]:
    """The data sets there are, the newest first."""
    folder = datasets_folder()
    return [
        StoredDataset(item.id, path, int(item.content["rows"]), item.saved_at)
        for item in store.list_items("dataset") if (path := folder / f"{item.id}.jsonl").exists()
    ]  # fmt: skip


def read_samples(store: Store, name: str, *, first: int = 0, most: int | None = None) -> list[Sample]:
    """Read samples of a data set, from the row ``first`` on (0 is the first). Raises NotFoundError."""
    found = next((one for one in list_datasets(store) if one.name == name), None)
    if found is None:
        names = ", ".join(one.name for one in list_datasets(store))
        raise NotFoundError("There is no data set {name}.", name=name, remedy="There are: {names}.", names=names or "-")
    last = None if most is None else first + most
    return [Sample.from_json(row) for row in islice(_rows(found.path), first, last)]


def _rows(path: Path) -> Iterator[JsonObject]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            row: JsonObject = json.loads(line)
            yield row


def remove_dataset(store: Store, name: str) -> None:
    """Forget a data set and its file."""
    store.remove_item("dataset", name)
    if _NAME.fullmatch(name):
        (datasets_folder() / f"{name}.jsonl").unlink(missing_ok=True)
