"""Rows that hold plain numbers and blanks alone, as nearly all do: read by pyarrow, on all cores and without pandas.

Invariant: what is read here is what the closer look of ``csv_table`` would read. The first part with anything else in
it (a text, a NaN, a row of another width, an odd quotation mark) ends the reading, and the closer look goes on there.
"""

from __future__ import annotations

import sys
from typing import Any

from rewards_lib.training_metrics.csv_header import Header
from rewards_lib.training_metrics.number_columns import SPARE_ROOM, NumberColumns
from rewards_lib.training_metrics.sniffing import TextSource

FIRST_BYTES = 1_048_576
"""Of the first part, which is read in vain in a file with a column of text."""
PART_BYTES = 8_388_608
"""Of the others: enough for all cores, little beside the numbers of the file."""


def is_quicker() -> bool:
    """Whether pyarrow is done first: where pandas is not loaded yet, which takes longer than what it reads faster."""
    return "pandas" not in sys.modules


def read_plain_rows(
    source: TextSource, header: Header, columns: NumberColumns, end: int, *, decimal_comma: bool
) -> int:
    """Fill ``columns`` with the rows up to ``end``, in bytes from the beginning of the text; return where it stopped.

    That is ``end`` where all rows are plain, else the beginning of a row.
    """
    import pyarrow as pa
    from pyarrow import csv

    how: dict[str, Any] = {
        "read_options": csv.ReadOptions(column_names=header.names),
        "parse_options": csv.ParseOptions(delimiter=header.delimiter),
        "convert_options": csv.ConvertOptions(
            column_types=dict.fromkeys(header.names, pa.float64()),
            include_columns=columns.names,
            null_values=[""],
            decimal_point="," if decimal_comma else ".",
        ),
    }
    begin, size = header.end, FIRST_BYTES
    with source.open(begin) as stream:
        while begin < end:
            part = stream.read(min(size, end - begin))
            cut = len(part) if begin + len(part) == end else part.rfind(b"\n") + 1
            if not cut or part.count(b'"', 0, cut) % 2:
                break
            try:
                table = csv.read_csv(pa.BufferReader(pa.py_buffer(memoryview(part)[:cut])), **how)
            except pa.ArrowInvalid:
                break
            if begin == header.end:
                columns.reserve(int(table.num_rows * (end - begin) / cut * SPARE_ROOM))
            if not columns.add_plain(table):
                break
            begin, size = begin + cut, PART_BYTES
            stream.seek(cut - len(part), 1)
    return begin
