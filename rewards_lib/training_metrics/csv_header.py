"""The header of a delimited text file: where it begins, what divides its cells, and the names it gives.

Invariant: names leave as they came but for blanks around them; what stands above the header is told, never read as one.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rewards_lib.contract import Sentence, sentence
from rewards_lib.errors import InputError
from rewards_lib.training_metrics.sniffing import CHUNK_BYTES, HEAD_BYTES, TextSource

DELIMITERS = {",": sentence("comma"), ";": sentence("semicolon"), "\t": sentence("tab"), "|": sentence("vertical bar")}
"""Delimiters and what people call them, the likelier first."""
MOST_ABOVE = 30
"""Lines above the header that are looked at."""

_RECORD = re.compile(r'(?:(?<![^,;\t|#\r\n]) *"(?:[^"]|"")*"|[^\r\n])*')
"""A quotation mark that does not begin its cell is a sign like others, as csv and pandas have it."""
_LINE = re.compile(r"([^\r\n]*)(?:\r\n|\r|\n|\Z)")
QUOTED = re.compile(r'"[^"]*"')
_UNSEEN = "\ufeff\u200b"
"""A second byte-order mark and a blank without width, which files put together from others have."""
_EXCEL_SEPARATOR = re.compile(r'"?sep=(.)"?', re.IGNORECASE)


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
    above: tuple[str, ...] = ()
    """Lines above it that are no part of the table: comments, a title."""

    @property
    def width(self) -> int:
        """How many cells a whole row has: a header that ends with a delimiter names a last column that is empty."""
        return len(self.names) - (self.names[-1] == f"column {len(self.names)}")

    def note(self) -> Sentence | None:
        """What is told of the lines above it."""
        if not self.above:
            return None
        return sentence(
            "Lines above the header that were passed over: {count}, the first {text!r}.",
            count=len(self.above),
            text=self.above[0][:60],
        )


def read_header(source: TextSource) -> Header:
    """Read the first record of the table; what divides its cells is the commonest delimiter outside quotes.

    Comments, a title and Excel's ``sep=;`` above it are passed over. Raises InputError when no delimiter occurs, or
    when the record holds numbers where names should be.
    """
    text = _header_text(source)
    begin, given, above = _begin_of(text)
    match = _RECORD.match(text, begin)
    record = match.group() if match else ""
    end = begin + len(record)
    delimiter = given or _delimiter_of(record, _next_line(text, end))
    if not _count(record, delimiter):
        raise InputError(
            "The first line has no comma, semicolon or tab: it is one column, {column!r}.",
            column=record.strip()[:80],
            where=source.name,
            remedy="Export the run's metrics as CSV and give that file.",
        )
    cells = _cells(record, delimiter)
    if all(_is_number(cell) for cell in cells):
        raise InputError(
            "The first line holds numbers where the names of the columns should be: {cells}.",
            cells=", ".join(cells[:5]),
            where=source.name,
            remedy="Put a line of names above the numbers.",
        )
    newline = text[end : end + 2] if text[end : end + 2] == "\r\n" else text[end : end + 1]
    line = len(re.findall(r"\r\n|\r|\n", text[:end])) + 1
    return Header(unique_names(cells), delimiter, line, len((text[:end] + newline).encode("utf-8")), tuple(above))


def unique_names(cells: Sequence[str]) -> tuple[str, ...]:
    """Names that are all different: the second ``a`` becomes ``a (2)``; a nameless column gets its number.

    >>> unique_names(["step", "a", "a", ""])
    ('step', 'a', 'a (2)', 'column 4')
    """
    stripped = [cell.strip().strip(_UNSEEN).strip() for cell in cells]
    taken, names = set(stripped), []
    seen: set[str] = set()
    copies: dict[str, int] = {}
    for position, cell in enumerate(stripped, 1):
        plain = cell or f"column {position}"
        name, copy = plain, copies.get(plain, 1)
        while name in seen or (copy > 1 and name in taken):
            copy += 1
            name = f"{plain} ({copy})"
        copies[plain] = copy
        seen.add(name)
        names.append(name)
    return tuple(names)


def name_list(names: Sequence[str], most: int = 12) -> Sentence | str:
    """Names in one line, the first ``most`` of them."""
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else sentence("{names} and {count} more", names=shown, count=len(names) - most)


def _header_text(source: TextSource) -> str:
    """The beginning of the text, long enough to hold the first record."""
    with source.open() as stream:
        head = stream.read(HEAD_BYTES)
        while not re.search(rb"[^\r\n][\r\n]", head) and (more := stream.read(CHUNK_BYTES)):
            head += more
        if head.count(b'"') % 2:
            head += stream.read(CHUNK_BYTES)
    return head.decode("utf-8", "ignore")


def _begin_of(text: str) -> tuple[int, str | None, list[str]]:
    """Where the header begins, the delimiter that a line above it gives, and the lines passed over."""
    given: str | None = None
    above: list[str] = []
    for begin, line in _lines(text, 0):
        told = line.strip()
        if separator := _EXCEL_SEPARATOR.fullmatch(told):
            given = separator[1]
        elif told.startswith("#") and told[1:2] not in DELIMITERS:
            name = begin + line.index("#") + 1
            if _heads(text[name : begin + len(line)], _next_line(text, begin + len(line))):
                return name, given, above
        elif (
            _count(line, given or _delimiter_of(line, ""))
            or line.count('"') % 2  # a name may reach over several lines
            or not _table_follows(text, begin + len(line))
        ):
            return begin, given, above
        above.append(told)
        if len(above) > MOST_ABOVE:
            break
    return len(text) - len(text.lstrip("\r\n")), None, []


def _lines(text: str, begin: int) -> Iterator[tuple[int, str]]:
    """Lines that are not blank, with where they begin."""
    yield from ((found.start(), found[1]) for found in _LINE.finditer(text, begin) if found[1].strip())


def _next_line(text: str, begin: int) -> str:
    return next((line for _, line in _lines(text, begin)), "")


def _heads(names: str, row: str) -> bool:
    """Whether a commented line is the header of the row below it: as many cells, and numbers among them."""
    delimiter = _delimiter_of(names, row)
    cells = _cells(row, delimiter)
    return _count(names, delimiter) + 1 == len(cells) > 1 and any(map(_is_number, cells))


def _table_follows(text: str, begin: int) -> bool:
    """Whether two neighbouring lines further down have as many cells as each other, and several."""
    before = 0
    for number, (_, line) in enumerate(_lines(text, begin)):
        count = _count(line, _delimiter_of(line, ""))
        if count and count == before:
            return True
        if number > MOST_ABOVE:
            break
        before = count
    return False


def _delimiter_of(record: str, row: str) -> str:
    """The commonest delimiter of a record; one that divides the row below into as many cells comes first."""
    return max(DELIMITERS, key=lambda one: (_count(record, one) == _count(row, one) > 0, _count(record, one)))


def _count(line: str, delimiter: str) -> int:
    return QUOTED.sub("", line).count(delimiter)


def _cells(record: str, delimiter: str) -> list[str]:
    return next(csv.reader(io.StringIO(record, newline=""), delimiter=delimiter, skipinitialspace=True), [])


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
