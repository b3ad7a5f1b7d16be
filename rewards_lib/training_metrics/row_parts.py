"""The rows of a table through pandas' C engine, a part at a time and several stretches of the text at once.

pandas holds the text of what it reads at once beside the numbers, so that parts keep memory low; and it lets go of the
interpreter while it reads numbers, so that stretches are read on several cores. One reader goes over each stretch: a
fresh one for every part would spend a third of the time on getting memory. Invariant: a part is put where its rows
stand, or the reading says that it was not.
"""

from __future__ import annotations

import io
import math
import os
import re
import statistics
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, BinaryIO

from rewards_lib.training_metrics.sniffing import TextSource

if TYPE_CHECKING:
    import pandas as pd

LEAST_PART_ROWS, MOST_PART_CELLS = 2500, 500_000
"""How much is read at once: parts of fewer rows cost time for each of their columns, of more cells memory."""
PARTS, LEAST_PARTS = 8, 4
"""Into how many parts a stretch is divided, and how many it must have beside others: memory is held for one of each."""
LEAST_STRETCH_ROWS, LEAST_STRETCH_BYTES = 4000, 4_194_304
"""For less a further thread does not pay."""
MOST_THREADS = 4
SAMPLED_ROWS = 5
BUFFER_BYTES = 262_144
_LINE_END = re.compile(rb"[\r\n]")


@dataclass(frozen=True, slots=True)
class Stretch:
    """Whole rows of a text, and what was counted in them."""

    begin: int
    end: int
    line_ends: int
    quotes: int
    delimiters: int


def divide_rows(source: TextSource, begin: int, end: int, delimiter: str, *, most: int = MOST_THREADS) -> list[Stretch]:
    """The rows from one byte of the text to another, divided for as many cores as there are.

    Text with quotation marks is one stretch: what looks like the end of a row may be in a cell.
    """
    least_bytes = max(LEAST_STRETCH_BYTES, LEAST_STRETCH_ROWS * _typical_bytes(source, begin, end))
    count = max(1, min(os.cpu_count() or 1, most, (end - begin) // least_bytes))
    cuts = {begin, end}
    for number in range(1, count):
        near = begin + (end - begin) * number // count
        with source.open(near) as stream:
            cuts.add(near + len(stream.readline(end - near)))

    def counted(ends: tuple[int, int]) -> Stretch:
        return Stretch(*ends, *source.count(b'\n"' + delimiter.encode(), *ends))

    with ThreadPoolExecutor(count, thread_name_prefix="rows") as threads:
        stretches = list(threads.map(counted, pairwise(sorted(cuts))))
    return stretches if not any(one.quotes for one in stretches) else [joined(stretches)]


def _typical_bytes(source: TextSource, begin: int, end: int) -> int:
    """The length of a row, the median of some: the first may hold a test that the others have not."""
    lengths = []
    for number in range(SAMPLED_ROWS):
        near = begin + (end - begin) * number // SAMPLED_ROWS
        with source.open(near) as stream:
            near += len(stream.readline(end - near)) if number else 0
            lengths.append(len(stream.readline(end - near)))
    return statistics.median_low(lengths)


def joined(stretches: Sequence[Stretch]) -> Stretch:
    """Neighbouring stretches as one."""
    line_ends, quotes, delimiters = (
        sum(counts) for counts in zip(*((one.line_ends, one.quotes, one.delimiters) for one in stretches), strict=True)
    )
    return Stretch(stretches[0].begin, stretches[-1].end, line_ends, quotes, delimiters)


def read_parts(
    source: TextSource,
    stretches: Sequence[Stretch],
    options: dict[str, Any],
    put: Callable[[int, pd.DataFrame], None],
) -> bool:
    """Read the rows of neighbouring stretches; ``put`` takes the place of a part's first row, and the part.

    ``options`` are those of ``pandas.read_csv``; ``put`` is called in several threads, never for more rows than there
    are line ends and one more. Gives False where blank lines or lone carriage returns made the places wrong, which
    happens with several stretches only. Raises pandas' ParserError, also where the first row of a stretch is too long,
    which pandas would cut.
    """
    rows, least = [stretch.line_ends for stretch in stretches], LEAST_PARTS if len(stretches) > 1 else 1
    room = sum(rows) + 1 if len(rows) > 1 else math.inf

    def put_inside(place: int, part: pd.DataFrame) -> None:
        if place + len(part) <= room:
            put(place, part)

    def read(stretch: Stretch, place: int) -> int:
        held = stretch.line_ends + 1  # the last row may have no line end
        part_rows = math.ceil(held / max(least, _count_parts(held, len(options["names"]))))
        return _read_stretch(source, stretch, options | {"chunksize": part_rows}, put_inside, place)

    with ThreadPoolExecutor(len(rows), thread_name_prefix="rows") as threads:
        found = list(threads.map(read, stretches, accumulate(rows, initial=0)))
    return len(rows) == 1 or (found[:-1] == rows[:-1] and found[-1] <= rows[-1] + 1)


def _count_parts(rows: int, columns: int) -> int:
    return round(rows / max(LEAST_PART_ROWS, min(rows // PARTS, MOST_PART_CELLS // columns)))


def _read_stretch(
    source: TextSource, stretch: Stretch, options: dict[str, Any], put: Callable[[int, pd.DataFrame], None], place: int
) -> int:
    """Put every part of a stretch whose first row stands at ``place``; give the number of rows."""
    import pandas as pd

    first, size = place, stretch.end - stretch.begin
    with source.open(stretch.begin) as stream:
        _refuse_overlong(_LINE_END.split(stream.readline(size), 1)[0], options)
    with io.BufferedReader(_Limited(source.open(stretch.begin), size), BUFFER_BYTES) as rows:
        try:
            parts = pd.read_csv(rows, **options)
        except pd.errors.EmptyDataError:  # nothing but blank lines
            return 0
        with parts:
            for part in parts:
                put(place, part)
                place += len(part)
                del part  # or it would be held while the next one is read
    return place - first


def _refuse_overlong(row: bytes, options: dict[str, Any]) -> None:
    import pandas as pd

    cells = row.count(options["sep"].encode()) + 1
    if b'"' not in row and cells > len(options["names"]):
        raise pd.errors.ParserError(f"Expected {len(options['names'])} fields, saw {cells}")


class _Limited(io.RawIOBase):
    """The next bytes of a stream, so many of them, as a file of their own."""

    def __init__(self, stream: BinaryIO, size: int) -> None:
        self._stream, self._rest = stream, size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        read = int(self._stream.readinto(memoryview(buffer)[: self._rest]))  # type: ignore[attr-defined]
        self._rest -= read
        return read

    def close(self) -> None:
        self._stream.close()
        super().close()
