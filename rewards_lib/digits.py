"""Digits, signs and fractions of every script, in ASCII.

Invariant: each character of the folded text knows the place it comes from, so that what is found in it can be marked.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

_SIGNS = dict(zip("−﹣－–‐‑＋﹢．，％﹪／⁄", "------++.,%%//", strict=True))
_MAX_WHOLE_DIGITS = 18


def fold_digits(text: str) -> tuple[str, Sequence[int]]:
    """Write digits of every script, signs and vulgar fractions in ASCII; also tell each character's old place.

    Superscripts stay as they are, for ``5²`` is not 52, and ``2½`` is one fraction. The places are empty when nothing
    moved.

    >>> fold_digits("２５"), fold_digits("2½")[0]
    (('25', ()), '5/2')
    """
    if text.isascii():
        return text, ()
    parts = [_folded(character) for character in text]
    if all(len(part) == 1 for part in parts):
        return "".join(parts), ()
    for at, part in enumerate(parts):
        if len(part) > 1 and "/" in part:
            _join_mixed(parts, at)
    return "".join(parts), [place for place, part in enumerate(parts) for _ in part]


def _folded(character: str) -> str:
    if character.isascii():
        return character
    if character in _SIGNS:
        return _SIGNS[character]
    digit = unicodedata.decimal(character, None)
    if digit is not None:
        return str(digit)
    wide = unicodedata.normalize("NFKC", character)
    return wide.replace("⁄", "/") if "⁄" in wide else character


def _join_mixed(parts: list[str], at: int) -> None:
    """Write the digits that end before ``at`` and the fraction there as one fraction, spread over their places."""
    first = at
    while first and parts[first - 1].isdecimal() and at - first < _MAX_WHOLE_DIGITS:
        first -= 1
    top, _, bottom = parts[at].partition("/")
    if first == at or not bottom or (first and parts[first - 1] in (".", ",")):
        return
    numerator = int("".join(parts[first:at])) * int(bottom) + int(top)
    parts[first : at + 1] = [f"{numerator}/", *[""] * (at - first - 1), bottom]
