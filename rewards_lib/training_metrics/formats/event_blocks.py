"""Event records that are laid out alike, as a trainer's nearly all are, read together.

Layout of a record (tensorboard/compat/proto/event.proto): ``09 clock 10 step 2A length summary``; of a value in a
summary of short tags with plain numbers: ``0A length 0A length tag 15 float``, both lengths below 128. Invariant: a
record is read here only if it differs from the first of its block in clock, step and numbers alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rewards_lib.training_metrics.series import Floats

    Places = NDArray[np.int64]

BLOCK_BYTES = 8_388_608
FEWEST_ALIKE = 16
"""Fewer records are read one by one."""
MOST_LAYOUTS = 64
"""Of records of one length in a block; the others are read one by one."""
_CLOCK = slice(1, 9)


@dataclass(frozen=True, slots=True)
class TagPoints:
    """Values of one tag, one for each of some records."""

    tag: bytes
    records: Places
    """Which records of the file."""
    steps: Floats
    values: Floats
    wall: Floats


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


def read_alike(data: bytes, starts: Places, lengths: Places) -> Iterator[TagPoints]:
    """The points of all records that have enough others of their layout; the others are left to the caller."""
    import numpy as np

    octets = np.frombuffer(data, "uint8")
    for length in np.unique(lengths).tolist():
        records = np.flatnonzero(lengths == length)
        if len(records) < FEWEST_ALIKE:
            continue
        windows = np.lib.stride_tricks.sliding_window_view(octets, length)
        for some in np.array_split(records, len(records) * length // BLOCK_BYTES + 1):
            block, left = windows[starts[some]], np.arange(len(some))
            for _ in range(MOST_LAYOUTS):
                if len(left) < FEWEST_ALIKE:
                    break
                layout = _Layout.of(block[left[0]].tobytes())
                alike = layout.holds_for(block[left]) if layout else np.arange(len(left)) == 0
                if layout:
                    yield from layout.points(block[left[alike]], some[left[alike]])
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
        step_end = _varint_end(record, 10)
        if record[step_end : step_end + 1] != b"\x2a":
            return None
        begin = _varint_end(record, step_end + 1)
        size = sum((octet & 0x7F) << 7 * place for place, octet in enumerate(record[step_end + 1 : begin]))
        numbers = plain_values(record[begin:]) if begin + size == len(record) else []
        return cls(record, step_end, [(tag, begin + at) for tag, at in numbers]) if numbers else None

    def holds_for(self, block: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Which of the records differ from this one in clock, step and numbers alone."""
        import numpy as np

        fixed = np.ones(len(self.record), "bool")
        fixed[_CLOCK] = fixed[10 : self.step_end] = False
        for _, at in self.numbers:
            fixed[at : at + 4] = False
        other: NDArray[np.bool_] = ((block != np.frombuffer(self.record, "uint8")) & fixed).any(axis=1)
        goes_on, ends = block[:, 10 : self.step_end - 1] >= 0x80, block[:, self.step_end - 1] < 0x80
        return ~other & goes_on.all(axis=1) & ends

    def points(self, block: NDArray[np.uint8], records: Places) -> Iterator[TagPoints]:
        """The points of records of this layout."""
        import numpy as np

        wall = block[:, _CLOCK].copy().view("<f8")[:, 0]
        digits = (block[:, 10 : self.step_end] & 0x7F).astype("uint64")
        shifts = np.arange(0, 7 * digits.shape[1], 7, dtype="uint64")
        steps = (digits << shifts).sum(axis=1, dtype="uint64").view("int64").astype("float64")
        for tag, at in self.numbers:
            values = block[:, at : at + 4].copy().view("<f4")[:, 0].astype("float64")
            yield TagPoints(tag, records, steps, values, wall)


def _varint_end(record: bytes, begin: int) -> int:
    """Where a number of variable length that begins there ends; the record's end where it does not."""
    return next((at + 1 for at in range(begin, len(record)) if record[at] < 0x80), len(record))
