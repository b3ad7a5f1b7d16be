"""Learning a solution by heart: tokens of it are hidden at random, to be written again.

Invariant: the same code, share and seed hide the same tokens, and every hidden token can be told right from wrong by
itself. Comments, docstrings, brackets and separators are never hidden: nobody learns from guessing a comma.
"""

from __future__ import annotations

import ast
import io
import keyword
import random
import tokenize
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from rewards_lib.errors import InputError

MIN_SHARE, MAX_SHARE = 0.1, 0.6
_SEPARATORS = frozenset("()[]{}:,.;@=")


class TokenKind(StrEnum):
    """What a hidden token is, as a hint."""

    NAME = "name"
    KEYWORD = "keyword"
    NUMBER = "number"
    TEXT = "text"
    OPERATOR = "operator"


@dataclass(frozen=True, slots=True)
class Hidden:
    """One hidden token."""

    number: int
    """From 1, in reading order."""
    start: int
    """Where it stands in the code, in code points."""
    end: int
    text: str
    kind: TokenKind


@dataclass(frozen=True, slots=True)
class Cloze:
    """A code with hidden tokens."""

    code: str
    hidden: tuple[Hidden, ...]
    """In reading order."""
    candidates: int
    """How many tokens could have been hidden."""

    def segments(self) -> list[str | Hidden]:
        """The code cut at its hidden tokens: texts and hidden tokens in turn, which together are the code."""
        found: list[str | Hidden] = []
        place = 0
        for token in self.hidden:
            found += [self.code[place : token.start], token]
            place = token.end
        return [*found, self.code[place:]]


def hide_tokens(code: str, *, share: float, seed: int) -> Cloze:
    """Hide a share (0.1 to 0.6) of a Python code's tokens, at least one, drawn by ``seed``.

    Raises InputError for a share out of range and for code that is not Python.
    """
    if not MIN_SHARE <= share <= MAX_SHARE:
        raise InputError(
            "A share of {share} cannot be hidden; it must lie between {least} and {most}.",
            share=share, least=MIN_SHARE, most=MAX_SHARE,
        )  # fmt: skip
    tokens = list(_candidates(code))
    count = min(len(tokens), max(1, round(share * len(tokens))))
    chosen = sorted(random.Random(seed).sample(tokens, count))  # noqa: S311 - an exercise, no secret
    hidden = tuple(
        Hidden(number, start, end, code[start:end], _kind(code[start:end]))
        for number, (start, end) in enumerate(chosen, 1)
    )
    return Cloze(code, hidden, len(tokens))


def is_right(token: Hidden, answer: str) -> bool:
    """Tell whether an answer is the hidden token; numbers and texts by their value, however they are written.

    >>> is_right(Hidden(1, 0, 3, "1.0", TokenKind.NUMBER), " 1. ")
    True
    """
    written = answer.strip()
    if written == token.text:
        return True
    if token.kind not in (TokenKind.NUMBER, TokenKind.TEXT):
        return False
    value, wanted = _value(written), _value(token.text)
    return value is not None and type(value) is type(wanted) and value == wanted


def check_answers(cloze: Cloze, answers: Mapping[int, str]) -> dict[int, bool]:
    """Judge every hidden token by its number; what was not answered is wrong."""
    return {token.number: is_right(token, answers.get(token.number, "")) for token in cloze.hidden}


def _candidates(code: str) -> Iterator[tuple[int, int]]:
    """Start and end of every token that may be hidden."""
    starts = [0]
    for line in code.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    docstrings = _docstring_lines(code)
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(code).readline))
    except (tokenize.TokenError, SyntaxError) as error:
        raise InputError("The code is not Python: {reason}.", reason=str(error)) from error
    for token in tokens:
        is_operator = token.type == tokenize.OP and token.string not in _SEPARATORS and token.string != "->"
        is_text = token.type == tokenize.STRING and token.start[0] not in docstrings
        if is_operator or is_text or token.type in (tokenize.NAME, tokenize.NUMBER):
            yield starts[token.start[0] - 1] + token.start[1], starts[token.end[0] - 1] + token.end[1]


def _docstring_lines(code: str) -> set[int]:
    """The lines in which docstrings begin."""
    try:
        tree = ast.parse(code)
    except SyntaxError as error:
        raise InputError("The code is not Python: {reason}.", reason=str(error)) from error
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return {
        node.body[0].lineno for node in ast.walk(tree)
        if isinstance(node, kinds) and node.body and ast.get_docstring(node, clean=False) is not None
    }  # fmt: skip


def _kind(text: str) -> TokenKind:
    if keyword.iskeyword(text):
        return TokenKind.KEYWORD
    if text.isidentifier():
        return TokenKind.NAME
    if text[0].isdigit() or (text[0] == "." and text[1:2].isdigit()):
        return TokenKind.NUMBER
    return TokenKind.TEXT if text[-1] in "\"'" else TokenKind.OPERATOR


def _value(text: str) -> object:
    """The value of a literal; None for whatever is none."""
    try:
        value: object = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return value
