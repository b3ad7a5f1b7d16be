"""A delimited text file as a table: header, delimiter, rows; what does not fit is refused or told, never guessed.

Invariant: a cell stands under the header it stood under in the file, and every row that was left out has a note.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO

from rewards_lib.contract import Sentence, sentence
from rewards_lib.errors import InputError
from rewards_lib.training_metrics.sniffing import CHUNK_BYTES, HEAD_BYTES, TextSource

if TYPE_CHECKING:
    import pandas as pd

DELIMITERS = {",": sentence("comma"), ";": sentence("semicolon"), "\t": sentence("tab")}
"""Delimiters and what people call them, the likelier first."""

_RECORD = re.compile(r'(?:[^"\r\n]+|"[^"]*")*')
TAIL_BYTES = 262_144
_QUOTED = re.compile(r'"[^"]*"')
_DECIMAL_COMMA = re.compile(rb'(?:^|[;\r\n])[ "]*[+-]?\d+,\d+', re.MULTILINE)
_TOO_LONG = re.compile(r"Expected \d+ fields in line (\d+), saw (\d+)")
_OPEN_QUOTE = "EOF inside string"


@dataclass(frozen=True, slots=True)
class Header:
    """The first record of the file."""

    names: tuple[str, ...]
    """One for each column, unique, as written but for blanks around; ``a (2)`` is the second ``a``."""
    delimiter: str
    line: int
    """The line it ends on, from 1."""
    end: int
    """Bytes from the beginning of the text to the first row."""

    @property
    def width(self) -> int:
        """How many cells a whole row has: a header that ends with a delimiter names a last column that is empty."""
        return len(self.names) - (self.names[-1] == f"column {len(self.names)}")


@dataclass(frozen=True, slots=True)
class Table:
    """What was read, before any cell has been looked at."""

    header: Header
    frame: pd.DataFrame
    """One column for each header name that was wanted, in order; cells that are no plain numbers are text."""
    decimal_comma: bool
    source: TextSource
    notes: tuple[Sentence, ...] = field(default=())

    def lines_of(self, rows: Sequence[int]) -> dict[int, int]:
        """The line in the file, from 1, of each of the given rows (from 0)."""
        wanted, last = set(rows), max(rows, default=-1)
        # A quoted blank alone in its line cannot be told from a blank line: count as if nothing had been left out.
        lines = {row: self.header.line + row + 1 for row in wanted}
        for row, line in enumerate(_record_lines(self.source, self.header)):
            if row in wanted:
                lines[row] = line
            if row >= last:
                break
        return lines


def read_table(source: TextSource, wanted: Callable[[str], bool] | None = None) -> Table:
    """Read a delimited file through pandas' C engine, which never guesses a column's type from its first rows.

    With ``wanted``, only the columns whose names it accepts are held: a quarter of the time and of the memory.
    Raises InputError, with the line, for a row longer than the header; and when there is no delimiter or no row.
    """
    header = read_header(source)
    first = next(_records(source, header), None)
    if first is None:
        raise _no_rows(source, header)
    if len(first) > len(header.names) and "".join(first[len(header.names) :]).strip():
        raise _too_long(source, header, header.line + 1, len(first))
    with source.open(header.end) as stream:
        decimal_comma = header.delimiter == ";" and bool(_DECIMAL_COMMA.search(stream.read(HEAD_BYTES)))
    held = [name for name in header.names if wanted is None or wanted(name)]
    frame, notes = _parse(source, header, decimal_comma, held)
    frame, header = _without_empty_columns(frame, header)
    if not len(frame):
        raise _no_rows(source, header)
    return Table(header, frame, decimal_comma, source, tuple(notes))


def read_header(source: TextSource) -> Header:
    """Read the first record; the delimiter is the commonest of comma, semicolon and tab outside quotes.

    Raises InputError when none of them occurs, or when the record holds numbers where names should be.
    """
    text = _header_text(source)
    blank = len(text) - len(text.lstrip("\r\n"))
    match = _RECORD.match(text, blank)
    record = match.group() if match else ""
    end = blank + len(record)
    unquoted = _QUOTED.sub("", record)
    delimiter = max(DELIMITERS, key=unquoted.count)
    if not unquoted.count(delimiter):
        raise InputError(
            "The first line has no comma, semicolon or tab: it is one column, {column!r}.",
            column=record.strip()[:80],
            where=source.name,
            remedy="Export the run's metrics as CSV and give that file.",
        )
    cells = next(csv.reader(io.StringIO(record, newline=""), delimiter=delimiter))
    if all(_is_number(cell) for cell in cells):
        raise InputError(
            "The first line holds numbers where the names of the columns should be: {cells}.",
            cells=", ".join(cells[:5]),
            where=source.name,
            remedy="Put a line of names above the numbers.",
        )
    newline = text[end : end + 2] if text[end : end + 2] == "\r\n" else text[end : end + 1]
    line = len(re.findall(r"\r\n|\r|\n", text[:end])) + 1
    return Header(unique_names(cells), delimiter, line, len((text[:end] + newline).encode("utf-8")))


def unique_names(cells: Sequence[str]) -> tuple[str, ...]:
    """Names that are all different: the second ``a`` becomes ``a (2)``; a nameless column gets its number.

    >>> unique_names(["step", "a", "a", ""])
    ('step', 'a', 'a (2)', 'column 4')
    """
    taken, names = {cell.strip() for cell in cells}, []
    seen: set[str] = set()
    for position, cell in enumerate(cells, 1):
        plain = cell.strip() or f"column {position}"
        name, copy = plain, 1
        while name in seen or (copy > 1 and name in taken):
            copy += 1
            name = f"{plain} ({copy})"
        seen.add(name)
        names.append(name)
    return tuple(names)


def _header_text(source: TextSource) -> str:
    """The beginning of the text, long enough to hold the first record."""
    with source.open() as stream:
        head = stream.read(HEAD_BYTES)
        while not re.search(rb"[^\r\n][\r\n]", head) and (more := stream.read(CHUNK_BYTES)):
            head += more
        if head.count(b'"') % 2:
            head += stream.read(CHUNK_BYTES)
    return head.decode("utf-8", "ignore")


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _records(source: TextSource, header: Header) -> Iterator[list[str]]:
    """The rows as lists of cells, blank lines left out; slow, for the few rows that need a closer look."""
    with source.open(header.end) as stream:
        reader = csv.reader(io.TextIOWrapper(stream, "utf-8", newline=""), delimiter=header.delimiter)
        yield from (record for record in reader if not _is_blank(record))


def _record_lines(source: TextSource, header: Header) -> Iterator[int]:
    with source.open(header.end) as stream:
        reader = csv.reader(io.TextIOWrapper(stream, "utf-8", newline=""), delimiter=header.delimiter)
        before = 0
        for record in reader:
            if not _is_blank(record):
                yield header.line + before + 1
            before = reader.line_num


def _is_blank(record: list[str]) -> bool:
    """Whether pandas skips the line: empty or white space alone; a lone pair of quotes is a row with an empty cell."""
    return not record or (len(record) == 1 and record[0].isspace())


# --- rows ----------------------------------------------------------------------------------------------------------


def _parse(
    source: TextSource, header: Header, decimal_comma: bool, held: list[str]
) -> tuple[pd.DataFrame, list[Sentence]]:
    """The rows under the header's names, and notes on rows that were left out."""
    last, frame = _LastRow.of(source, header), None
    if len(held) < len(header.names) and _surplus_cells(source, header, 0, last) is not None:
        frame = _parse_some(source, header, decimal_comma, held)
        # pandas passes over what lies beyond the columns it was asked for: every row must be known to be whole
        frame = frame if _surplus_cells(source, header, len(frame), last) == 0 else None
    if frame is None:
        with source.open(header.end) as stream:
            rows: BinaryIO = io.BytesIO(stream.read(last.start - header.end)) if last.open_quote else stream
            frame = _parse_rows(source, header, rows, decimal_comma)
        frame = frame if len(held) == len(header.names) else frame[held]
    notes = []
    if last.open_quote:
        notes.append(sentence("The last row was left out: it ends inside quotation marks, so the file was cut there."))
    elif last.short and len(frame):
        frame = frame.iloc[:-1]
        notes.append(
            sentence(
                "The last row was left out: it has {cells} of {columns} cells, so the file was still being written.",
                cells=last.cells,
                columns=header.width,
            )
        )
    if len(frame) and frame.iloc[:, -1].isna().any():
        missing = -(_surplus_cells(source, header, len(frame) + last.short, last) or 0)
        if missing > 0:
            notes.append(sentence("Cells missing at the ends of rows: {count}; they count as gaps.", count=missing))
    return frame, notes


def _parse_some(source: TextSource, header: Header, decimal_comma: bool, held: list[str]) -> pd.DataFrame:
    import pandas as pd

    with source.open(header.end) as rows:
        frame: pd.DataFrame = pd.read_csv(
            rows, names=list(header.names), usecols=held, **_options(header, decimal_comma)
        )
    return frame


def _options(header: Header, decimal_comma: bool) -> dict[str, Any]:
    return {
        "sep": header.delimiter,
        "header": None,
        "index_col": False,
        "low_memory": False,
        "decimal": "," if decimal_comma else ".",
        "keep_default_na": False,
        "na_values": [""],
        "encoding": "utf-8",
    }


def _parse_rows(source: TextSource, header: Header, rows: BinaryIO, decimal_comma: bool) -> pd.DataFrame:
    import pandas as pd

    spare = "\0spare"
    try:
        frame: pd.DataFrame = pd.read_csv(rows, names=[*header.names, spare], **_options(header, decimal_comma))
    except pd.errors.EmptyDataError as error:
        raise _no_rows(source, header) from error
    except pd.errors.ParserError as error:
        if found := _TOO_LONG.search(str(error)):
            raise _too_long(source, header, header.line + int(found[1]), int(found[2])) from error
        if _OPEN_QUOTE in str(error):
            raise InputError(
                "A quotation mark is opened and never closed.",
                where=source.name,
                remedy="Close it, or export the file again.",
            ) from error
        raise InputError("The rows cannot be read: {why}.", why=str(error), where=source.name) from error
    beyond = frame.pop(spare)
    row = next((row for row in beyond.notna().to_numpy().nonzero()[0].tolist() if str(beyond[row]).strip()), None)
    if row is not None:
        line = Table(header, frame, decimal_comma, source).lines_of([row])[row]
        raise _too_long(source, header, line, len(header.names) + 1)
    return frame


def _without_empty_columns(frame: pd.DataFrame, header: Header) -> tuple[pd.DataFrame, Header]:
    """Without a last column that has neither a name nor a value: the header ends with a delimiter."""
    last = header.names[-1]
    if header.width == len(header.names) or last not in frame or frame[last].notna().any():
        return frame, header
    return frame.drop(columns=last), Header(header.names[:-1], header.delimiter, header.line, header.end)


@dataclass(frozen=True, slots=True)
class _LastRow:
    """The last line of the file, which a trainer may have been writing when it was copied."""

    cells: int
    short: bool
    """It has fewer cells than the header although the row before it is whole."""
    open_quote: bool
    start: int
    """Bytes from the beginning of the text."""

    @classmethod
    def of(cls, source: TextSource, header: Header) -> _LastRow:
        with source.open() as stream:
            size = stream.seek(0, io.SEEK_END) - source.start
            begin = max(header.end, size - TAIL_BYTES)
            stream.seek(source.start + begin)
            tail = stream.read()
        lines = tail.replace(b"\r", b"\n").rstrip(b"\n \t").rsplit(b"\n", 3)
        if len(lines) == 4 or begin > header.end:
            lines = lines[1:]  # what stands before the last lines, or begins somewhere inside a row
        if not lines or not lines[-1]:
            return cls(0, short=False, open_quote=False, start=size)
        last, before = lines[-1], next((line for line in lines[-2::-1] if line.strip()), None)
        open_quote = tail.count(b'"') % 2 == 1 and last.count(b'"') % 2 == 1
        cells = _count_cells(last, header.delimiter)
        width_before = header.width if before is None else _count_cells(before, header.delimiter)
        short = not open_quote and last.count(b'"') % 2 == 0 and cells < header.width <= width_before
        return cls(cells, short, open_quote, begin + tail.rindex(last))


def _count_cells(line: bytes, delimiter: str) -> int:
    return _QUOTED.sub("", line.decode("utf-8", "ignore")).count(delimiter) + 1


def _surplus_cells(source: TextSource, header: Header, rows: int, last: _LastRow) -> int | None:
    """How many more cells than the header asks for the rows have together, a short last row not counted.

    None in a file with quotes, whose delimiters may be text.
    """
    import numpy as np

    delimiter, found = ord(header.delimiter), 0
    with source.open(header.end) as stream:
        while chunk := stream.read(CHUNK_BYTES):
            if b'"' in chunk:
                return None
            # four times as fast as chunk.count where every tenth byte is one
            found += int(np.count_nonzero(np.frombuffer(chunk, dtype="uint8") == delimiter))
    if last.short:
        rows, found = rows - 1, found - (last.cells - 1)
    return found - rows * (header.width - 1)


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


def name_list(names: Sequence[str], most: int = 12) -> str:
    """Names in one line, the first ``most`` of them."""
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
