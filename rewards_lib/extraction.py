"""Find answers in completions: boxes, answer tags, lines, numbers, code blocks, JSON.

Invariant: no text makes a function of this module raise, and each takes time linear in the text. What is found comes
with its place in the completion's text, so that a screen can mark it; what is not found comes with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal, TypeAlias

from rewards_lib.contract import Sentence, sentence
from rewards_lib.digits import fold_digits

Method: TypeAlias = Literal["text", "boxed", "answer_tag", "last_line", "last_number", "code", "json"]
METHODS: tuple[Method, ...] = ("text", "boxed", "answer_tag", "last_line", "last_number", "code", "json")
Span: TypeAlias = tuple[int, int]
"""(start, end) in code points of the completion's text."""


@dataclass(frozen=True, slots=True)
class Extraction:
    """An extracted answer, or the reason why there is none."""

    text: str | None
    span: Span | None = None
    why_none: Sentence | None = None
    """Set exactly when ``text`` is None."""

    @property
    def spans(self) -> tuple[Span, ...]:
        """The span as the tuple that a ``Score`` takes; empty when nothing was found."""
        return (self.span,) if self.span else ()


def found(text: str, start: int, end: int) -> Extraction:
    """Build the extraction of ``text[start:end]``."""
    return Extraction(text[start:end], (start, end))


def nothing(why: Sentence) -> Extraction:
    """Build the extraction that found nothing, and why."""
    return Extraction(None, None, why)


def extract(text: str, method: Method, *, after_think: bool = True, tag: str = "answer") -> Extraction:
    r"""Take the answer out of a completion's text.

    With ``after_think`` only what follows the last ``</think>`` is looked at; a ``<think>`` that is never closed hides
    everything. ``tag`` names the answer tag without its brackets.

    >>> extract(r"so \boxed{3/4}.", "boxed").text
    '3/4'
    """
    start = graded_start(text) if after_think else 0
    if start is None:
        return nothing(sentence("unclosed think: <think> is opened and never closed"))
    if method == "text":
        return found(text, start, len(text))
    if method == "answer_tag":
        return last_tag_body(text, tag, start)
    return {
        "boxed": last_box,
        "last_line": last_line,
        "last_number": last_number,
        "code": last_code,
        "json": last_json,
    }[method](text, start)


def graded_start(text: str) -> int | None:
    """Where the text after the last ``</think>`` begins: 0 without think tags, None when a ``<think>`` is unclosed."""
    end = text.rfind("</think>")
    if text.rfind("<think>") > end:
        return None
    return end + len("</think>") if end >= 0 else 0


def _trimmed(text: str, start: int, end: int) -> Span:
    """Narrow a span to what remains without white space at its ends."""
    body = text[start:end]
    left = len(body) - len(body.lstrip())
    return start + left, start + left + len(body.strip())


# --- boxes ---------------------------------------------------------------------------------------------------------

_BRACE = re.compile(r"\\.|\{+|\}+", re.DOTALL)
_BARE_ARGUMENT_END = re.compile(r"[$\s]|\\[)\]]")
_SENTENCE_END = re.compile(r"[.!?:。！？：]|\n\s*\n")
_CORRECTION = re.compile(r"\b(?:not|no|wrong|but|instead|rather|wait|actually|than)\b|[不非错而]", re.IGNORECASE)
_MAX_GAP = 40
_MAX_GAP_WORDS = 4


def last_box(text: str, start: int = 0) -> Extraction:
    r"""Find the last box: ``\boxed{...}`` or ``\fbox{...}``, braces counted, blanks before the brace, ``\boxed 7``.

    The last box that is opened decides: when it is not closed, or empty, there is no answer, whatever came earlier.
    """
    opening = _last_box_command(text, start, len(text))
    if opening is None:
        return nothing(sentence("no box"))
    span = _box_body(text, opening[1], len(text))
    if span is None:
        return nothing(sentence("the last box is not closed"))
    span = _trimmed(text, *span)
    return found(text, *span) if span[0] < span[1] else nothing(sentence("the last box is empty"))


def last_box_run(text: str, start: int = 0) -> list[Extraction]:
    r"""List the boxes of the last run: a few words at most between them (``,`` and or 和 或), no sentence end.

    Empty when ``last_box`` finds nothing. Nested boxes are no run, and neither are boxes that correct one another
    (``\boxed{2}, no, \boxed{3}``).
    """
    opening = _last_box_command(text, start, len(text))
    last = last_box(text, start)
    if opening is None or last.text is None:
        return []
    run = [last]
    while True:
        right_edge = opening[0]
        opening = _last_box_command(text, start, right_edge)
        span = _box_body(text, opening[1], right_edge) if opening else None
        if opening is None or span is None or text[span[1] : span[1] + 1] != "}":
            break
        if not _joins_boxes(text[span[1] + 1 : right_edge]):
            break
        run.insert(0, found(text, *_trimmed(text, *span)))
    return run


def _joins_boxes(gap: str) -> bool:
    if len(gap) > _MAX_GAP or _SENTENCE_END.search(gap) or _CORRECTION.search(gap):
        return False
    return len(re.findall(r"(?<!\\)\b[^\W\d_]+", gap)) <= _MAX_GAP_WORDS


def _last_box_command(text: str, start: int, end: int) -> Span | None:
    r"""The last ``\boxed`` or ``\fbox`` in ``text[start:end]``, command name only."""
    while True:
        at = max(text.rfind("\\boxed", start, end), text.rfind("\\fbox", start, end))
        if at < 0:
            return None
        stop = at + (6 if text.startswith("\\boxed", at) else 5)
        if not (text[stop : stop + 1].isascii() and text[stop : stop + 1].isalpha()):
            return at, stop
        end = stop - 1  # a longer command name, such as \boxedanswer


def _box_body(text: str, position: int, limit: int) -> Span | None:
    """The span inside the braces that open at ``position`` (blanks allowed before), None when they never close."""
    while position < limit and text[position].isspace():
        position += 1
    if not text.startswith("{", position) or position >= limit:
        return _bare_argument(text, position, limit)
    depth = 0
    for mark in _BRACE.finditer(text, position, limit):
        run = mark.group()
        if run[0] == "{":
            depth += len(run)
        elif run[0] == "}":
            if len(run) >= depth:
                return position + 1, mark.start() + depth - 1
            depth -= len(run)
    return None


def _bare_argument(text: str, position: int, limit: int) -> Span | None:
    r"""The argument of ``\boxed 7``: up to a blank, a dollar sign or the end, without closing punctuation."""
    stop = _BARE_ARGUMENT_END.search(text, position, limit)
    end = stop.start() if stop else limit
    while end > position and text[end - 1] in ".,;:!?。，；：！？":
        end -= 1
    return (position, end) if end > position else None


# --- tags, lines ---------------------------------------------------------------------------------------------------


def last_tag_body(text: str, tag: str, start: int = 0) -> Extraction:
    """Find what stands between the last ``<tag>`` that is closed and the first ``</tag>`` after it."""
    opening, closing = f"<{tag}>", f"</{tag}>"
    close = text.rfind(closing, start)
    at = text.rfind(opening, start, close) if close >= 0 else -1
    if at < 0:
        return nothing(sentence("no {opening}...{closing} pair", opening=opening, closing=closing))
    body = at + len(opening)
    return found(text, *_trimmed(text, body, text.find(closing, body)))


def last_line(text: str, start: int = 0) -> Extraction:
    """Find the last line that is not blank, without the white space around it."""
    begin, end = _trimmed(text, start, len(text))
    if begin == end:
        return nothing(sentence("the text is empty"))
    return found(
        text, *_trimmed(text, max(text.rfind("\n", begin, end), text.rfind("\r", begin, end), begin - 1) + 1, end)
    )


# --- numbers -------------------------------------------------------------------------------------------------------

_LETTER = r"[^\W\d\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]"  # Han, kana and Hangul do not glue


@cache
def _number_pattern() -> re.Pattern[str]:
    """Compile on first use: its large character classes would take a good part of the import time."""
    return re.compile(
        rf"(?<!{_LETTER})(?<!{_LETTER}\.)(?<![0-9])(?<![0-9][./])"
        r"(?:(?<![0-9)\]}])[-+])?"
        r"(?:(?>[0-9]{1,3}(?:,[0-9]{3})++(?![0-9])|[0-9]++)(?>\.[0-9]++)?|(?<![0-9])\.[0-9]++)"
        r"(?>[eE][-+]?[0-9]++)?"
        r"(?>/[0-9]++(?>\.[0-9]++)?)?"
        rf"(?!{_LETTER})(?![./][0-9])"
        r"(?>[^\S\n]?\\?%)?"
    )


def numbers(text: str, start: int = 0) -> Iterator[Extraction]:
    """Yield the numbers of a text in order, in ASCII spelling.

    Sign, thousands separators, decimals, exponent, ``a/b`` and ``%`` belong to the number. A digit glued to a letter is
    no number (``x2``, ``3rd``), and neither is a dotted version or a date.

    >>> [n.text for n in numbers("costs 1,234.50, ratio 3/4, x = -5.")]
    ['1,234.50', '3/4', '-5']
    """
    folded, places = fold_digits(text[start:])
    for match in _number_pattern().finditer(folded):
        first, last = match.span()
        if places:
            first, last = places[first], places[last - 1] + 1
        yield Extraction(match.group(), (start + first, start + last))


def last_number(text: str, start: int = 0) -> Extraction:
    """Find the last number of the text (see ``numbers``), in ASCII spelling."""
    last = nothing(sentence("no number"))
    for number in numbers(text, start):
        last = number
    return last


# --- code blocks ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """A fenced code block."""

    language: str
    """The first word after the fence as written; empty when there is none."""
    code: str
    """Without the indentation that its opening fence has."""
    span: Span
    """Where the code stands, fences left out."""
    closed: bool
    """False when the text ends before the closing fence."""


_FENCE = re.compile(r" *(?P<fence>`{3,}|~{3,})[ \t]*(?P<info>[^\r\n]*)")
_ITEM = re.compile(r" *(?:[-*+]|\d{1,9}[.)]) {1,4}(?=\S)")
"""The mark of a list item and what stands before its text; more blanks would be code."""
_MOST_BLANKS = 3
"""Before a fence, beyond the text of the list item that it stands in."""


def code_blocks(text: str, start: int = 0) -> list[CodeBlock]:
    """List the fenced code blocks in order, by CommonMark's rules.

    A fence is three or more backticks or tildes, indented by at most three blanks, in a list item by three more than
    its text; it is closed by at least as many of the same alone on their line, or by the end of the text.
    """
    blocks: list[CodeBlock] = []
    opened: re.Match[str] | None = None
    body = position = start
    item = 0
    while position < len(text):
        line_end = text.find("\n", position) + 1 or len(text)
        fence = _FENCE.match(text, position, line_end)
        blanks = fence.start("fence") - position if fence else 0
        if fence is None or blanks > item + _MOST_BLANKS:
            item = item if opened else _item_text(text, position, line_end, item)
        elif opened is None:
            if not (fence["fence"][0] == "`" and "`" in fence["info"]):
                opened, body, item = fence, line_end, item if blanks >= item else 0
        elif fence["fence"].startswith(opened["fence"]) and not fence["info"].strip():
            blocks.append(_block(text, opened, body, position, closed=True))
            opened = None
        position = line_end
    if opened is not None:
        blocks.append(_block(text, opened, body, len(text), closed=False))
    return blocks


def _item_text(text: str, begin: int, end: int, item: int) -> int:
    """Where in its lines the text of the list item stands that a line begins or goes on; 0 where it is in none."""
    first = next((at for at in range(begin, end) if text[at] not in " \r\n"), None)
    if first is None:
        return item
    indent = first - begin
    mark = _ITEM.match(text, begin, end) if indent <= item + _MOST_BLANKS else None
    if mark:
        return mark.end() - begin
    return item if indent >= item else 0


def _block(text: str, fence: re.Match[str], start: int, end: int, *, closed: bool) -> CodeBlock:
    words = fence["info"].split(None, 1)
    indent = fence.start("fence") - fence.start()
    code = text[start:end]
    if indent:  # a fence inside a list item: its code is indented as the fence is
        code = re.sub(rf"^ {{1,{indent}}}", "", code, flags=re.MULTILINE)
    return CodeBlock(words[0] if words else "", code, (start, end), closed)


def last_code(text: str, start: int = 0) -> Extraction:
    """Find the code of the last fenced block; an unclosed last block is no answer."""
    blocks = code_blocks(text, start)
    if not blocks:
        return nothing(sentence("no fenced code block"))
    if not blocks[-1].closed:
        return nothing(sentence("the last code block is not closed"))
    return Extraction(blocks[-1].code, blocks[-1].span)


# --- JSON ----------------------------------------------------------------------------------------------------------

_TRIES = 4  # closing brackets of prose after the JSON that may be skipped; a bound keeps the search linear


def last_json(text: str, start: int = 0) -> Extraction:
    """Find the text of the last closed ``json`` block, else of the last balanced object or array.

    Whether it is strict JSON is not looked at: an invalid last object is the answer, not a
    valid one before it.
    """
    blocks = [block for block in code_blocks(text, start) if block.closed and block.language.lower() == "json"]
    if blocks:
        return Extraction(blocks[-1].code, blocks[-1].span)
    end = len(text)
    for _ in range(_TRIES):
        end = max(text.rfind("}", start, end), text.rfind("]", start, end))
        if end < 0:
            break
        begin = _matching_bracket(text, start, end)
        if begin is not None:
            return found(text, begin, end + 1)
    return nothing(sentence("no JSON object or array"))


_JSON_MARK = re.compile(r'["\[\]{}]')


def _matching_bracket(text: str, start: int, end: int) -> int | None:
    """Walk back from the closing bracket at ``end`` to its opening one, over strings; None when it has none."""
    depth, in_string = 1, False
    for at in _marks_backwards(text, start, end):
        mark = text[at]
        if mark == '"':
            in_string = in_string != (not _is_escaped(text, start, at))
        elif not in_string:
            depth += 1 if mark in "]}" else -1
            if depth == 0:
                return at
    return None


def _marks_backwards(text: str, start: int, end: int) -> Iterator[int]:
    """Yield the places of quotes and brackets from the right, a piece at a time to keep memory small."""
    while end > start:
        begin = max(start, end - 65536)
        yield from reversed([mark.start() for mark in _JSON_MARK.finditer(text, begin, end)])
        end = begin


def _is_escaped(text: str, start: int, at: int) -> bool:
    """Tell whether an odd number of backslashes stands before ``at``."""
    begin = at
    while begin > start and text[begin - 1] == "\\":
        begin -= 1
    return (at - begin) % 2 == 1
