"""Rows that hold plain numbers and blanks alone, as nearly all do: read by pyarrow, on all cores and without pandas.

Invariant: what is read here is what the closer look of ``csv_table`` would read. The first part with anything else in
it (a text, a NaN, a row of another width, an odd quotation mark) ends the reading, and the closer look goes on there.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING, Any, BinaryIO

from rewards_lib.training_metrics.csv_header import Header
from rewards_lib.training_metrics.number_columns import NumberColumns
from rewards_lib.training_metrics.row_parts import MOST_THREADS
from rewards_lib.training_metrics.sniffing import TextSource

if TYPE_CHECKING:
    import pyarrow as pa

FIRST_BYTES = 1_048_576
"""Of the first part, which is read in vain in a file with a column of text."""
LEAST_BLOCK_ROWS = 1000
"""Each core reads a block of a part. Blocks of fewer rows cost time for each of their columns."""
BLOCKS, MOST_BLOCK_BYTES = 32, 4_194_304
"""Into how many blocks a file is divided, and how large one gets: beside the numbers of the file they take little."""


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
        "parse_options": csv.ParseOptions(delimiter=header.delimiter),
        "convert_options": csv.ConvertOptions(
            column_types=dict.fromkeys(header.names, pa.float64()),
            include_columns=columns.names,
            null_values=[""],
            decimal_point="," if decimal_comma else ".",
        ),
    }
    begin = header.end
    (line_ends,) = source.count(b"\n", begin, end)
    columns.reserve(line_ends + 1)
    with source.open(begin) as stream, closing(_fetch_ahead(_tables(stream, header, end, how))) as tables:
        for table, stop in tables:
            if not columns.add_plain(table):
                break
            begin = stop
    return begin


def _fetch_ahead(tables: Iterator[tuple[pa.Table, int]]) -> Generator[tuple[pa.Table, int]]:
    """Yield the same, the next one fetched in a thread while the last is used."""
    with ThreadPoolExecutor(1, "rows") as thread:
        coming = thread.submit(next, tables, None)
        while (table := coming.result()) is not None:
            coming = thread.submit(next, tables, None)
            yield table


def _tables(stream: BinaryIO, header: Header, end: int, how: dict[str, Any]) -> Iterator[tuple[pa.Table, int]]:
    """The rows part by part, each with the byte where it ends; stops before what pyarrow refuses."""
    import pyarrow as pa
    from pyarrow import csv

    begin, size, block_bytes = header.end, FIRST_BYTES, FIRST_BYTES
    while begin < end:
        part = stream.read(min(size, end - begin))
        cut = len(part) if begin + len(part) == end else part.rfind(b"\n") + 1
        if not cut or part.count(b'"', 0, cut) % 2:
            return
        rows = pa.BufferReader(pa.py_buffer(memoryview(part)[:cut]))
        try:
            table = csv.read_csv(
                rows, read_options=csv.ReadOptions(column_names=header.names, block_size=block_bytes), **how
            )
        except pa.ArrowInvalid:
            return
        stream.seek(cut - len(part), 1)
        begin += cut
        yield table, begin
        block_bytes = max(
            LEAST_BLOCK_ROWS * cut // max(1, table.num_rows), min((end - begin) // BLOCKS, MOST_BLOCK_BYTES)
        )
        size = block_bytes * min(pa.cpu_count(), MOST_THREADS)
