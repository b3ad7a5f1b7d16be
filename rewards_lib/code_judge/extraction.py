"""Which program a completion holds.

Invariant: code in a block that is tagged with another language is never run, and nothing inside ``<think>`` is looked
at; where a completion holds no program the answer says so, it is never an empty program.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from rewards_lib.code_judge.languages import Language
from rewards_lib.contract import Sentence, sentence
from rewards_lib.extraction import code_blocks, graded_start

_TAG_END = re.compile(r"[,{:;}\s]")


@dataclass(frozen=True, slots=True)
class Program:
    """The program of a completion, or why there is none."""

    code: str | None
    why: Sentence | None = None
    """Why there is no code."""
    incomplete_fence: bool = False
    """The block that holds it was never closed: the completion may have been cut off."""
    whole_text: bool = False
    """Taken without a fence; it counts as a program only if it is valid in the language."""


def extract_program(completion: str, language: Language) -> Program:
    """Take the program out of a completion.

    The last block tagged with the language (or one of its aliases), else the last block without a tag; for Python,
    where there is no block at all, the whole text.
    """
    start = graded_start(completion)
    if start is None:
        return Program(None, sentence("<think> is opened and never closed"))
    blocks = code_blocks(completion, start)
    own = [block for block in blocks if is_tag_of(language, block.language)]
    untagged = [block for block in blocks if not block.language]
    for block in (*own[-1:], *untagged[-1:]):
        if not block.code.strip():
            return Program(None, sentence("the code block is empty"))
        return Program(block.code.rstrip("\r\n"), incomplete_fence=not block.closed)
    if blocks:
        tags = ", ".join(dict.fromkeys(block.language for block in blocks))
        return Program(None, sentence("every code block is tagged with another language: {tags}", tags=tags))
    text = completion[start:].strip()
    if text and language.takes_plain_text:
        return Program(text, whole_text=True)
    return Program(None, sentence("no code block"))


def is_tag_of(language: Language, tag: str) -> bool:
    """Whether a fence's first word names a language: ``cpp``, ``C++``, ``{.python}``, ``py:main.py``."""
    word = _TAG_END.split(tag.lower().removeprefix("{").removeprefix("."), maxsplit=1)[0]
    return word in (language.name, *language.aliases)
