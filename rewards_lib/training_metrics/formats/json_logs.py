"""JSON and JSON lines: TRL's trainer_state.json, verl's file logger, W&B's summary, records of one's own.

Trainers write bare NaN and Infinity where a metric has no number; such a log is read here, as the standard module
reads it, and not refused as strict JSON would be.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rewards_lib.contract import Sentence, sentence
from rewards_lib.errors import InputError
from rewards_lib.training_metrics.formats.reading import Reading, gather_records
from rewards_lib.training_metrics.sniffing import TextSource
from rewards_lib.training_metrics.steps import ROW_NUMBER, STEP_NAMES

_SUMMARY_OF_TRAINER = "train_runtime"
_REMEDY = "Give a trainer_state.json, a file of one JSON record a line, or a CSV."


def read_json_log(source: TextSource) -> Reading:
    """Read a JSON document or JSON lines.

    Raises InputError, with line and column, for what is no JSON, and for JSON that holds no metrics.
    """
    with source.open() as stream:
        text = stream.read().decode("utf-8", "replace")
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        first = text.lstrip().split("\n", 1)[0]
        if _decoded(first) is None:
            raise InputError(
                "This is not JSON: {problem}.", problem=error.msg, remedy=_REMEDY,
                where=f"{source.name}, line {error.lineno}, column {error.colno}",
            ) from None  # fmt: skip
        return _read_lines(text, source)
    except (RecursionError, ValueError):
        raise InputError("The JSON is nested too deeply or holds a number too long.", where=source.name) from None
    return _read_document(document, source)


def _decoded(line: str) -> Mapping[str, Any] | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def _read_document(document: object, source: TextSource) -> Reading:
    if isinstance(document, dict) and isinstance(document.get("log_history"), list):
        return _read_trainer_state(document, source)
    if isinstance(document, list) and document and all(isinstance(row, dict) for row in document):
        return _reading(list(enumerate(document, 1)), sentence("JSON records"), source, [], rows_told="record")
    if isinstance(document, dict) and (records := _records_of_columns(document)):
        return _reading(list(enumerate(records, 1)), sentence("JSON columns"), source, [], rows_told="record")
    if isinstance(document, dict) and (isinstance(document.get("data"), dict) or _is_record(document)):
        return _reading([(1, _unpacked(document))], sentence("JSON lines"), source, [])
    if isinstance(document, dict) and _is_summary(document):
        return _read_summary(document, source)
    raise InputError("This JSON holds no metrics known here.", where=source.name, remedy=_REMEDY)


def _records_of_columns(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The records of a table that was written by columns, as lists or (pandas) by row label; none if it was not."""
    columns = {
        name: list(column.values()) if isinstance(column, dict) else column
        for name, column in document.items()
        if isinstance(column, list | dict)
    }
    lengths = {len(column) for column in columns.values()}
    if len(columns) != len(document) or len(columns) < 2 or len(lengths) != 1:
        return []
    if any(isinstance(cell, list | dict) for column in columns.values() for cell in column):
        return []
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]


def _read_trainer_state(document: Mapping[str, Any], source: TextSource) -> Reading:
    notes: list[Sentence] = []
    rows = []
    for number, row in enumerate(document["log_history"], 1):
        if not isinstance(row, dict):
            notes.append(sentence("Record {number} of log_history is no record; it was left out.", number=number))
        elif _SUMMARY_OF_TRAINER in row:
            notes.append(
                sentence("Record {number} is the trainer's summary of the run, not a step; left out.", number=number)
            )
        else:
            rows.append((number, row))
    if not rows:
        raise InputError("log_history is empty.", where=source.name, remedy="Give the state of a run that has logged.")
    return _reading(rows, sentence("TRL trainer_state.json"), source, notes, rows_told="record")


def _is_record(document: Mapping[str, Any]) -> bool:
    """Whether this is the only line so far of a log, which counts its steps and has nothing of W&B's own."""
    return any(name in document for name in STEP_NAMES) and not _is_of_wandb(document)


def _is_of_wandb(document: Mapping[str, Any]) -> bool:
    return any(key in document for key in ("_wandb", "_step", "_runtime", "_timestamp"))


def _is_summary(document: Mapping[str, Any]) -> bool:
    return any(isinstance(v, int | float) and not isinstance(v, bool) for v in document.values())


def _read_summary(document: Mapping[str, Any], source: TextSource) -> Reading:
    # tables and histograms say of which type they are
    kept = {k: v for k, v in document.items() if k != "_wandb" and not (isinstance(v, Mapping) and "_type" in v)}
    note = sentence("This file holds the last value of each metric, not a history: nothing can be judged by it.")
    reading = _reading([(1, kept)], sentence("W&B summary"), source, [note])
    counted = any(name in STEP_NAMES for name in reading.numbers.names)  # one row alone tells no other counter
    x = None if counted or not _is_of_wandb(document) else ROW_NUMBER
    return replace(reading, last_values_only=True, x=x)


def _read_lines(text: str, source: TextSource) -> Reading:
    rows, notes = [], []
    bad: list[int] = []
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    for number, line in lines:
        record = _decoded(line)
        if record is None:
            bad.append(number)
        else:
            rows.append((number, _unpacked(record)))
    if bad == [lines[-1][0]]:
        notes.append(
            sentence("The last line ({line}) is no whole record, so the file was still being written.", line=bad[0])
        )
    elif bad:
        notes.append(
            sentence("Lines that hold no record: {count}, the first is line {line}.", count=len(bad), line=bad[0])
        )
    return _reading(rows, sentence("JSON lines"), source, notes)


def _unpacked(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record itself, or what stands in ``{"step": n, "data": {...}}``, as verl's file logger writes it."""
    data = record.get("data")
    return {"step": record.get("step"), **data} if isinstance(data, Mapping) else dict(record)


def _reading(
    rows: list[tuple[int, Any]], what: Sentence, source: TextSource, notes: list[Sentence], rows_told: str = "line"
) -> Reading:
    names, numbers, odd = gather_records(rows, rows_told)
    if not numbers.names:
        raise InputError("This JSON holds no numbers.", where=source.name, remedy=_REMEDY)
    told = sentence("{what}, {encoding}, {columns} columns, {rows} rows",
                    what=what, encoding=source.encoding, columns=len(names), rows=len(rows))  # fmt: skip
    return Reading(names, numbers, told, (*notes, *odd))
