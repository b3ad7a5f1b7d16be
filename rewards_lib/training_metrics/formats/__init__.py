"""Every shape an export arrives in, recognised by its content, never by its name.

Adding one: a module that gives a ``Reading``, and its place in ``read_content``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from rewards_lib.errors import InputError
from rewards_lib.training_metrics.csv_table import read_table
from rewards_lib.training_metrics.formats.column_shapes import shape_columns
from rewards_lib.training_metrics.formats.console_logs import has_metric_lines, is_console_log, read_console_log
from rewards_lib.training_metrics.formats.event_files import event_files_below, is_event_file, read_events
from rewards_lib.training_metrics.formats.json_logs import read_json_log
from rewards_lib.training_metrics.formats.reading import Reading, cut_notes, nul_notes
from rewards_lib.training_metrics.formats.spaced_columns import tabulated
from rewards_lib.training_metrics.formats.table_notes import refuse_torn_cells, table_notes, table_told
from rewards_lib.training_metrics.sniffing import HEAD_BYTES, TextSource, open_bytes, sniff_text

MOST_LOG_BYTES = 268_435_456

__all__ = ["Reading", "read_content"]


def read_content(data: bytes | Path, name: str, wanted: Callable[[str], bool] | None = None) -> Reading:
    """Read a file, or a folder of event files, whatever it is.

    ``wanted`` says which columns of a wide CSV to hold. Raises InputError when the content is nothing known.
    """
    if isinstance(data, Path) and data.is_dir():
        files = event_files_below(data)
        if not files:
            raise InputError("The folder holds no event file.", where=name, remedy="Name the files one by one.")
        return read_events([(str(path), path) for path in files], name)
    with open_bytes(data) as stream:
        head = stream.read(HEAD_BYTES)
    if is_event_file(head):
        return read_events([(name, data)], name)
    source = sniff_text(data, name)
    try:
        reading = _read_text(source, name, wanted)
    except UnicodeDecodeError:  # it was all UTF-8 when it was sniffed
        raise InputError("The file was changed while it was read.", where=name, remedy="Read it again.") from None
    return replace(reading, notes=(*nul_notes(source.nul_bytes), *cut_notes(source.cut_bytes), *reading.notes))


def _read_text(source: TextSource, name: str, wanted: Callable[[str], bool] | None) -> Reading:
    with source.open() as stream:
        head = stream.read(HEAD_BYTES)
    if is_console_log(head):
        return read_console_log(source)
    if head.lstrip()[:1] in (b"{", b"["):
        return read_json_log(source)
    try:
        table = read_table(tabulated(source), wanted)
        refuse_torn_cells(table)
    except InputError:
        if _holds_metric_lines(source):
            return read_console_log(source)
        raise
    numbers = table.numbers
    if not numbers.names and _holds_metric_lines(source):
        return read_console_log(source)
    return shape_columns(table.header.names, numbers, table_told(table), table_notes(table), Path(name).name)


def _holds_metric_lines(source: TextSource) -> bool:
    """Whether what is no table is a job log, which may run on for long before its first metrics."""
    with source.open() as stream:
        return has_metric_lines(stream.read(MOST_LOG_BYTES))
