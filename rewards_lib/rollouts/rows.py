"""Rows out of files: JSONL, a JSON array, CSV, parquet, and gzip of the text forms; told by content, never by name.

Invariant: every row comes out once, in order, with its number, either as an object or as a ``BadRow``; memory does not
grow with the file, except for a JSON array, which JSON cannot be read in pieces.
"""

from __future__ import annotations

import ast
import csv
import gzip
import io
import json
import math
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, TypeAlias, cast

from rewards_lib.contract import JsonObject, sentence
from rewards_lib.errors import InputError
from rewards_lib.rollouts.rollout import BadRow
from rewards_lib.strict_json import read_json

Row: TypeAlias = tuple[int, JsonObject]
"""Its number, from 1, and its fields."""

MAX_LINE_BYTES = 64 * 2**20
_SHOWN_CHARACTERS = 200
_PARQUET_ROWS = 256
_LONGEST_PYTHON = 1_000_000
_HEAD_BYTES = 512
"""Enough to see a bracket or the names of a table; a compressed file that breaks off later can still be told."""
_NOT_READ = (
    (b"\x28\xb5\x2f\xfd", sentence("compressed by zstd")), (b"BZh", sentence("compressed by bzip2")),
    (b"\xfd7zXZ\x00", sentence("compressed by xz")), (b"\x04\x22\x4d\x18", sentence("compressed by lz4")),
    (b"\xff\xfe", sentence("UTF-16 text")), (b"\xfe\xff", sentence("UTF-16 text")),
    (b"ARROW1", sentence("an Arrow file")), (b"\xff\xff\xff\xff", sentence("an Arrow stream")),
    (b"SQLite format 3", sentence("a database")), (b"\x89HDF", sentence("an HDF5 file")),
    (b"\x93NUMPY", sentence("an array of numpy")),
)  # fmt: skip
_INSTEAD = "Unpack it, or write it as JSONL in UTF-8, or as parquet."
_DELIMITERS = ",;\t|"
_BROKEN_OFF = (OSError, EOFError, zlib.error)
"""What reading a compressed file raises when it ends too early or is damaged."""


def _absent(_token: str) -> None:
    """NaN and Infinity are how trainers write "no reward"; no field of a row means anything by them."""


def _number(text: str) -> float | None:
    value = float(text)
    return value if math.isfinite(value) else None  # 1e999 is as little a reward as Infinity


_DECODER = json.JSONDecoder(parse_constant=_absent, parse_float=_number)


def read_rows(path: Path) -> Iterator[Row | BadRow]:
    """Yield the rows of a file in order. Raises InputError when the file cannot be opened or holds no rows at all."""
    kind = kind_of_file(path)
    if kind == "parquet":
        yield from _parquet_rows(path)
        return
    try:
        with _open(path) as stream:
            if kind == "json":
                yield from _array_rows(stream, path)
            else:
                yield from _csv_rows(stream) if kind == "csv" else _line_rows(stream)
    except _BROKEN_OFF as error:  # before the first row: later ones are told with their numbers
        raise _unreadable(path, error) from None


def kind_of_file(path: Path) -> str:
    """Tell what a file is by how it begins: ``parquet``, ``json`` (an array, or objects over many lines), ``jsonl`` or
    ``csv``. Raises InputError for what is none of them.
    """
    try:
        with path.open("rb") as file:
            if file.read(4) == b"PAR1":
                return "parquet"
        with _open(path) as stream:
            head = stream.read(_HEAD_BYTES).lstrip(b"\xef\xbb\xbf \t\r\n")
    except _BROKEN_OFF as error:
        raise _unreadable(path, error) from None
    if head[:4] == b"PK\x03\x04" or head[:1] == b"\x80":
        raise InputError(
            "The file is an archive or a pickle, as torch writes them. Loading one may run any code: it is never done.",
            where=path.name,
            remedy="Write it as JSONL where it comes from.",
        )
    for magic, what in _NOT_READ:
        if head.startswith(magic):
            raise InputError("The file is {what}, which is not read.", where=path.name, what=what, remedy=_INSTEAD)
    if not head:
        raise InputError("The file is empty.", where=path.name, remedy="One rollout a line is expected.")
    if head[:1] == b"[" or head.split(b"\n", 1)[0].strip() == b"{":
        return "json"
    return "jsonl" if head[:1] == b"{" or not _looks_like_csv(head) else "csv"


def _looks_like_csv(head: bytes) -> bool:
    first = head.split(b"\n", 1)[0]
    return any(mark.encode() in first for mark in _DELIMITERS)


def _unreadable(path: Path, error: Exception) -> InputError:
    reason = (getattr(error, "strerror", None) or str(error) or type(error).__name__).lower()
    return InputError("The file cannot be read: {reason}.", where=str(path), reason=reason)


def _open(path: Path) -> IO[bytes]:
    file = path.open("rb")
    magic = file.read(2)
    file.seek(0)
    if magic != b"\x1f\x8b":
        return file
    file.close()
    return cast("IO[bytes]", gzip.open(path, "rb"))


def _line_rows(stream: IO[bytes]) -> Iterator[Row | BadRow]:
    number = 0
    while True:
        try:
            data = stream.readline(MAX_LINE_BYTES + 1)
        except _BROKEN_OFF as error:
            yield BadRow(number + 1, sentence("The file breaks off here: {reason}.", reason=str(error)))
            return
        if not data:
            return
        number += 1
        row = _fast(number, data)
        if row is not None:
            yield row
        elif len(data) > MAX_LINE_BYTES:
            while data and not data.endswith(b"\n"):
                data = stream.readline(MAX_LINE_BYTES)
            problem = sentence("The line has more than {limit_mb} MB.", limit_mb=MAX_LINE_BYTES // 2**20)
            yield BadRow(number, problem)
        elif data.strip(b"\xef\xbb\xbf \t\r\n"):
            yield _decoded(number, data)


def _fast(number: int, data: bytes) -> Row | None:
    """Read a line that is one object from end to end, as all lines of machines are; None for any other."""
    try:
        line = data.decode()
        value, end = _DECODER.raw_decode(line)
    except (ValueError, RecursionError):
        return None
    return (number, value) if type(value) is dict and (line[end:] == "\n" or not line[end:].strip()) else None


def _decoded(number: int, data: bytes) -> Row | BadRow:
    try:
        value = read_json(data)
    except InputError as error:
        return BadRow(number, error.message, _start(data.decode("utf-8", "replace")))
    if not isinstance(value, dict):
        return BadRow(number, sentence("The line is no object."), _start(data.decode("utf-8", "replace")))
    return number, value


def _start(text: str) -> str:
    text = text.rstrip("\r\n")
    return text[:_SHOWN_CHARACTERS] + ("..." if len(text) > _SHOWN_CHARACTERS else "")


def _array_rows(stream: IO[bytes], path: Path) -> Iterator[Row | BadRow]:
    data = stream.read()
    try:
        text = data.decode("utf-8-sig").strip()
        values = _DECODER.decode(text) if text[:1] == "[" else _objects(text)
    except (ValueError, RecursionError):
        values = read_json(data, name=path.name)
    if not isinstance(values, list):
        raise InputError("The file is no list of objects.", where=path.name)
    for number, value in enumerate(values, 1):
        if isinstance(value, dict):
            yield number, value
        else:
            yield BadRow(number, sentence("The entry is no object."), _start(json.dumps(value)))


def _objects(text: str) -> list[Any]:
    """Objects one after the other, each over as many lines as it likes. Raises ValueError."""
    found, place = [], 0
    while place < len(text):
        value, place = _DECODER.raw_decode(text, place)
        found.append(value)
        while place < len(text) and text[place] in " \t\r\n,":
            place += 1
    return found


# --- CSV -----------------------------------------------------------------------------------------------------------


def _csv_rows(stream: IO[bytes]) -> Iterator[Row | BadRow]:
    """Quoting by RFC 4180 always; only the delimiter is guessed, from the names in the first row."""
    csv.field_size_limit(MAX_LINE_BYTES)
    text = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="replace", newline="")
    head = text.readline()
    names_at = max(_DELIMITERS, key=lambda mark: len(next(csv.reader([head], delimiter=mark), [])))
    names = next(csv.reader(_chained(head, text), delimiter=names_at), [])
    reader = csv.reader(text, delimiter=names_at)
    number = 0
    while True:
        try:
            cells = next(reader, None)
        except csv.Error as error:
            yield BadRow(number + 1, sentence("The row is no CSV: {reason}.", reason=str(error)))
            return
        except _BROKEN_OFF as error:
            yield BadRow(number + 1, sentence("The file breaks off here: {reason}.", reason=str(error)))
            return
        if cells is None:
            return
        if not cells:
            continue
        number += 1
        if len(cells) != len(names):
            problem = sentence("The row has {found} cells, {wanted} are expected.", found=len(cells), wanted=len(names))
            yield BadRow(number, problem, _start(names_at.join(cells)))
        else:
            yield number, {name.strip(): _cell(cell) for name, cell in zip(names, cells, strict=True)}


def _chained(head: str, rest: Iterator[str]) -> Iterator[str]:
    yield head
    yield from rest


def _cell(cell: str) -> Any:
    """Cells that are JSON objects or lists, or messages in Python's quotes, are read as such; all else stays text."""
    if cell[:1] in ("{", "["):
        try:
            return _DECODER.decode(cell)
        except (ValueError, RecursionError):
            return _python_messages(cell)
    return cell


def _python_messages(cell: str) -> Any:
    """Messages as pandas writes them into a CSV, in Python's quotes; any other text stays what it is."""
    if not cell.startswith(("[{'", "{'")) or len(cell) > _LONGEST_PYTHON:
        return cell
    try:
        value = ast.literal_eval(cell)
        return json.loads(json.dumps(value))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return cell


# --- parquet -------------------------------------------------------------------------------------------------------


def _parquet_rows(path: Path) -> Iterator[Row | BadRow]:
    import pyarrow
    import pyarrow.parquet

    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            number = 0
            for batch in file.iter_batches(batch_size=_PARQUET_ROWS):
                for row in batch.to_pylist():
                    number += 1
                    yield number, {str(key): _plain(value) for key, value in row.items()}
    except (pyarrow.ArrowException, OSError) as error:
        raise _unreadable(path, error) from None


def _plain(value: Any) -> Any:
    """Turn what JSON does not know (times, bytes) into text, and no number into None; maps stay lists of pairs."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, (str, int, bool, type(None))) else str(value)
