"""Event records that are laid out alike, as a trainer's nearly all are, read together.

Layout of a record (tensorboard/compat/proto/event.proto): ``09 clock 10 step 2A length summary``; of a value in a
summary of short tags with plain numbers: ``0A length 0A length tag 15 float``, both lengths below 128. Invariant: a
record is read here only if it differs from the first of its layout in clock, step and numbers alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rewards_lib.training_metrics.series import Floats

    Octets = NDArray[np.uint8]
    Singles = NDArray[np.float32]
    Places = NDArray[np.int64]

BLOCK_BYTES = 1 << 19
"""What is looked at together stays in the processor's cache."""
FEWEST_ALIKE = 16
"""Fewer records are read one by one."""
MOST_LAYOUTS = 64
"""Of records of one length; the others are read one by one."""
_WORD_BYTES = 8
_CLOCK, _STEP = slice(1, 9), 10


@dataclass(frozen=True, slots=True, eq=False)
class AlikeRecords:
    """Records with the same tags, and what they say."""

    tags: tuple[bytes, ...]
    records: Places
    """Which records of the file they are, in order."""
    steps: Floats
    wall: Floats
    """Seconds since 1970."""
    values: Singles | Floats
    """A row for each tag, a column for each record."""


def join_alike(groups: Iterable[AlikeRecords]) -> list[AlikeRecords]:
    """The same records with all that have the same tags in one.

    They stand in several parts of the file, and their lengths differ as their steps do.
    """
    import numpy as np

    by_tags: dict[tuple[bytes, ...], list[AlikeRecords]] = {}
    for group in groups:
        by_tags.setdefault(group.tags, []).append(group)
    joined = []
    for tags, parts in by_tags.items():
        parts.sort(key=lambda part: part.records[0])
        records = np.concatenate([part.records for part in parts])
        steps, wall = np.concatenate([part.steps for part in parts]), np.concatenate([part.wall for part in parts])
        values = np.concatenate([part.values for part in parts], axis=1)
        if (records[1:] < records[:-1]).any():
            order = records.argsort(kind="stable")
            records, steps, wall, values = records[order], steps[order], wall[order], values[:, order]
        joined.append(AlikeRecords(tags, records, steps, wall, values))
    return joined


def plain_values(summary: bytes) -> list[tuple[bytes, int]]:
    """The tags of a summary of short tags with plain numbers, each with where its number stands; of others nothing."""
    found, offset, size = [], 0, len(summary)
    while offset + 9 <= size:
        length, tag_length = summary[offset + 1], summary[offset + 3]
        end, tag_end = offset + 2 + length, offset + 4 + tag_length
        plain = summary[offset] == summary[offset + 2] == 0x0A and length < 0x80 > tag_length > 0
        if not plain or end != tag_end + 5 or end > size or summary[tag_end] != 0x15:
            return []
        found.append((summary[offset + 4 : tag_end], tag_end + 1))
        offset = end
    return found if offset == size else []


def read_alike(data: memoryview, starts: Places, lengths: Places) -> Iterator[AlikeRecords]:
    """All records that have enough others of their layout, counted from 0; the others are left to the caller."""
    import numpy as np

    octets = np.frombuffer(data, "uint8")
    for length in np.unique(lengths).tolist():
        left = np.flatnonzero(lengths == length)
        for _ in range(MOST_LAYOUTS):
            if len(left) < FEWEST_ALIKE:
                break
            begin = int(starts[left[0]])
            layout = _Layout.of(bytes(data[begin : begin + length]))
            if layout is None:
                left = left[1:]
                continue
            alike, found = layout.read(octets, starts[left], left)
            yield found
            left = left[~alike]


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where the parts of a record stand that change from one to the next."""

    record: bytes
    step_end: int
    numbers: list[tuple[bytes, int]]
    """Tags with where their numbers begin."""

    @classmethod
    def of(cls, record: bytes) -> _Layout | None:
        """The layout of a record; None where it is another than that of this module."""
        if len(record) < 13 or record[0] != 0x09 or record[9] != 0x10:
            return None
        step_end = _varint_end(record, _STEP)
        if record[step_end : step_end + 1] != b"\x2a":
            return None
        begin = _varint_end(record, step_end + 1)
        size = sum((octet & 0x7F) << 7 * place for place, octet in enumerate(record[step_end + 1 : begin]))
        numbers = plain_values(record[begin:]) if begin + size == len(record) else []
        return cls(record, step_end, [(tag, begin + at) for tag, at in numbers]) if numbers else None

    def read(self, octets: Octets, starts: Places, records: Places) -> tuple[NDArray[np.bool_], AlikeRecords]:
        """Which of some records of this length have this layout, and what those say.

        Records are compared in words of eight octets, so each is looked at with a few octets before it: the file has
        some, for the record's own length stands there.
        """
        import numpy as np

        before, count = -len(self.record) % _WORD_BYTES, len(starts)
        fixed, clock, step, floats = self._places(before)
        mask, first = fixed.view("uint64"), np.frombuffer(bytes(before) + self.record, "uint8").view("uint64")
        alike, values = np.empty(count, "bool"), np.empty((len(self.numbers), count), "float32")
        clocks, steps = (
            np.empty((count, clock.stop - clock.start), "uint8"),
            np.empty((count, step.stop - step.start), "uint8"),
        )
        rows = max(BLOCK_BYTES // len(fixed), 1)
        room, numbers = np.empty((rows, len(fixed)), "uint8"), np.empty((rows, len(floats)), "uint8")
        for begin in range(0, count, rows):
            end = min(begin + rows, count)
            block, own = room[: end - begin], numbers[: end - begin]
            _copy_windows(octets, starts[begin:end] - before, block)
            values[:, begin:end] = block.take(floats, axis=1, out=own, mode="clip").view("<f4").T
            clocks[begin:end], steps[begin:end] = block[:, clock], block[:, step]
            words = block.view("uint64")
            words ^= first
            words &= mask
            alike[begin:end] = ~words.any(axis=1)
        alike &= (steps[:, :-1] >= 0x80).all(axis=1) & (steps[:, -1] < 0x80)
        if not alike.all():
            clocks, steps, values = clocks[alike], steps[alike], values[:, alike]
        tags = tuple(tag for tag, _ in self.numbers)
        return alike, AlikeRecords(tags, records[alike], _steps_of(steps), clocks.view("<f8")[:, 0], values)

    def _places(self, before: int) -> tuple[Octets, slice, slice, Places]:
        """Where in a record, with some octets before it, stands what never changes (255), clock, step and numbers."""
        import numpy as np

        clock = slice(before + _CLOCK.start, before + _CLOCK.stop)
        step = slice(before + _STEP, before + self.step_end)
        floats = np.add.outer([before + at for _, at in self.numbers], np.arange(4)).ravel()
        fixed = np.full(before + len(self.record), 0xFF, "uint8")
        fixed[:before] = fixed[clock] = fixed[step] = fixed[floats] = 0
        return fixed, clock, step, floats


def _copy_windows(octets: Octets, starts: Places, out: Octets) -> None:
    """Copy as many octets from each start as a row of ``out`` has.

    Records of one layout mostly stand evenly spaced. New memory for each block would take longer than all the rest.
    """
    import numpy as np

    spaces = np.diff(starts)
    width, space = out.shape[1], int(spaces[0]) if len(spaces) else 1
    if (spaces == space).all() and space > 0:
        windows = np.lib.stride_tricks.sliding_window_view(octets[starts[0] :], width)
        out[:] = windows[::space][: len(starts)]
    else:
        out[:] = np.lib.stride_tricks.sliding_window_view(octets, width)[starts]


def _steps_of(octets: Octets) -> Floats:
    """Numbers of variable length as protobuf writes them, a row each: seven bits an octet, the lowest first."""
    import numpy as np

    digits = (octets & 0x7F).astype("uint64")
    shifts = np.arange(0, 7 * digits.shape[1], 7, dtype="uint64")
    steps: Floats = (digits << shifts).sum(axis=1, dtype="uint64").view("int64").astype("float64")
    return steps


def _varint_end(record: bytes, begin: int) -> int:
    """Where a number of variable length that begins there ends; the record's end where it does not."""
    return next((at + 1 for at in range(begin, len(record)) if record[at] < 0x80), len(record))
