"""A trajectory laid out in tokens: who wrote each, which are trained on, and what came along.

Invariant: ``mask`` has one entry a token, whatever the file said; what did not fit is a finding of ``find_traps``.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from rewards_lib.agentic.masks import build_loss_mask
from rewards_lib.agentic.trajectories.chat_template import render
from rewards_lib.agentic.trajectories.tokenizers import SplitTexts, TokenPiece
from rewards_lib.agentic.trajectories.trajectory import WRITTEN, Part, TokenRecord, Trajectory

_PARTS_OF_ROLES = {
    "system": Part.SYSTEM, "user": Part.USER, "assistant": Part.ANSWER, "tool": Part.TOOL, "template": Part.TEMPLATE,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Stretch:
    """Successive tokens of one author."""

    part: Part
    turn: int
    """The number of the message, or of the span, from 0."""
    start: int
    end: int
    """One past the last token."""


@dataclass(frozen=True, slots=True)
class TokenTrack:
    """One trajectory in tokens."""

    pieces: tuple[TokenPiece, ...]
    stretches: tuple[Stretch, ...]
    """In order, without gaps."""
    mask: tuple[int, ...]
    kl: tuple[float, ...] | None = None
    given_mask_length: int | None = None
    """How long the mask of the file was; None when the mask was made here."""
    whole: tuple[TokenPiece, ...] | None = None
    """The same text tokenised in one go, for comparison; None where there was no text."""

    @property
    def part_of(self) -> tuple[Part, ...]:
        """Who wrote each token."""
        return tuple(one.part for one in self.stretches for _ in range(one.start, one.end))


def lay_out(trajectory: Trajectory, split: SplitTexts, *, trained: Collection[Part] = WRITTEN) -> TokenTrack:
    """Lay a trajectory out in tokens. ``trained`` says what is in the mask where the file brings none.

    Raises InputError for spans that overlap or leave the tokens.
    """
    if trajectory.tokens is not None:
        return _given(trajectory.tokens)
    rendered = render(trajectory)
    *split_pieces, whole = split([*(piece.text for piece in rendered), "".join(piece.text for piece in rendered)])
    stretches: list[Stretch] = []
    pieces: list[TokenPiece] = []
    for piece, tokens in zip(rendered, split_pieces, strict=True):
        stretches.append(Stretch(piece.part, piece.turn, len(pieces), len(pieces) + len(tokens)))
        pieces += tokens
    spans = [(one.part.value, one.start, one.end) for one in stretches]
    mask = build_loss_mask(pieces, spans, trained={part.value for part in trained})
    return TokenTrack(tuple(pieces), tuple(stretches), tuple(mask.tolist()), whole=tuple(whole))


def _given(record: TokenRecord) -> TokenTrack:
    """Tokens of a file. A mask that is too long is cut, one that is too short is filled with 0; the finding says so."""
    count = len(record.tokens)
    pieces = tuple(
        TokenPiece(f" {token}", token) if isinstance(token, int) else TokenPiece(token) for token in record.tokens
    )
    mask = (record.mask + (0,) * count)[:count]
    kl = record.kl if record.kl is None or len(record.kl) == count else None
    return TokenTrack(pieces, _stretches(record.spans, count), mask, kl, given_mask_length=len(record.mask))


def _stretches(spans: Sequence[tuple[str, int, int]], count: int) -> tuple[Stretch, ...]:
    """The spans in order, with stretches of unknown authors in between."""
    build_loss_mask(range(count), spans)  # refuses what overlaps or leaves the tokens
    found: list[Stretch] = []
    end_before = 0
    for role, start, end in sorted(spans, key=lambda span: (span[1], span[2])):
        if start > end_before:
            found.append(Stretch(Part.UNKNOWN, len(found), end_before, start))
        if end > start:
            found.append(Stretch(_PARTS_OF_ROLES.get(role, Part.USER), len(found), start, end))
        end_before = max(end_before, end)
    if end_before < count:
        found.append(Stretch(Part.UNKNOWN, len(found), end_before, count))
    return tuple(found)
