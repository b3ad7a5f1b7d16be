"""What kind of bytes a training export is: its encoding, and what it is when it is no table at all.

Invariant: the answer depends on the content alone, never on a file's name, and what cannot be read is refused with
one sentence that says what it looks like.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from rewards_lib.contract import Sentence, sentence
from rewards_lib.errors import InputError

HEAD_BYTES = 65_536
CHUNK_BYTES = 1_048_576
"""How much of a file is looked at in one piece."""

_LOOKS = (
    (b"PK\x03\x04", sentence("an Excel workbook (XLSX) or another ZIP archive")),
    (b"\xd0\xcf\x11\xe0", sentence("an old Excel workbook (XLS)")),
    (b"%PDF", sentence("a PDF document")),
    (b"\x89PNG", sentence("a picture (PNG)")),
    (b"\x1f\x8b", sentence("a gzip archive")),
    (b"PAR1", sentence("a Parquet file")),
    (b"SQLite format 3", sentence("an SQLite database")),
)
"""The first bytes of other kinds of files, and what those are called."""
_UNIT_BYTES = {"UTF-16": 2, "UTF-32": 4}
MOST_CUT_BYTES = 3
_CUT = ("incomplete", "truncated", "unexpected end")
"""How Python's codecs begin to say that a text ends within a character."""
_HTML = re.compile(rb"<(?:!doctype|html|head|body|\?xml|!--|script|div)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TextSource:
    """Bytes known to be UTF-8 text, in memory or in a file."""

    name: str
    """The file's name, for messages."""
    data: bytes | Path
    encoding: str
    """The encoding the export came in, as people call it: ``UTF-8``, ``UTF-16``, ``UTF-32`` or ``GB18030``."""
    start: int = 0
    """Where the text begins, in bytes: after a byte-order mark."""
    divided_by: Sentence | None = None
    """What divides the cells in the file, where that was replaced by tabs."""
    nul_bytes: int = 0
    """How many NULs at the end of the file were left out: a crash leaves them where space had been reserved."""
    cut_bytes: int = 0
    """How many bytes of a last character that is not whole were left out: a file that is being written may end so."""

    def open(self, offset: int = 0) -> BinaryIO:
        """A fresh binary stream that stands ``offset`` bytes after the beginning of the text."""
        stream = open_bytes(self.data)
        stream.seek(self.start + offset)
        return stream

    def count(self, signs: bytes, begin: int, end: int) -> list[int]:
        """How often each of some bytes stands between two places of the text."""
        import numpy as np

        found, same = [0] * len(signs), np.empty(min(CHUNK_BYTES, end - begin), dtype="bool")
        with self.open(begin) as stream:
            for room, size in _chunks(stream, end - begin):
                text = np.frombuffer(room, dtype="uint8", count=size)
                for place, sign in enumerate(signs):
                    if room.find(sign, 0, size) >= 0:  # to find that there is none is quicker than to count
                        np.equal(text, sign, out=same[:size])
                        found[place] += int(np.count_nonzero(same[:size]))
        return found


def _chunks(stream: BinaryIO, size: int) -> Iterator[tuple[bytearray, int]]:
    """The next bytes of a stream, so many of them, in pieces: the same bytearray each time, and how much of it is full.

    Getting new memory for each piece would take longer than to read it.
    """
    room = bytearray(min(CHUNK_BYTES, size))
    while size and (read := stream.readinto(memoryview(room)[:size])):  # type: ignore[attr-defined]
        yield room, read
        size -= read


def open_bytes(data: bytes | Path) -> BinaryIO:
    """A binary stream over bytes (without a copy) or a file.

    Raises InputError for a pipe or a device, which might keep a reader waiting for ever.
    """
    if isinstance(data, bytes):
        return io.BytesIO(data)
    if data.exists() and not data.is_file():
        raise InputError(
            "This is no file that can be read again: a pipe, a device or a folder.",
            where=data.name,
            remedy="Write what it gives into a file and give that.",
        )
    return data.open("rb")


def sniff_text(data: bytes | Path, name: str) -> TextSource:
    """Recognise the encoding: byte-order mark, NUL pattern of UTF-16, strict UTF-8, then GB18030.

    NULs that run to the end, and a last character that is cut, are left out; only such files, and those in another
    encoding, are copied. Raises InputError for empty, binary and HTML content, and for bytes that are no text in any of
    these encodings (with the offset of the first one).
    """
    with open_bytes(data) as stream:
        head = stream.read(HEAD_BYTES)
        size = stream.seek(0, io.SEEK_END)
        end = end_before_nuls(stream, size)
    head = head[:end]
    if not head.strip(b"\xef\xbb\xbf \t\r\n"):
        raise InputError("The file is empty.", where=name, remedy="Export the run's metrics as CSV and give that file.")
    if head.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):  # begins as the mark of UTF-16 does
        return _transcoded(data, name, "utf-32", "UTF-32", end)
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return _transcoded(data, name, "utf-16", "UTF-16", end)
    if pattern := _utf16_pattern(head):
        return _transcoded(data, name, pattern, "UTF-16", end)
    _refuse_other_kinds(head, name)
    fault = _first_fault(data, name, end)
    if fault is not None and not _is_cut_character(data, fault, end):
        return _transcoded(data, name, "gb18030", "GB18030", end, fault)
    start = len(codecs.BOM_UTF8) if head.startswith(codecs.BOM_UTF8) else 0
    text_end = end if fault is None else fault
    held = data if text_end == size else _first_bytes(data, text_end)
    return TextSource(name, held, "UTF-8", start, nul_bytes=size - end, cut_bytes=end - text_end)


def end_before_nuls(stream: BinaryIO, size: int) -> int:
    """Where the NULs begin that run to the end of a stream of so many bytes; the end where there are none."""
    while size:
        begin = max(0, size - HEAD_BYTES)
        stream.seek(begin)
        if held := stream.read(size - begin).rstrip(b"\0"):
            return begin + len(held)
        size = begin
    return 0


def _is_cut_character(data: bytes | Path, fault: int, end: int) -> bool:
    """Whether UTF-8 ends within a character at the first fault; whole ones before it say that it is UTF-8."""
    if end - fault > MOST_CUT_BYTES:
        return False
    begin = max(0, fault - HEAD_BYTES)
    with open_bytes(data) as stream:
        stream.seek(begin)
        tail = stream.read(end - begin)
    try:
        return (
            not codecs.getincrementaldecoder("utf-8")().decode(tail[fault - begin :])
            and not tail[: fault - begin].isascii()
        )
    except UnicodeDecodeError:
        return False


def _first_bytes(data: bytes | Path, end: int) -> bytes:
    with open_bytes(data) as stream:
        return stream.read(end)


def _utf16_pattern(head: bytes) -> str | None:
    """The byte order of UTF-16 without a mark: ASCII characters leave every second byte NUL."""
    sample = head[: len(head) // 2 * 2]
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    mostly = len(sample) * 0.15
    if odd > mostly and even == 0:
        return "utf-16-le"
    return "utf-16-be" if even > mostly and odd == 0 else None


def _refuse_other_kinds(head: bytes, name: str) -> None:
    look = next((look for magic, look in _LOOKS if head.startswith(magic)), None)
    text = head.removeprefix(codecs.BOM_UTF8).lstrip()
    if look is None and _HTML.match(text):
        look = sentence("a web page (HTML), perhaps a log-in page that was saved in place of the export")
    if look is None and b"\0" in head:
        look = sentence("binary data")
    if look is not None:
        raise InputError(
            "This is not a table: it looks like {look}.",
            look=look,
            where=name,
            remedy="Export the run's metrics as CSV and give that file.",
        )


def _first_fault(data: bytes | Path, name: str, end: int) -> int | None:
    """The offset of the first byte before ``end`` that is not UTF-8; None when all are. Reads in chunks, holds one."""
    import numpy as np

    decoder, offset = codecs.getincrementaldecoder("utf-8")(), 0
    with open_bytes(data) as stream:
        for room, size in _chunks(stream, end):
            pending = len(decoder.getstate()[0])
            if pending or np.frombuffer(room, "int8", size).min() <= 0:  # else it is ASCII and without a NUL
                text = bytes(memoryview(room)[:size])
                if b"\0" in text:
                    raise InputError(
                        "This is not a table: byte {offset} is NUL, so it looks like binary data.",
                        offset=offset + text.index(b"\0"),
                        where=name,
                        remedy="Export the run's metrics as CSV and give that file.",
                    )
                try:
                    decoder.decode(text)
                except UnicodeDecodeError as error:
                    return offset - pending + error.start
            offset += size
    return None if not decoder.getstate()[0] else offset - len(decoder.getstate()[0])


def _transcoded(
    data: bytes | Path, name: str, codec: str, label: str, end: int, fault: int | None = None
) -> TextSource:
    raw = data if isinstance(data, bytes) else data.read_bytes()
    end += -end % _UNIT_BYTES.get(label, 1)  # the last character may have NULs of its own
    cut = 0
    try:
        text = raw[:end].decode(codec)
    except UnicodeDecodeError as error:
        cut = min(end, len(raw)) - error.start
        if 0 < cut <= MOST_CUT_BYTES and error.reason.startswith(_CUT):
            text = raw[: error.start].decode(codec)
        else:
            raise InputError(
                "The text is in no encoding known here (UTF-8, UTF-16, GB18030): byte {offset} cannot be read.",
                offset=error.start if fault is None else fault,
                where=name,
                remedy="Save the file as UTF-8 and give it again.",
            ) from error
    return TextSource(name, text.encode("utf-8"), label, nul_bytes=max(0, len(raw) - end), cut_bytes=cut)
