"""TensorBoard event files: scalars out of the records, without TensorFlow.

Layout (tensorboard/compat/proto, tensorflow/core/lib/io/record_writer.h): each record is a length (8 bytes), its
masked CRC-32C, the bytes of an Event, and their CRC. Scalars are ``simple_value`` or a tensor of one number. Invariant:
a record that is cut or broken ends the reading of its file with a note; what was read before it stands.
"""

from __future__ import annotations

import io
import os
import re
import struct
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from rewards_lib.contract import Sentence, sentence
from rewards_lib.errors import InputError
from rewards_lib.training_metrics.formats.event_blocks import (
    AlikeRecords,
    join_alike,
    plain_values,
    read_alike,
)
from rewards_lib.training_metrics.formats.reading import (
    WALL_TIME,
    Points,
    Reading,
    gather_points,
    join_points,
    nul_notes,
)
from rewards_lib.training_metrics.sniffing import end_before_nuls, open_bytes

if TYPE_CHECKING:
    from rewards_lib.training_metrics.formats.event_blocks import Places

FILE_NAME = re.compile(r"events\.out\.tfevents\..*")
MOST_ENTRIES = 20_000
PART_BYTES = 8_388_608
"""How much of a file is held at once."""
MANY_ALIKE, MOST_ALIKE = 32, 65_536
"""Behind so many records of one length the next ones are looked at together, up to so many."""
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_MASK = 0xA282EAD8
_FLOAT, _LENGTH = struct.Struct("<f"), struct.Struct("<Q")
_HEAD_BYTES, _CHECKSUM_BYTES = 12, 4
_NUMBER_FIELDS = {5: "f", 6: "d"}
"""Fields of a tensor that list numbers, and how each is written."""
_DTYPES = {1: "<f4", 2: "<f8", 3: "<i4", 9: "<i8", 19: "<f2"}


def is_event_file(head: bytes) -> bool:
    """Whether bytes begin with a whole record header whose checksum is right."""
    if len(head) < _HEAD_BYTES:
        return False
    length, checksum = struct.unpack_from("<QI", head)
    return bool(0 < length < 2**31 and checksum == _masked(_crc32c(head[:8])))


def read_events(files: Sequence[tuple[str, bytes | Path]], name: str) -> Reading:
    """Read event files, those of one folder as one run in the order of their names, as TensorBoard does.

    A restart of a run shows as steps that go back. Raises InputError when there is no scalar.
    """
    found: dict[str, dict[bytes, list[Points]]] = {}
    notes: list[Sentence] = []
    for file, data in sorted(files):
        for tag, part in _scalars_of_file(data, file, notes).items():
            found.setdefault(str(Path(file).parent), {}).setdefault(tag, []).append(part)
    if not found:
        raise InputError("The event file holds no scalar.", where=name, remedy="Give the file that logged metrics.")
    several = len(found) > 1
    labels = _labels_of(list(found), name) if several else [""]
    points = {
        label: {tag.decode("utf-8", "replace"): join_points(parts) for tag, parts in tags.items()}
        for label, tags in zip(labels, found.values(), strict=True)
    }
    numbers, label_of_row = gather_points(points)
    names = tuple(dict.fromkeys(tag for tags in points.values() for tag in tags))
    told = sentence(
        "TensorBoard events, {files} files, {tags} tags, {points} points",
        files=len(files), tags=len(names),
        points=sum(len(one.steps) for tags in points.values() for one in tags.values()),
    )  # fmt: skip
    return Reading(names, numbers, told, tuple(notes), x="step", clocks=frozenset({"step", WALL_TIME}),
                   labels=label_of_row if several else None)  # fmt: skip


def _labels_of(folders: Sequence[str], name: str) -> list[str]:
    """What tells folders apart: their paths below the one that holds all of them, which itself is called ``name``."""
    root = os.path.commonpath(folders)
    return [name if folder == root else os.path.relpath(folder, root) for folder in folders]


def _scalars_of_file(data: bytes | Path, file: str, notes: list[Sentence]) -> dict[bytes, Points]:
    """The points of each tag in the order of the file; the tags in the order of their first points."""
    import numpy as np

    groups: list[AlikeRecords] = []
    others: dict[tuple[bytes, ...], list[tuple[float, ...]]] = {}
    count, is_whole = 0, True
    with open_bytes(data) as stream:
        for part, offset, starts, lengths in _parts(stream, file, notes):
            single = np.ones(len(starts), "bool")
            for group in read_alike(part, starts, lengths):
                single[group.records] = False
                groups.append(replace(group, records=group.records + count))
            for record in np.flatnonzero(single).tolist():
                begin = int(starts[record])
                try:
                    wall, step, scalars = _event(bytes(part[begin : begin + int(lengths[record])]))
                except (ValueError, IndexError, struct.error):
                    notes.append(_broken(file, offset + begin - _HEAD_BYTES))
                    count, is_whole = count + record, False
                    break
                if scalars:
                    tags, values = zip(*scalars, strict=True)
                    others.setdefault(tags, []).append((count + record, step, wall, *values))
            if not is_whole:
                break
            count += len(starts)
    for tags, rows in others.items():
        records, steps, walls, *columns = np.array(rows, dtype="float64").T
        groups.append(AlikeRecords(tags, records.astype("int64"), steps, walls, np.stack(columns)))
    return _points_of_tags(join_alike(groups), count)


def _points_of_tags(groups: Sequence[AlikeRecords], whole: int) -> dict[bytes, Points]:
    """The points of each tag out of all records below ``whole``."""
    import numpy as np

    found: dict[bytes, list[tuple[Places, Points]]] = {}
    first: dict[bytes, tuple[int, int]] = {}
    for group in groups:
        count = int(group.records.searchsorted(whole))
        records, steps, wall = group.records[:count], group.steps[:count], group.wall[:count]
        for place, (tag, values) in enumerate(zip(group.tags if count else (), group.values, strict=False)):
            found.setdefault(tag, []).append((records, Points(steps, values[:count], wall)))
            first[tag] = min((int(records[0]), place), first.get(tag, (whole, 0)))
    points = {}
    for tag, parts in found.items():
        order = np.concatenate([records for records, _ in parts]).argsort(kind="stable") if len(parts) > 1 else None
        points[tag] = join_points([part for _, part in parts], order)
    return {tag: points[tag] for tag in sorted(first, key=first.__getitem__)}


def event_files_below(folder: Path) -> list[Path]:
    """The event files of a folder and the folders in it, by name.

    Raises InputError when there is so much below it that somebody must have meant another folder.
    """
    found, seen = [], 0
    os.scandir(folder).close()  # os.walk passes over a folder that may not be read
    for place, _, names in os.walk(folder):
        seen += len(names)
        if seen > MOST_ENTRIES:
            raise InputError(
                "There are more than {count} files below this folder.", count=MOST_ENTRIES, where=str(folder),
                remedy="Name the folder of one run.",
            )  # fmt: skip
        found += [Path(place, name) for name in names if FILE_NAME.fullmatch(name)]
    return sorted(found)


def _parts(stream: BinaryIO, file: str, notes: list[Sentence]) -> Iterator[tuple[memoryview, int, Places, Places]]:
    """The records of a file part by part: bytes, where these begin in the file, and where in them the records stand.

    The bytes are good until the next part is asked for. Says in ``notes`` where a file was cut or is broken.
    """
    room, held, offset = bytearray(PART_BYTES), 0, 0
    size, end_of_records = _sizes(stream, file, notes)
    stream.seek(0)
    while offset + _HEAD_BYTES <= size:
        if held >= _HEAD_BYTES:
            needed = _HEAD_BYTES + _LENGTH.unpack_from(room)[0] + _CHECKSUM_BYTES
            if offset + needed > size:
                checksum = int.from_bytes(room[_LENGTH.size : _HEAD_BYTES], "little")
                broken = checksum != _masked(_crc32c(bytes(room[: _LENGTH.size])))
                notes.append(_broken(file, offset) if broken else _cut(file, offset))
                return
            if needed > len(room):
                room = room[:held] + bytearray(needed - held)
        read = stream.readinto(memoryview(room)[held:])  # type: ignore[attr-defined]
        if not read:  # it has become shorter meanwhile
            break
        part = memoryview(room)[: min(held + read, size - offset)]
        starts, lengths, end = _records(part)
        yield part, offset, starts, lengths
        held, offset = len(part) - end, offset + end
        memoryview(room)[:held] = part[end:]  # these may overlap, which a bytearray does not look after
    if offset < end_of_records:
        notes.append(_cut(file, offset))


def _sizes(stream: BinaryIO, file: str, notes: list[Sentence]) -> tuple[int, int]:
    """How far records may reach, and how far they must; NULs behind that, as a crash leaves them, have a note.

    The last checksum may itself end with some.
    """
    size = stream.seek(0, io.SEEK_END)
    end = end_before_nuls(stream, size)
    if size - end <= _CHECKSUM_BYTES:
        return size, size
    notes += [sentence("{file}: {note}", file=file, note=note) for note in nul_notes(size - end)]
    return end + _CHECKSUM_BYTES, end


def _records(data: memoryview) -> tuple[Places, Places, int]:
    """Where the records begin, how long they are, and where the last whole one ends."""
    import numpy as np

    heads, lengths, offset, size, read = array("q"), array("q"), 0, len(data), _LENGTH.unpack_from
    alike, last = 0, -1
    while offset + _HEAD_BYTES <= size:
        (length,) = read(data, offset)
        end = offset + _HEAD_BYTES + length + _CHECKSUM_BYTES
        if end > size:
            break
        heads.append(offset)
        lengths.append(length)
        offset, alike, last = end, alike + 1 if length == last else 0, length
        if alike >= MANY_ALIKE:
            more, record_bytes = _count_alike(data, offset, length), end - heads[-1]
            heads.frombytes(np.arange(offset, offset + more * record_bytes, record_bytes).tobytes())
            lengths.frombytes(np.full(more, length).tobytes())
            offset, alike = offset + more * record_bytes, 0
    return np.array(heads, dtype="int64") + _HEAD_BYTES, np.array(lengths, dtype="int64"), offset


def _count_alike(data: memoryview, offset: int, length: int) -> int:
    """How many records of this length follow each other from an offset on, all of them whole."""
    import numpy as np

    size = _HEAD_BYTES + length + _CHECKSUM_BYTES
    count = min((len(data) - offset) // size, MOST_ALIKE)
    if not count:
        return 0
    octets = np.frombuffer(data, "uint8", count * size, offset).reshape(count, size)
    other = octets[:, :8].copy().view("<u8")[:, 0] != length
    return int(other.argmax()) if other.any() else count


def _cut(file: str, offset: int) -> Sentence:
    return sentence(
        "{file}: the last record, at byte {offset}, is cut, so the file was still being written; it was left out.",
        file=file, offset=offset,
    )  # fmt: skip


def _broken(file: str, offset: int) -> Sentence:
    return sentence(
        "{file}: the record at byte {offset} is broken; it and what follows were left out.", file=file, offset=offset
    )


def _event(record: bytes) -> tuple[float, float, Sequence[tuple[bytes, float]]]:
    wall, step, summary = 0.0, 0, b""
    for number, kind, value in _fields(record):
        if number == 1 and kind == _FIXED64 and isinstance(value, bytes):
            (wall,) = struct.unpack("<d", value)
        elif number == 2 and isinstance(value, int):
            step = value - 2**64 if value >= 2**63 else value
        elif number == 5 and isinstance(value, bytes):
            summary = value
    plain = plain_values(summary)  # ten times as fast
    if plain:
        return wall, float(step), [(tag, _FLOAT.unpack_from(summary, at)[0]) for tag, at in plain]
    return wall, float(step), _scalars(summary)


def _scalars(summary: bytes) -> list[tuple[bytes, float]]:
    return [
        scalar
        for number, _, value in _fields(summary)
        if number == 1 and isinstance(value, bytes) and (scalar := _scalar(value))
    ]


def _scalar(message: bytes) -> tuple[bytes, float] | None:
    tag, number_found = b"", None
    for number, kind, value in _fields(message):
        if number == 1 and isinstance(value, bytes):
            tag = value
        elif number == 2 and kind == _FIXED32 and isinstance(value, bytes):
            (number_found,) = _FLOAT.unpack(value)
        elif number == 8 and isinstance(value, bytes):
            number_found = _tensor(value)
    return None if number_found is None or not tag else (tag, float(number_found))


def _tensor(message: bytes) -> float | None:
    """The only number of a tensor; None when it holds none or several."""
    import numpy as np

    dtype, content = "", b""
    for number, kind, value in _fields(message):
        if number == 1 and isinstance(value, int):
            dtype = _DTYPES.get(value, "")
        elif number == 4 and isinstance(value, bytes):
            content = value
        elif number in _NUMBER_FIELDS and isinstance(value, bytes):
            form = _NUMBER_FIELDS[number]
            if len(value) == struct.calcsize(form):
                return float(struct.unpack(f"<{form}", value)[0])
        elif number in (7, 10):
            if isinstance(value, int):
                return float(value)
            if kind == _BYTES and isinstance(value, bytes):
                return float(_varint(value, 0)[0])
    if dtype and len(content) == np.dtype(dtype).itemsize:
        return float(np.frombuffer(content, dtype)[0])
    return None


def _fields(message: bytes) -> Iterator[tuple[int, int, int | bytes]]:
    """The fields of a protobuf message: number, wire type, value."""
    offset = 0
    while offset < len(message):
        key, offset = _varint(message, offset)
        kind = key & 7
        if kind == _VARINT:
            value, offset = _varint(message, offset)
            yield key >> 3, kind, value
            continue
        if kind == _BYTES:
            length, offset = _varint(message, offset)
        elif kind in (_FIXED64, _FIXED32):
            length = 8 if kind == _FIXED64 else 4
        else:
            raise ValueError(kind)
        if offset + length > len(message):
            raise ValueError(length)
        yield key >> 3, kind, message[offset : offset + length]
        offset += length


def _varint(message: bytes, offset: int) -> tuple[int, int]:
    value, shift = 0, 0
    while True:
        byte = message[offset]
        offset += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, offset
        shift += 7
        if shift > 63:
            raise ValueError(shift)


def _crc_table() -> list[int]:
    table = []
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return table


_TABLE = _crc_table()


def _crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def _masked(crc: int) -> int:
    return ((crc >> 15 | crc << 17 & 0xFFFFFFFF) + _MASK) & 0xFFFFFFFF
