"""The rows of a table through pandas' C engine, a part at a time and several parts at once.

pandas holds the text of what it reads at once beside the numbers, so that parts keep memory low; and it lets go of the
interpreter while it reads numbers, so that they are read on several cores. Invariant: the parts come in order, and each
is what pandas would read of these rows in one go.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    import pandas as pd

PART_CELLS, LEAST_PART_ROWS = 150_000, 2500
"""How much is read at once: parts of fewer rows cost time, of more cells memory."""
LEAST_BYTES, MOST_PARTS, MOST_THREADS = 1 << 27, 32, 4
"""From this size on several parts are read at once, larger ones: beside so many numbers they take little memory."""
_ROW = re.compile(rb"[^\r\n]*")


def read_parts(rows: BinaryIO, options: dict[str, Any]) -> Iterator[tuple[pd.DataFrame, int]]:
    """Yield the rows part by part, each with the place where it ends; ``options`` are those of ``pandas.read_csv``.

    Text with quotation marks is read in one thread from there on: what looks like the end of a row may be in a cell.
    Raises what pandas raises, a ParserError also for a part whose first row is too long, which pandas would cut.
    """
    begin = end = rows.tell()
    size = rows.seek(0, io.SEEK_END) - begin
    rows.seek(begin)
    if size >= LEAST_BYTES:
        for part, end in _read_pieces(rows, size, options):
            yield part, end
        rows.seek(end)
        if not _continues(rows, options):
            return
        rows.seek(end)
    yield from _read_on(rows, options)


def _read_on(rows: BinaryIO, options: dict[str, Any]) -> Iterator[tuple[pd.DataFrame, int]]:
    """Yield parts in one thread, the next one read while the last is used."""
    import pandas as pd

    with pd.read_csv(rows, chunksize=_part_rows(options), **options) as parts, ThreadPoolExecutor(1, "rows") as thread:

        def read() -> tuple[pd.DataFrame | None, int]:
            return next(parts, None), rows.tell()

        coming = thread.submit(read)
        while (found := coming.result())[0] is not None:
            coming = thread.submit(read)
            yield found[0], found[1]


def _read_pieces(rows: BinaryIO, size: int, options: dict[str, Any]) -> Iterator[tuple[pd.DataFrame, int]]:
    """Yield parts of the next ``size`` bytes as long as they have no quotation marks, several of them in progress.

    How many bytes the fewest rows of a part take is reckoned from the first row.
    """
    begin, at_once = rows.tell(), min(os.cpu_count() or 1, MOST_THREADS)
    piece_bytes = max(_part_rows(options) * len(rows.readline()), size // MOST_PARTS)
    with ThreadPoolExecutor(at_once, thread_name_prefix="rows") as threads:
        pending: deque[tuple[Future[pd.DataFrame], int]] = deque()
        while piece := _plain_piece(rows, begin, piece_bytes):
            begin += len(piece)
            pending.append((threads.submit(_read_piece, piece, options), begin))
            if len(pending) > at_once:
                future, end = pending.popleft()
                yield future.result(), end
        while pending:
            future, end = pending.popleft()
            yield future.result(), end


def _part_rows(options: dict[str, Any]) -> int:
    return max(LEAST_PART_ROWS, PART_CELLS // len(options["names"]))


def _plain_piece(rows: BinaryIO, begin: int, size: int) -> bytes:
    """Whole rows without a quotation mark, from a place on; nothing where there are none, or a blank line first."""
    rows.seek(begin)
    piece = rows.read(size)
    if len(piece) == size:
        piece = piece[: piece.rfind(b"\n") + 1]
    return piece if b'"' not in piece and _first_row(piece).strip() else b""


def _first_row(piece: bytes) -> bytes:
    found = _ROW.match(piece)
    return found.group() if found else b""


def _read_piece(piece: bytes, options: dict[str, Any]) -> pd.DataFrame:
    import pandas as pd

    _refuse_overlong(_first_row(piece).count(options["sep"].encode()) + 1, options)
    part: pd.DataFrame = pd.read_csv(io.BytesIO(piece), **options)
    return part


def _continues(rows: BinaryIO, options: dict[str, Any]) -> bool:
    """Whether there is a further row, which must not be too long."""
    text = io.TextIOWrapper(rows, "utf-8", newline="")
    try:
        reader = csv.reader(text, delimiter=options["sep"], skipinitialspace=options.get("skipinitialspace", False))
        first = next(filter(None, reader), [])
    finally:
        text.detach()
    _refuse_overlong(len(first), options)
    return bool(first)


def _refuse_overlong(cells: int, options: dict[str, Any]) -> None:
    import pandas as pd

    if cells > len(options["names"]):
        raise pd.errors.ParserError(f"Expected {len(options['names'])} fields, saw {cells}")
