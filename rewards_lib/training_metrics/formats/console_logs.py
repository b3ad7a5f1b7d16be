"""Console output with metrics in it: verl's ``step:12 - key:value - ...`` and TRL's printed dictionaries.

A job log holds much else; lines without metrics are passed over. Nothing is ever evaluated as code.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from rewards_lib.contract import Sentence, sentence
from rewards_lib.training_metrics.cells import parse_cell
from rewards_lib.training_metrics.formats.reading import Reading, gather_records
from rewards_lib.training_metrics.sniffing import HEAD_BYTES, TextSource

_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_VERL = re.compile(r"\bstep:(\d{1,18}) - (.+)")
"""More digits count no steps, and Python refuses to read thousands of them."""
_PRINTED = re.compile(r"\{\s*'[^']+'\s*:")
_LIKELY = re.compile(rb"step:\d+ - |\{'[\w/]+': ")
_LINE_END = re.compile(rb"[\r\n]")
_WRAPPED = re.compile(r"(?<=[:\s])(?:(?:np|numpy)\.\w+|tensor)\(([^(),]*)(?:, \w+=[^()]*)?\)")
"""Numbers of numpy and torch inside a printed dictionary."""
_MOST_CHARACTERS = 100_000
"""Of a line that is read as a dictionary."""


def is_console_log(head: bytes) -> bool:
    """Whether the beginning of a text holds a line of verl or of TRL."""
    if b"step:" not in head and b"{'" not in head:
        return False
    text = head[:HEAD_BYTES].decode("utf-8", "ignore")
    return any(_verl_row(line) or _printed_row(line) for line in _lines(text))


def has_metric_lines(text: bytes) -> bool:
    """Whether anywhere in a text a line of verl or of TRL stands."""
    place = 0
    while likely := _LIKELY.search(text, place):
        # a pattern for the whole line would look at its beginning again and again
        begin = max(place, *(text.rfind(sign, place, likely.start()) + 1 for sign in (b"\r", b"\n")))
        ends = _LINE_END.search(text, likely.end())
        place = ends.end() if ends else len(text)
        if is_console_log(text[begin:place]):
            return True
    return False


def read_console_log(source: TextSource) -> Reading:
    """Read all lines with metrics; a line that is cut or holds no number is told with its number."""
    with source.open() as stream:
        text = stream.read().decode("utf-8", "replace")
    rows: list[tuple[int, dict[str, object]]] = []
    cut: list[tuple[int, str]] = []
    overlong: list[int] = []
    kind = "verl"
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > _MOST_CHARACTERS and _VERL.search(line, 0, _MOST_CHARACTERS):
            overlong.append(number)
        for part in _lines(line):
            if found := _verl_row(part):
                row, odd = found
                rows.append((number, row))
                cut += [(number, one) for one in odd]
            elif printed := _printed_row(part):
                kind = "TRL"
                rows.append((number, printed))
    names, numbers, notes = gather_records(rows)
    told = sentence("{kind} console log, {encoding}, {columns} metrics, {rows} lines with metrics",
                    kind=kind, encoding=source.encoding, columns=len(names), rows=len(rows))  # fmt: skip
    return Reading(names, numbers, told, (*_cut_notes(cut), *_overlong_notes(overlong), *notes))


def _lines(text: str) -> Iterator[str]:
    """Lines without colours; a progress bar writes over its line with carriage returns."""
    for line in re.split(r"[\r\n]+", text):
        if len(line) <= _MOST_CHARACTERS:
            yield _ANSI.sub("", line)


def _verl_row(line: str) -> tuple[dict[str, object], list[str]] | None:
    """The metrics of a line of verl, and its parts that are none; the name may hold colons, the value none."""
    match = _VERL.search(line)
    if match is None:
        return None
    row: dict[str, object] = {"step": int(match[1])}
    odd = []
    for part in match[2].split(" - "):
        name, colon, value = part.strip().rpartition(":")
        if not colon or not name or parse_cell(value.strip()) is None:
            odd.append(part.strip())
        else:
            row[name] = value.strip()
    return (row, odd) if len(row) > 1 else None


def _printed_row(line: str) -> dict[str, object] | None:
    """A printed dictionary with text keys and at least one number, read as a literal."""
    end = line.rfind("}") + 1
    match = _PRINTED.search(line, 0, end)
    if match is None:
        return None
    # a literal knows neither numbers of numpy nor nan and inf
    text = re.sub(r"(?<=[:,\s])(-?(?:nan|inf))(?=\s*[,}])", r"'\1'", _WRAPPED.sub(r"\1", line[match.start() : end]))
    try:
        row = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    if not isinstance(row, dict) or not all(isinstance(key, str) for key in row) or "train_runtime" in row:
        return None
    numeric = any(
        isinstance(v, int | float) or (isinstance(v, str) and parse_cell(v) is not None) for v in row.values()
    )
    return row if numeric else None


def _cut_notes(cut: list[tuple[int, str]]) -> list[Sentence]:
    if not cut:
        return []
    line, text = cut[0]
    return [
        sentence(
            "Parts of lines that are no metric: {count}, the first {text!r} in line {line}.",
            count=len(cut),
            text=text[:40],
            line=line,
        )
    ]


def _overlong_notes(lines: list[int]) -> list[Sentence]:
    if not lines:
        return []
    return [
        sentence(
            "Lines with metrics that are too long to be read: {count}, the first is line {line}.",
            count=len(lines),
            line=lines[0],
        )
    ]
