"""Tables whose cells are divided by blanks, full-width commas or the bars of a Markdown table: rewritten with tabs.

Invariant: every line stays the line it was, so that notes name it rightly; only a text that is nothing else is touched.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import islice

from rewards_lib.contract import Sentence, sentence
from rewards_lib.training_metrics.cells import parse_cell
from rewards_lib.training_metrics.csv_header import DELIMITERS
from rewards_lib.training_metrics.sniffing import HEAD_BYTES, TextSource

_RULE = re.compile(r"[|+:\-=\s]+")
_BARRED = re.compile(r"\s*\|(.*)\|\s*")

Split = Callable[[str], list[str]]


def _by_bars(line: str) -> list[str]:
    found = _BARRED.fullmatch(line)
    return [cell.strip() for cell in found[1].split("|")] if found else []


_SPLITS: tuple[tuple[Sentence, Split], ...] = (
    (sentence("vertical bar"), _by_bars),
    (sentence("full-width comma"), lambda line: line.split("，")),
    (sentence("blanks"), lambda line: re.split(r"\s{2,}", line.strip())),
    (sentence("blanks"), str.split),
)


def tabulated(source: TextSource) -> TextSource:
    """The text with tabs between its cells where blanks, full-width commas or bars divide them; else as it is.

    Only a header of several cells over a row of as many, half of them numbers, is taken for such a table.
    """
    with source.open() as stream:
        head = stream.read(HEAD_BYTES).decode("utf-8", "ignore")
    written = (found[0] for found in re.finditer(r"[^\r\n]+", head))
    lines = list(islice((line for line in written if line.strip() and not _RULE.fullmatch(line)), 2))
    barred = all(map(_BARRED.fullmatch, lines))
    if len(lines) < 2 or (any(sign in lines[0].strip() for sign in DELIMITERS) and not barred):
        return source
    for told, split in _SPLITS:
        names, row = map(split, lines)
        if 1 < len(names) == len(row) and 2 * sum(parse_cell(cell) is not None for cell in row) >= len(row):
            return _with_tabs(source, split, told)
    return source


def _with_tabs(source: TextSource, split: Split, told: Sentence) -> TextSource:
    def rewritten(found: re.Match[str]) -> str:
        return "" if _RULE.fullmatch(found[0]) else "\t".join(split(found[0]) or [found[0]])

    with source.open() as stream:
        text = stream.read().decode("utf-8", "replace")
    return replace(source, data=re.sub(r"[^\r\n]+", rewritten, text).encode("utf-8"), start=0, divided_by=told)
