"""Whether an output is the expected one: line by line or token by token, numbers with a tolerance.

Outputs are compared as bytes, a piece at a time, so that a long one is never held. Invariant: integers are exact in
every digit; only where one side is written as a floating-point number does the tolerance count.
"""

from __future__ import annotations

import decimal
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal, TypeAlias

from rewards_lib.code_judge.verdicts import Difference
from rewards_lib.contract import Sentence, sentence

CompareMode: TypeAlias = Literal["lines", "tokens"]
MODES: tuple[CompareMode, ...] = ("lines", "tokens")
_BOM = b"\xef\xbb\xbf"
_SHOWN = 200
_INTEGER = re.compile(rb"[+-]?[0-9]+")
_NUMBER = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_LONGEST_NUMBER = 10_000
_SPACES = re.compile(rb"([ \t\x0b\x0c]+)")
_EXACT = decimal.Context(prec=60, Emax=10**9, Emin=-(10**9), traps=[])


@dataclass(frozen=True, slots=True)
class CompareRules:
    """How outputs are compared."""

    mode: CompareMode = "lines"
    float_tol: float = 1e-6
    """abs(actual - expected) <= float_tol * max(1, abs(expected)); against an integer the tolerance is absolute."""
    ignore_case: bool = False


def compare(expected: bytes, actual: Iterable[bytes], rules: CompareRules) -> Difference | None:
    """Compare an output with the expected one; None when it is right.

    ``actual`` yields the output a piece at a time. Line ends may be of any kind; a byte order mark, blanks at the ends
    of lines and empty lines at the end do not count.
    """
    same = _skip_equal(expected, iter(actual))
    if same is None:
        return None
    start, first_line, rest = same
    expected_lines = _lines(iter([expected[start:]]), is_start=start == 0)
    actual_lines = _lines(rest, is_start=start == 0)
    if rules.mode == "tokens":
        return _compare_tokens(expected_lines, actual_lines, rules, first_line)
    return _compare_lines(expected_lines, actual_lines, rules, first_line)


def _skip_equal(expected: bytes, actual: Iterator[bytes]) -> tuple[int, int, Iterator[bytes]] | None:
    """Pass over what is equal byte by byte, which is the common case and the fast one.

    None when both are equal to the end; else where the line of the first difference begins in ``expected``, its
    number from 0, and the output from there on.
    """
    done = line_start = line = 0
    kept = b""
    """The equal bytes of the line in progress."""
    for piece in actual:
        if expected.startswith(piece, done):
            done += len(piece)
            line += piece.count(b"\n")
            cut = piece.rfind(b"\n") + 1
            kept = piece[cut:] if cut else kept + piece
            line_start = done - len(kept)
            continue
        return line_start, line, _chain(kept + piece, actual)
    return None if done == len(expected) else (line_start, line, iter([kept]))


def _chain(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from rest


def _lines(pieces: Iterator[bytes], *, is_start: bool) -> Iterator[bytes]:
    """Yield lines without their ends, blanks at the right cut off; CR, LF and CRLF end a line."""
    parts: list[bytes] = []
    """Of the line in progress."""
    pending_return = False
    for raw in pieces:
        piece = raw
        if is_start and piece:
            piece, is_start = piece.removeprefix(_BOM), False
        if pending_return:
            piece, pending_return = b"\r" + piece, False
        if piece.endswith(b"\r"):  # its line feed may be the next piece's first byte
            piece, pending_return = piece[:-1], True
        if b"\r" in piece:
            piece = piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        *whole, last = piece.split(b"\n")
        for line in whole:
            yield (b"".join((*parts, line)) if parts else line).rstrip()
            parts = []
        if last:
            parts.append(last)
    yield b"".join(parts).rstrip()


# --- lines ---------------------------------------------------------------------------------------------------------


def _compare_lines(
    expected: Iterator[bytes], actual: Iterator[bytes], rules: CompareRules, first: int
) -> Difference | None:
    for number, (want, got) in enumerate(zip_longest(expected, actual), first + 1):
        if want == got:
            continue
        if want is None:
            extra = _first_filled(got, actual)
            return Difference(_TOO_MUCH, number, "", _shown(extra)) if extra else None
        if got is None:
            missing = _first_filled(want, expected)
            return Difference(_TOO_LITTLE, number, _shown(missing), "") if missing else None
        if not _same_line(want, got, rules):
            return Difference(_line_reason(want, got), number, _shown(want), _shown(got))
    return None


_TOO_MUCH = sentence("the output goes on where the expected one has ended")
_TOO_LITTLE = sentence("the output ends where the expected one goes on")


def _first_filled(line: bytes, rest: Iterator[bytes]) -> bytes | None:
    """The first line that is not empty: empty ones at the end do not count."""
    return line or next((one for one in rest if one), None)


def _line_reason(want: bytes, got: bytes) -> Sentence:
    if not got:
        return sentence("the line is empty")
    if want.split() == got.split():
        return sentence("the blanks inside the line differ")
    if want.lower() == got.lower():
        return sentence("upper and lower case differ")
    return sentence("the line differs")


def _same_line(want: bytes, got: bytes, rules: CompareRules) -> bool:
    wanted, gotten = _SPACES.split(want), _SPACES.split(got)
    if len(wanted) != len(gotten) or wanted[1::2] != gotten[1::2]:
        return False
    return all(_same_token(one, other, rules) for one, other in zip(wanted[::2], gotten[::2], strict=True))


# --- tokens --------------------------------------------------------------------------------------------------------


def _compare_tokens(
    expected: Iterator[bytes], actual: Iterator[bytes], rules: CompareRules, first: int
) -> Difference | None:
    for (_, want), (line, got) in zip_longest(_tokens(expected, first), _tokens(actual, first), fillvalue=(0, None)):
        if want is None and got is not None:
            return Difference(_TOO_MUCH, line, "", _shown(got))
        if got is None and want is not None:
            return Difference(_TOO_LITTLE, 0, _shown(want), "")
        if want is not None and got is not None and not _same_token(want, got, rules):
            return Difference(sentence("the token differs"), line, _shown(want), _shown(got))
    return None


def _tokens(lines: Iterator[bytes], first: int) -> Iterator[tuple[int, bytes | None]]:
    for number, line in enumerate(lines, first + 1):
        for token in line.split():
            yield number, token


def _same_token(want: bytes, got: bytes, rules: CompareRules) -> bool:
    if want == got:
        return True
    if rules.ignore_case and _folded(want) == _folded(got):
        return True
    if len(want) > _LONGEST_NUMBER or len(got) > _LONGEST_NUMBER:
        return False
    if not _NUMBER.fullmatch(want) or not _NUMBER.fullmatch(got):
        return False
    is_whole = _INTEGER.fullmatch(want), _INTEGER.fullmatch(got)
    if all(is_whole):
        return False  # two integers are equal as texts or not at all: 0011 is not 11
    return _is_near(want.decode(), got.decode(), decimal.Decimal(rules.float_tol), absolute=any(is_whole))


def _is_near(want: str, got: str, tolerance: decimal.Decimal, *, absolute: bool) -> bool:
    """abs(got - want) <= tolerance * max(1, abs(want)), in decimals: 10^18 and 10^18 + 1 differ."""
    expected, actual = _EXACT.create_decimal(want), _EXACT.create_decimal(got)
    if len(want) > _EXACT.prec or len(got) > _EXACT.prec:
        expected, actual = decimal.Decimal(want), decimal.Decimal(got)
    apart = _EXACT.abs(_EXACT.subtract(actual, expected))
    scale = decimal.Decimal(1) if absolute else _EXACT.max(decimal.Decimal(1), _EXACT.abs(expected))
    return bool(apart <= _EXACT.multiply(tolerance, scale))


def _folded(token: bytes) -> str:
    return token.decode("utf-8", "backslashreplace").casefold()


def _shown(line: bytes) -> str:
    text = line[: 4 * _SHOWN].decode("utf-8", "backslashreplace")
    text = "".join(char if char.isprintable() or char == "\t" else f"\\x{ord(char):02x}" for char in text)
    return text if len(text) <= _SHOWN and len(line) <= 4 * _SHOWN else text[:_SHOWN] + "…"
