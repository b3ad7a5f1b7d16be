"""A delimited text file as a table: header, delimiter, rows; what does not fit is refused or told, never guessed.

Invariant: a cell stands under the header it stood under in the file, and every row that was left out has a note.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from rewards_lib.contract import Sentence, sentence
from rewards_lib.errors import InputError
from rewards_lib.training_metrics import plain_rows
from rewards_lib.training_metrics.cells import Numbers
from rewards_lib.training_metrics.csv_header import QUOTED, Header, name_list, read_header
from rewards_lib.training_metrics.number_columns import NumberColumns
from rewards_lib.training_metrics.row_parts import Stretch, divide_rows, joined, read_parts
from rewards_lib.training_metrics.sniffing import HEAD_BYTES, TextSource

TAIL_BYTES = 262_144
SPARE = "\0spare"
"""A column beyond those of the header, in which a row that is too long is seen."""
LONGEST_CELL = 2**31 - 1
"""What csv may read in one cell: its own limit would refuse a whole file for one long text."""
FEWEST_ROWS, MOST_OVERLONG = 20, 0.01
"""From how many rows on a few that are too long are left out, and how large a share these may be."""
_DECIMAL_COMMA = re.compile(rb'(?:^|[;\r\n])[ "]*[+-]?\d+,\d+', re.MULTILINE)
_POINT_NUMBER = re.compile(rb'(?:^|[;\r\n])[ "]*[+-]?(?:\d+|\d{1,3}(?:,\d{3})+)\.\d+[ "]*(?=[;\r\n]|$)', re.MULTILINE)
_SPACED_QUOTE = re.compile(rb'[,;|] +"')


@dataclass(frozen=True, slots=True)
class Table:
    """What was read."""

    header: Header
    numbers: Numbers
    """Of the columns that were wanted, in the order of the header."""
    rows: int
    decimal_comma: bool
    source: TextSource
    notes: tuple[Sentence, ...] = field(default=())
    left_out: frozenset[int] = frozenset()
    """Rows of the file, from 0, that are not among the numbers because they are too long."""

    def lines_of(self, rows: Sequence[int]) -> dict[int, int]:
        """The line in the file, from 1, of each of the given rows of the numbers (from 0)."""
        wanted, last = set(rows), max(rows, default=-1)
        # A quoted blank alone in its line cannot be told from a blank line: count as if nothing had been left out.
        lines = {row: self.header.line + row + 1 for row in wanted}
        held = (line for row, (line, _) in enumerate(_records(self.source, self.header)) if row not in self.left_out)
        for row, line in enumerate(held):
            if row in wanted:
                lines[row] = line
            if row >= last:
                break
        return lines


def read_table(source: TextSource, wanted: Callable[[str], bool] | None = None) -> Table:
    """Read a delimited file through pandas' C engine, in a fresh process its plain numbers through pyarrow.

    Neither guesses a column's type from its first rows. With ``wanted``, only the columns whose names it accepts are
    held: a quarter of the time and of the memory.
    Of a long file, up to one row in a hundred may be longer than the header and is left out with a note. Raises
    InputError, with the line, for such a row otherwise; and when there is no delimiter or no row.
    """
    header = read_header(source)
    with source.open(header.end) as stream:
        decimal_comma = header.delimiter == ";" and _uses_decimal_commas(stream.read(HEAD_BYTES))
    # a table without any of them is read whole, for what is said of it
    held = [name for name in header.names if wanted is None or wanted(name)] or list(header.names)
    try:
        table = _parse(source, header, decimal_comma, held)
    except _OverlongRowError:
        table = _parse_without_overlong(source, header, decimal_comma, held)
    table = _without_empty_columns(table)
    if not table.rows:
        raise _no_rows(source, header)
    above = header.note()
    return replace(table, notes=(above, *table.notes)) if above else table


def _uses_decimal_commas(head: bytes) -> bool:
    return bool(_DECIMAL_COMMA.search(head)) and not _POINT_NUMBER.search(head)


def _records(source: TextSource, header: Header, begin: int | None = None) -> Iterator[tuple[int, list[str]]]:
    """The rows as lists of cells with the line each begins on, blank lines left out; slow, for a closer look.

    With ``begin``, those from that byte on, and lines are counted from there.
    """
    csv.field_size_limit(LONGEST_CELL)
    with source.open(header.end if begin is None else begin) as stream:
        text = io.TextIOWrapper(stream, "utf-8", newline="")
        reader = csv.reader(text, delimiter=header.delimiter, skipinitialspace=_spaces_before_quotes(source, header))
        before = 0
        for record in reader:
            if not _is_blank(record):
                yield header.line + before + 1, record
            before = reader.line_num


def _spaces_before_quotes(source: TextSource, header: Header) -> bool:
    """Whether quoted cells follow a blank, which would otherwise be part of them: ``1, "a, b"``."""
    with source.open() as stream:
        head = stream.read(HEAD_BYTES)
    return b' "' in head and header.delimiter != "\t" and bool(_SPACED_QUOTE.search(head))


def _is_blank(record: list[str]) -> bool:
    """Whether pandas skips the line: empty or white space alone; a lone pair of quotes is a row with an empty cell."""
    return not record or (len(record) == 1 and record[0].isspace())


# --- rows ----------------------------------------------------------------------------------------------------------


class _OverlongRowError(Exception):
    """Some row has more cells than the header."""


def _parse(source: TextSource, header: Header, decimal_comma: bool, held: list[str]) -> Table:
    """The rows under the header's names, with notes on rows that were left out."""
    last, columns = _LastRow.of(source, header), NumberColumns(held, decimal_comma=decimal_comma)
    begin, end = header.end, last.start if last.open_quote or last.short else last.end
    if plain_rows.is_quicker():
        begin = plain_rows.read_plain_rows(source, header, columns, end, decimal_comma=decimal_comma)
    missing = _read_closely(source, header, begin, end, columns) if begin < end else 0
    notes = []
    if last.open_quote:
        notes.append(sentence("The last row was left out: it ends inside quotation marks, so the file was cut there."))
    elif last.short and columns.rows:
        notes.append(
            sentence(
                "The last row was left out: it has {cells} of {columns} cells, so the file was still being written.",
                cells=last.cells,
                columns=header.width,
            )
        )
    if missing > 0:
        notes.append(sentence("Cells missing at the ends of rows: {count}; they count as gaps.", count=missing))
    return Table(header, columns.numbers(), columns.rows, decimal_comma, source, tuple(notes))


def _parse_without_overlong(source: TextSource, header: Header, decimal_comma: bool, held: list[str]) -> Table:
    """The rows that are no longer than the header, if nearly all are; slow, since every cell is looked at twice."""
    whole, overlong = io.StringIO(newline=""), []
    writer, width = csv.writer(whole, delimiter=header.delimiter, lineterminator="\n"), len(header.names)
    count = 0
    for count, (line, record) in enumerate(_records(source, header), 1):
        if "".join(record[width:]).strip():
            overlong.append((count - 1, line, len(record)))
        else:
            writer.writerow(record[:width])
    if overlong and (count < FEWEST_ROWS or len(overlong) > max(1, MOST_OVERLONG * count)):
        raise _too_long(source, header, *overlong[0][1:])
    mended = TextSource(source.name, whole.getvalue().encode("utf-8"), source.encoding)
    table = _parse(mended, replace(header, end=0), decimal_comma, held)
    notes = list(table.notes)
    if overlong:
        _, line, cells = overlong[0]
        told = (
            "Rows with more cells than the header were left out: {count}, the first is line {line} with {cells} cells "
            "instead of {columns}."
        )
        notes.append(sentence(told, count=len(overlong), line=line, cells=cells, columns=width))
    left_out = frozenset(row for row, _, _ in overlong)
    return replace(table, header=header, source=source, notes=tuple(notes), left_out=left_out)


def _read_closely(source: TextSource, header: Header, begin: int, end: int, columns: NumberColumns) -> int:
    """Add the rows from one byte to another, whatever they hold; give how many cells are missing at their ends."""
    first = next(_records(source, header, begin), None)
    if first is None:
        return 0
    # pandas takes the width of the first row for that of all, and would pass over what lies beyond it in silence
    if len(first[1]) > len(header.names) + 1 or "".join(first[1][len(header.names) :]).strip():
        raise _OverlongRowError
    before, some = columns.rows, len(columns.names) < len(header.names)
    stretches = divide_rows(source, begin, end, header.delimiter)
    columns.reserve(before + joined(stretches).line_ends + 1)
    if not some or not _read_some(source, header, stretches, columns):
        columns.drop_rows(before)
        _parse_rows(source, header, stretches, columns, names=[*header.names, SPARE])
    if not columns.has_gap_at_end:
        return 0
    return _missing_cells(header, stretches, columns.rows - before) or 0


def _read_some(source: TextSource, header: Header, stretches: Sequence[Stretch], columns: NumberColumns) -> bool:
    """Add the rows of some columns alone, and say whether that will do.

    pandas passes over what lies beyond the columns it was asked for, so that every row must be known to be whole.
    """
    before = columns.rows
    if joined(stretches).quotes:
        return False
    _parse_rows(source, header, stretches, columns, names=header.names, usecols=columns.names)
    return _missing_cells(header, stretches, columns.rows - before) == 0


def _options(source: TextSource, header: Header, decimal_comma: bool) -> dict[str, Any]:
    """How pandas is asked to read, whatever the columns."""
    return {
        "sep": header.delimiter,
        "header": None,
        "index_col": False,
        "low_memory": False,
        "decimal": "," if decimal_comma else ".",
        "keep_default_na": False,
        "na_values": [""],
        "encoding": "utf-8",
        "skipinitialspace": _spaces_before_quotes(source, header),
    }


def _parse_rows(
    source: TextSource, header: Header, stretches: Sequence[Stretch], columns: NumberColumns, **which: Sequence[str]
) -> None:
    """Add all rows; ``which`` columns are read is said as to ``pandas.read_csv``."""
    import pandas as pd

    options, before = _options(source, header, columns.decimal_comma) | which, columns.rows

    def put(place: int, part: pd.DataFrame) -> None:
        if SPARE in part and any(str(cell).strip() for cell in part[SPARE].dropna()):
            raise _OverlongRowError
        all_held = len(columns.names) >= part.shape[1] - 1  # the one more is SPARE
        columns.put(before + place, part if all_held else part[columns.names])

    try:
        if not read_parts(source, stretches, options, put):
            columns.drop_rows(before)
            read_parts(source, [joined(stretches)], options, put)
    except pd.errors.ParserError as error:
        if "Expected" in str(error) and "saw" in str(error):
            raise _OverlongRowError from error
        if "EOF inside string" in str(error):
            raise _open_quote(source, header) from error
        raise InputError("The rows cannot be read: {why}.", why=str(error), where=source.name) from error


def _without_empty_columns(table: Table) -> Table:
    """Without a last column that has neither a name nor a value: the header ends with a delimiter."""
    header, last = table.header, table.header.names[-1]
    if header.width == len(header.names) or last not in table.numbers.blank:
        return table
    numbers = replace(table.numbers, blank=tuple(name for name in table.numbers.blank if name != last))
    return replace(table, header=replace(header, names=header.names[:-1]), numbers=numbers)


@dataclass(frozen=True, slots=True)
class _LastRow:
    """The last line of the file, which a trainer may have been writing when it was copied."""

    cells: int
    short: bool
    """It has fewer cells than the header although the row before it is whole."""
    open_quote: bool
    start: int
    """Where it begins, in bytes from the beginning of the text."""
    end: int
    """Where the text ends, the same."""

    @classmethod
    def of(cls, source: TextSource, header: Header) -> _LastRow:
        with source.open() as stream:
            size = max(header.end, stream.seek(0, io.SEEK_END) - source.start)  # it may have been emptied
            begin = max(header.end, size - TAIL_BYTES)
            stream.seek(source.start + begin)
            tail = stream.read(size - begin)  # and not what is written meanwhile
        lines = tail.replace(b"\r", b"\n").rstrip(b"\n \t").rsplit(b"\n", 3)
        if len(lines) == 4 or begin > header.end:
            lines = lines[1:]  # what stands before the last lines, or begins somewhere inside a row
        if not lines or not lines[-1]:
            return cls(0, short=False, open_quote=False, start=size, end=size)
        last, before = lines[-1], next((line for line in lines[-2::-1] if line.strip()), None)
        # a mark inside a cell (24") opens nothing
        opens = any(cell.lstrip().startswith(b'"') for cell in last.split(header.delimiter.encode()))
        open_quote = opens and tail.count(b'"') % 2 == 1 and last.count(b'"') % 2 == 1
        cells = _count_cells(last, header.delimiter)
        width_before = header.width if before is None else _count_cells(before, header.delimiter)
        short = not open_quote and last.count(b'"') % 2 == 0 and cells < header.width <= width_before
        return cls(cells, short, open_quote, begin + tail.rindex(last), size)


def _count_cells(line: bytes, delimiter: str) -> int:
    return QUOTED.sub("", line.decode("utf-8", "ignore")).count(delimiter) + 1


def _missing_cells(header: Header, stretches: Sequence[Stretch], rows: int) -> int | None:
    """How many cells fewer than the header asks for the rows of these stretches have.

    None in a text with quotes, whose delimiters may be text.
    """
    whole = joined(stretches)
    return None if whole.quotes else rows * (header.width - 1) - whole.delimiters


# --- refusals ------------------------------------------------------------------------------------------------------


def _no_rows(source: TextSource, header: Header) -> InputError:
    return InputError(
        "The file has a header and no whole row of values; its columns are {columns}.",
        columns=name_list(header.names),
        where=source.name,
        remedy="Export the run again once it has logged a step.",
    )


def _too_long(source: TextSource, header: Header, line: int, cells: int) -> InputError:
    return InputError(
        "Line {line} has {cells} cells, the header has {columns}.",
        line=line,
        cells=cells,
        columns=len(header.names),
        where=source.name,
        remedy="Quote the cell that contains the delimiter, or export the file again.",
    )


def _open_quote(source: TextSource, header: Header) -> InputError:
    # the last record is the one that is never closed
    line = max((line for line, _ in _records(source, header)), default=header.line)
    return InputError(
        "The quotation mark that is opened in line {line} is never closed.",
        line=line,
        where=source.name,
        remedy="Close it, or export the file again.",
    )
