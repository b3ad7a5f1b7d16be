"""The report of a few exports, in the shape the command line prints.

Invariant: the page and the command line show the same numbers, since both take them from here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rewards_lib.contract import JsonObject, Sentence, sentence
from rewards_lib.errors import InputError
from rewards_lib.training_metrics.diagnostics import SEVERITIES, RuleBook, diagnose
from rewards_lib.training_metrics.export import Export, Run, put_in_order, read_export
from rewards_lib.training_metrics.families import Family, group_families
from rewards_lib.training_metrics.formats.event_files import FILE_NAME, read_events
from rewards_lib.training_metrics.series import Series, StepRange, smooth_series


def metrics_report(
    files: Sequence[Path],
    *,
    step_range: StepRange | None = None,
    smooth: float | None = None,
    weights: Mapping[str, float] | None = None,
    book: RuleBook | None = None,
) -> JsonObject:
    """Read files and report them: ``files``, ``columns``, ``x``, ``series``, ``families``, ``findings``, ``checks``,
    ``notes``, ``summary``; ``smoothed`` when a weight is given (0 to below 1), ``weights`` when a mix's are.

    With one run in one file, series bear their own names; with more, ``RUN - NAME``, as W&B writes them. The range
    cuts series, smoothed series and summary; smoothing looks at the steps before the range too, and findings are about
    whole runs. Raises InputError.
    """
    if not files:
        raise InputError("No file was given.", remedy="Name at least one export.")
    exports = read_files(files)
    return report_exports(exports, step_range=step_range, smooth=smooth, weights=weights, book=book)


def read_files(paths: Sequence[Path]) -> list[Export]:
    """Read exports from disk; event files of one folder are one export, since they are parts of one run.

    Raises InputError when one cannot be opened or is no usable table.
    """
    parts: dict[Path, list[Path]] = {}
    for path in paths:
        is_part = bool(FILE_NAME.fullmatch(path.name)) and path.is_file()
        parts.setdefault(path.absolute().parent if is_part else path, []).append(path)
    exports = []
    for folder, files in parts.items():
        if len(files) > 1 and folder not in files:
            exports.append(_read_parts(files, folder.name))
        else:
            exports += map(read_file, files)
    return exports


def read_file(path: Path) -> Export:
    """Read one export from disk. Raises InputError when it cannot be opened or is no usable table."""
    try:
        return read_export(path)
    except OSError as error:
        raise _unreadable(error, path) from error


def _read_parts(paths: Sequence[Path], name: str) -> Export:
    try:
        reading = read_events([(path.name, path) for path in dict.fromkeys(paths)], name)
    except OSError as error:
        raise _unreadable(error, Path(name)) from error
    return put_in_order(reading, name)


def _unreadable(error: OSError, path: Path) -> InputError:
    return InputError("The file cannot be read: {why}.", why=error.strerror or str(error), where=str(path))


def report_exports(
    exports: Sequence[Export],
    *,
    step_range: StepRange | None = None,
    smooth: float | None = None,
    weights: Mapping[str, float] | None = None,
    book: RuleBook | None = None,
) -> JsonObject:
    """Report exports that are already read; see ``metrics_report``."""
    first, last = step_range or (None, None)
    if first is not None and last is not None and not first <= last:
        raise InputError("The step range {first}:{last} ends before it begins.", first=first, last=last)
    series = series_of(exports)
    shown = {name: line.within(step_range) for name, line in series.items()}
    report: JsonObject = {
        "files": [export.name for export in exports],
        "columns": list(dict.fromkeys(column for export in exports for column in export.columns)),
        "x": exports[0].x,
        "series": {name: line.to_json() for name, line in shown.items()},
        "families": [family.to_json() for family in families_of(exports)],
        **_judged(exports, weights, book),
        "notes": [str(note) for note in notes_of(exports)],
        "summary": {name: line.summary() for name, line in shown.items()},
    }
    if smooth is not None:
        smoothed = {name: smooth_series(line, smooth).within(step_range) for name, line in series.items()}
        report["smoothed"] = {name: line.to_json() for name, line in smoothed.items()}
    return report


def _judged(exports: Sequence[Export], weights: Mapping[str, float] | None, book: RuleBook | None) -> JsonObject:
    """Findings and checks of every run; with several runs each says which one it is about."""
    runs = runs_of(exports)
    findings, checks, sums = [], [], {}
    for label, run in runs.items():
        judged = diagnose(run, book=book, weights=weights)
        about = {} if _is_alone(runs) else {"run": label}
        before = "" if _is_alone(runs) else f"{label} - "
        if judged.sums:
            sums[label] = judged.sums.to_json()
        findings += [(SEVERITIES.index(one.severity), one.to_json(before) | about) for one in judged.findings]
        checks += [check.to_json() | about for check in judged.checks]
    ordered: list[JsonObject] = [row for _, row in sorted(findings, key=lambda pair: pair[0])]
    report: JsonObject = {"findings": ordered, "checks": checks}
    if weights:
        report["weights"] = sums[""] if _is_alone(runs) else sums
    return report


def families_of(exports: Sequence[Export]) -> list[Family]:
    """The families of every run, under the names its series are reported by."""
    runs = runs_of(exports)
    if _is_alone(runs):
        return [family for run in runs.values() for family in group_families(run.names)]
    return [
        Family(
            f"{label} - {family.name}",
            family.kind,
            {part: f"{label} - {name}" for part, name in family.members.items()},
            f"{label} - {family.pair}" if family.pair else None,
        )
        for label, run in runs.items()
        for family in group_families(run.names)
    ]


def runs_of(exports: Sequence[Export]) -> dict[str, Run]:
    """All runs under labels that tell them apart: the file's name, and the run's own where a file holds several."""
    labelled: dict[str, Run] = {}
    for export in exports:
        for run in export.runs:
            plain = " ".join(part for part in (export.name if len(exports) > 1 else "", run.label) if part)
            label, copy = plain, 1
            while label in labelled:
                copy += 1
                label = f"{plain} ({copy})"
            labelled[label] = run
    return labelled


def _is_alone(runs: Mapping[str, Run]) -> bool:
    """Whether series need no run before their names: there is one run, and its export named none."""
    return list(runs) == [""]


def series_of(exports: Sequence[Export]) -> Mapping[str, Series]:
    """Every series under the name it is reported by."""
    runs = runs_of(exports)
    if _is_alone(runs):
        (run,) = runs.values()
        return {name: run.series(name) for name in run.names}
    return {f"{label} - {name}": run.series(name) for label, run in runs.items() for name in run.names}


def notes_of(exports: Sequence[Export]) -> list[Sentence]:
    """What was mended, over all files; with several files each note says which one it is about."""
    if len(exports) == 1:
        return list(exports[0].notes)
    return [sentence("{file}: {note}", file=export.name, note=note) for export in exports for note in export.notes]
