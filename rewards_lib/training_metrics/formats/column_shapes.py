"""Shapes of CSV columns that need to be understood: W&B panels, SwanLab pairs, long tables such as MLflow's.

Invariant: a shape is recognised by its header as a whole; a file that only resembles one is read as it stands.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from rewards_lib.contract import Sentence, sentence
from rewards_lib.training_metrics.cells import Numbers
from rewards_lib.training_metrics.formats.reading import WALL_TIME, Points, Reading, gather_points
from rewards_lib.training_metrics.names import canonical_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rewards_lib.training_metrics.series import Floats

_TWIN = re.compile(r"(?P<of>.+)__(?P<end>MIN|MAX)", re.DOTALL)
_SWANLAB = re.compile(r"(?P<of>.+)_(?P<what>step|timestamp)", re.DOTALL)
_KEYS = ("key", "metric", "metric_name", "tag", "name")
_VALUES = ("value",)
_RUNS = ("run", "run_id", "run_name", "run_uuid", "experiment")
_COUNTERS = ("_step", "_runtime", "_timestamp")
"""W&B's own, which a panel lists for each run beside what was asked for."""
_SAMPLED_ROWS = 500
_RESERVOIR = 1000
_TENSORBOARD = (WALL_TIME, "Step", "Value")
_TENSORBOARD_FILE = re.compile(r"run-.+-tag-(?P<tag>.+?)(?: ?\(\d+\))?\.csv", re.DOTALL)
"""As its page names a download; a browser adds the number of a copy."""


def shape_columns(
    columns: tuple[str, ...], numbers: Numbers, told: Sentence, notes: Sequence[Sentence], file: str
) -> Reading:
    """The reading of a table whose cells are numbers, in the shape its header has.

    ``file`` is the file's name, which alone says what TensorBoard's ``Value`` is.
    """
    plain = Reading(columns, numbers, told, tuple(notes))
    return (
        _wandb_panel(plain) or _swanlab(plain) or _long(plain) or _tensorboard(plain, file)
        or Reading(columns, numbers, told, (*notes, *_sampled(columns, numbers)))
    )  # fmt: skip


def _wandb_panel(plain: Reading) -> Reading | None:
    """``R - M`` with ``R - M__MIN`` and ``R - M__MAX``; the first column is x. Run names may hold `` - `` too."""
    twins: dict[str, dict[str, str]] = {}
    for name in plain.columns[1:]:
        if match := _TWIN.fullmatch(name):
            twins.setdefault(match["of"], {})[match["end"]] = name
    curves = [name for name in plain.columns[1:] if not _TWIN.fullmatch(name)]
    if not twins or not set(twins) <= set(curves) or any(" - " not in name for name in curves):
        return None
    groups: dict[str, dict[str, str]] = {}
    counters = set()
    for name in curves:
        run, _, metric = name.rpartition(" - ")
        groups.setdefault(run, {})[metric] = name
        if metric in _COUNTERS:
            counters.add(name)
    spread = {name: (ends["MIN"], ends["MAX"]) for name, ends in twins.items() if len(ends) == 2}
    note = sentence("A W&B panel: its series are averages over buckets or samples; spikes are read from the maxima.")
    x = plain.columns[0]
    return Reading(
        plain.columns, plain.numbers, sentence("W&B panel, {told}", told=plain.told), (*plain.notes, note),
        x=x if x in plain.numbers.names else None, clocks=frozenset(counters), groups=groups, spread=spread,
    )  # fmt: skip


def _swanlab(plain: Reading) -> Reading | None:
    """``step``, then pairs whose ``_step`` column HOLDS THE VALUE and whose ``_timestamp`` is in milliseconds."""
    pairs: dict[str, set[str]] = {}
    for name in plain.columns:
        if match := _SWANLAB.fullmatch(name):
            pairs.setdefault(match["of"], set()).add(match["what"])
    stems = [stem for stem, parts in pairs.items() if parts == {"step", "timestamp"} and "-" in stem]
    if not stems or plain.columns[0] != "step" or len(plain.columns) != 1 + 2 * len(stems):
        return None
    known = {run for run in map(_run_before_known_metric, stems) if run}
    common = _common_run(stems)
    groups: dict[str, dict[str, str]] = {}
    for stem in stems:
        own = [_run_before_known_metric(stem) or "", *(run for run in known if stem.startswith(f"{run}-"))]
        label = max(own, key=len) or common or stem.partition("-")[0]
        groups.setdefault(label, {})[stem.removeprefix(f"{label}-")] = f"{stem}_step"
    return Reading(
        plain.columns, plain.numbers, sentence("SwanLab, {told}", told=plain.told), plain.notes, x="step",
        clocks=frozenset({"step"} | {f"{stem}_timestamp" for stem in stems}), groups=groups,
    )  # fmt: skip


def _run_before_known_metric(stem: str) -> str | None:
    """What stands before the dash behind which a metric begins whose meaning is known; both may hold dashes."""
    dashes = (place for place, sign in enumerate(stem) if sign == "-" and place)
    return next((stem[:place] for place in dashes if canonical_name(stem[place + 1 :])), None)


def _common_run(stems: Sequence[str]) -> str:
    """What all stems begin with, up to a dash; empty for a single one or where they differ at once."""
    first, last = min(stems), max(stems)
    same = next((place for place, sign in enumerate(first) if last[place : place + 1] != sign), len(first))
    return first[:same].rpartition("-")[0] if len(stems) > 1 else ""


def _long(plain: Reading) -> Reading | None:
    """One point a row: a column of names, one of values, one of steps, perhaps one of runs."""
    by_name = {name.lower(): name for name in plain.columns}
    key = next((by_name[name] for name in _KEYS if by_name.get(name) in plain.numbers.texts), None)
    value = next((by_name[name] for name in _VALUES if by_name.get(name) in plain.numbers.names), None)
    step = next(
        (by_name[name] for name in ("step", "global_step", "epoch") if by_name.get(name) in plain.numbers.names), None
    )
    if key is None or value is None or step is None:
        return None
    runs = next((by_name[name] for name in _RUNS if name in by_name and by_name[name] != key), None)
    wall = next(
        (by_name[name] for name in ("timestamp", "wall_time", "wall time") if by_name.get(name) in plain.numbers.names),
        None,
    )
    points = _points_by_key(plain.numbers, key, value, step, runs, wall)
    numbers, labels = gather_points(points)
    several = len(points) > 1
    told = sentence("long table (one point a row), {told}", told=plain.told)
    names = tuple(name for name in numbers.names if name not in {"step", WALL_TIME})
    return Reading(
        (*plain.columns, *(name for name in names if name not in plain.columns)), numbers, told, plain.notes,
        x="step", clocks=frozenset({"step", WALL_TIME}), labels=labels if several else None,
    )  # fmt: skip


def _points_by_key(
    numbers: Numbers, key: str, value: str, step: str, runs: str | None, wall: str | None
) -> Mapping[str, Mapping[str, Points]]:
    import numpy as np
    import pandas as pd

    keys = numbers.texts[key]
    labels: Sequence[str]
    if runs is not None and runs in numbers.texts:
        labels = numbers.texts[runs]
    elif runs is not None and runs in numbers.names:
        labels = [f"{one:g}" for one in numbers.column(runs)]
    else:
        labels = [""] * len(keys)
    values, steps = numbers.column(value), numbers.column(step)
    clock = numbers.column(wall) if wall else None
    if clock is not None and np.nanmax(clock) > 1e11:
        clock = clock / 1e3
    logged = ~np.isnan(values)
    logged[list(numbers.nan_rows.get(value, []))] = True
    logged &= np.isfinite(steps)
    found: dict[str, dict[str, Points]] = {}
    codes, pairs = pd.factorize(pd.Series(zip(labels, keys, strict=True)))
    order = np.argsort(codes, kind="stable")
    for (run, name), places in zip(pairs, np.split(order, np.cumsum(np.bincount(codes))[:-1]), strict=True):
        rows = places[logged[places]]
        if name and len(rows):
            found.setdefault(run, {})[name] = Points(steps[rows], values[rows], None if clock is None else clock[rows])
    return found


def _tensorboard(plain: Reading, file: str) -> Reading | None:
    """One tag of one run, in a file that is called so; ``/`` in the tag became ``_`` there."""
    found = _TENSORBOARD_FILE.fullmatch(file)
    if plain.columns != _TENSORBOARD or found is None or found["tag"] in _TENSORBOARD:
        return None
    numbers = plain.numbers
    note = sentence("{column} is called {tag}, as the name of the file says.", column="Value", tag=found["tag"])
    names = tuple(found["tag"] if name == "Value" else name for name in numbers.names)
    nan_rows = {{"Value": found["tag"]}.get(name, name): rows for name, rows in numbers.nan_rows.items()}
    return replace(
        plain, numbers=replace(numbers, names=names, nan_rows=nan_rows),
        notes=(*plain.notes, *_sampled(plain.columns, numbers), note),
    )  # fmt: skip


def _sampled(columns: tuple[str, ...], numbers: Numbers) -> list[Sentence]:
    """What is known of files that hold a sample of the points."""
    rows = numbers.values.shape[1] if numbers.values.size else 0
    if columns == _TENSORBOARD and rows >= _RESERVOIR:
        return [sentence("TensorBoard keeps {count} random points of a tag: peaks may be missing.", count=_RESERVOIR)]
    if "_step" in numbers.names and rows == _SAMPLED_ROWS and _is_thinned(numbers.column("_step")):
        return [sentence("W&B's history() gives {count} sampled rows by default: peaks may be missing.", count=rows)]
    return []


def _is_thinned(steps: Floats) -> bool:
    """Whether rows stand at even distances of more than one, which a sample has and a whole history has not."""
    import numpy as np

    gaps = np.diff(np.sort(steps[np.isfinite(steps)]))
    return bool(len(gaps) and np.median(gaps) > 1 and gaps.max() <= 2 * np.median(gaps))
