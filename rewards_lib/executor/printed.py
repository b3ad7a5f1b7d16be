"""What a run printed: how much of it is kept, and which entry of a batch it belongs to.

Invariant: of each stream no more than ``keep_bytes`` wait here to be taken; what is beyond is counted, not kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

STREAMS = ("stdout", "stderr")


@dataclass(frozen=True, slots=True)
class _Piece:
    stream: str
    start: int
    """Where it begins in its stream, in bytes."""
    data: bytes


class Printed:
    """The two streams of a run, in the order in which they arrived."""

    def __init__(self, keep_bytes: int, clean: Callable[[str], str] = str) -> None:
        """``clean`` is applied to every text that is taken."""
        self.received = dict.fromkeys(STREAMS, 0)
        """Bytes of each stream so far."""
        self._keep_bytes = keep_bytes
        self._clean = clean
        self._taken = dict.fromkeys(STREAMS, 0)
        self._pieces: list[_Piece] = []

    def add(self, stream: str, data: bytes) -> None:
        """Keep what fits, count the rest."""
        start = self.received[stream]
        self.received[stream] += len(data)
        room = self._taken[stream] + self._keep_bytes - start
        if room > 0:
            self._pieces.append(_Piece(stream, start, data[:room]))

    def waiting(self, stream: str) -> int:
        """How many bytes of a stream nobody has taken."""
        return self.received[stream] - self._taken[stream]

    def take(self, show_bytes: int, upto: Mapping[str, int] | None = None) -> str:
        """Return the text of both streams, up to a place in each, and note how much of it is not shown.

        ``show_bytes`` is the most that is shown of each stream. What was taken is gone.
        """
        ends = {name: min((upto or self.received).get(name, 0), self.received[name]) for name in STREAMS}
        shown: list[bytes] = []
        size = dict.fromkeys(STREAMS, 0)
        left: list[_Piece] = []
        for piece in self._pieces:
            cut = max(ends[piece.stream] - piece.start, 0)
            mine, rest = piece.data[:cut], piece.data[cut:]
            if rest:
                left.append(_Piece(piece.stream, piece.start + len(mine), rest))
            mine = mine[: max(show_bytes - size[piece.stream], 0)]
            size[piece.stream] += len(mine)
            shown.append(mine)
        hidden = sum(ends[name] - self._taken[name] - size[name] for name in STREAMS)
        self._pieces = left
        self._taken = {name: max(ends[name], self._taken[name]) for name in STREAMS}
        text = self._clean(b"".join(shown).decode("utf-8", "replace"))
        return text + (f"\n[{hidden} more bytes were printed and are not shown]\n" if hidden > 0 else "")
