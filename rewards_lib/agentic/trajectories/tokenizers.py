"""Texts into tokens: by white space, by byte, or with a tokenizer.json.

Invariant: the tokens of a text, joined, are the text, but for bytes that are no character by themselves.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True, slots=True)
class TokenPiece:
    """One token."""

    text: str
    id: int | None = None
    """None where the tokenizer has no vocabulary."""


SplitTexts: TypeAlias = Callable[[Sequence[str]], list[list[TokenPiece]]]
"""Splits texts, each by itself: one list of tokens for each text, in order."""

_WORDS = re.compile(r"<\|\w+\|>|[^\S\n]*(?:\w+|[^\w\s])|\s")  # line breaks stand alone: pieces of a text end with them


def split_by_words(texts: Sequence[str]) -> list[list[TokenPiece]]:
    """Split before white space and around signs, as a reader would; marks such as ``<|im_end|>`` stay whole.

    >>> [piece.text for piece in split_by_words(["print(17 * 23)"])[0]]
    ['print', '(', '17', ' *', ' 23', ')']
    """
    return [[TokenPiece(word) for word in _WORDS.findall(text)] for text in texts]


def split_by_bytes(texts: Sequence[str]) -> list[list[TokenPiece]]:
    r"""Split into the bytes of UTF-8, whose numbers are the ids; a byte that is no character shows its number.

    >>> [(piece.text, piece.id) for piece in split_by_bytes(["né"])[0]]
    [('n', 110), ('\\xc3', 195), ('\\xa9', 169)]
    """
    return [[TokenPiece(_byte(byte), byte) for byte in text.encode("utf-8", "surrogatepass")] for text in texts]


def _byte(byte: int) -> str:
    return chr(byte) if byte < 128 else f"\\x{byte:02x}"


BUILT_IN: dict[str, SplitTexts] = {"words": split_by_words, "bytes": split_by_bytes}
"""Name -> tokenizer that needs no file."""


def split_with_file(item: dict[str, Any]) -> list[list[list[Any]]]:
    """Split ``item["texts"]`` with the tokenizer whose tokenizer.json is ``item["tokenizer"]``.

    For ``Executor.run_items``: a file of others may hold a pattern that never ends, and what its reader raises is no
    ordinary exception. One list for each text, one ``[text, id]`` for each token.
    """
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_str(item["tokenizer"])
    return [_encoded(tokenizer, text) for text in item["texts"]]


def _encoded(tokenizer: Any, text: str) -> list[list[Any]]:
    encoding = tokenizer.encode(text, add_special_tokens=False)
    found: list[list[Any]] = []
    end_before = 0
    for number, (start, end), token in zip(encoding.ids, encoding.offsets, encoding.tokens, strict=True):
        # Several tokens may share one character, and some tokenizers leave white space out of the offsets.
        begin = min(start, end_before) if start > end_before else max(start, end_before)
        found.append([text[begin:end] if end > begin else token, number])
        end_before = max(end_before, end)
    return found


def pieces_from(rows: Sequence[Sequence[Sequence[Any]]]) -> list[list[TokenPiece]]:
    """Read what ``split_with_file`` gave."""
    return [[TokenPiece(str(text), int(number)) for text, number in row] for row in rows]
