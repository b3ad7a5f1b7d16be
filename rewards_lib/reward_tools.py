"""What reward code need not write again: answers out of completions, mathematical equality, safe arithmetic.

Reward code imports it as ``reward_tools``, inside the executor and in exported packages. Invariant: no text makes a
function of this module raise, each takes time linear in the text or within a bound, and what is not there is None.
"""

from __future__ import annotations

from fractions import Fraction as _Fraction
from typing import Any as _Any

from rewards_lib import contract as _contract
from rewards_lib import extraction as _extraction
from rewards_lib import strict_json as _strict_json

__all__ = [
    "after_think", "boxed", "calculate", "code_blocks", "completion_text", "json_value", "last_code", "last_line",
    "last_number", "math_equal", "numbers", "tag", "to_number",
]  # fmt: skip

_MAX_EXPRESSION = 2_000


def completion_text(completion: _Any) -> str:
    """The text of a completion's last assistant message, whichever shape the trainer sends; empty when there is none.

    >>> completion_text({"messages": [{"role": "assistant", "content": "42"}]})
    '42'
    """
    return _contract.Completion(completion).text


def after_think(text: str) -> str | None:
    """What follows the last ``</think>``: the whole text without think tags, None when a ``<think>`` is never closed.

    >>> after_think("<think>hm</think> 42")
    ' 42'
    """
    start = _extraction.graded_start(text)
    return None if start is None else text[start:]


def boxed(text: str) -> str | None:
    r"""What the last ``\boxed{...}`` holds, braces counted; None when it is missing, empty or never closed.

    >>> boxed(r"so \boxed{\frac{1}{2}}")
    '\\frac{1}{2}'
    """
    return _extraction.last_box(text).text


def tag(text: str, name: str = "answer") -> str | None:
    """What stands in the last ``<name>...</name>``, without white space around it; None when there is no such pair.

    >>> tag("<answer> 42 </answer>")
    '42'
    """
    return _extraction.last_tag_body(text, name).text


def last_line(text: str) -> str | None:
    """The last line that is not blank, without white space around it; None when there is none."""
    return _extraction.last_line(text).text


def numbers(text: str) -> list[str]:
    """The numbers of a text in order, in ASCII spelling: sign, thousands separators, ``a/b`` and ``%`` belong to them.

    >>> numbers("from 1,234.50 to -5, or 3/4")
    ['1,234.50', '-5', '3/4']
    """
    return [number.text for number in _extraction.numbers(text) if number.text is not None]


def last_number(text: str) -> float | None:
    """The last number of a text as a float; None when there is none, or it is too large for one.

    >>> last_number("costs 1,234.50 in total")
    1234.5
    """
    last = _extraction.last_number(text).text
    value = None if last is None else to_number(last)
    try:
        return None if value is None else float(value)
    except OverflowError:
        return None


def to_number(text: str) -> _Fraction | None:
    """The exact value of a text that is one number, as ``numbers`` lists them; None for anything else.

    >>> to_number("25%"), to_number("1,000"), to_number("1e-3")
    (Fraction(1, 4), Fraction(1000, 1), Fraction(1, 1000))
    """
    from rewards_lib.mathematics.numbers import read_number

    return read_number(text)


def code_blocks(text: str, *languages: str) -> list[str]:
    """The code of the fenced blocks in order; with ``languages`` of those that name one of them, in any case.

    A block that is never closed counts to the end of the text.
    """
    wanted = {language.lower() for language in languages}
    blocks = _extraction.code_blocks(text)
    return [block.code for block in blocks if not wanted or block.language.lower() in wanted]


def last_code(text: str, *languages: str) -> str | None:
    """The code of the last fenced block, of one of the ``languages`` where some are given; None when there is none."""
    blocks = code_blocks(text, *languages)
    return blocks[-1] if blocks else None


def json_value(text: str) -> _Any:
    """The value of the last closed ``json`` block, else of the last balanced object or array; None when it is not JSON.

    >>> json_value('Here: {"a": [1, 2]}')
    {'a': [1, 2]}
    """
    from rewards_lib.errors import InputError
    from rewards_lib.strict_json import read_json

    found = _extraction.last_json(text).text
    try:
        return None if found is None else read_json(found, unique_keys=True)
    except InputError:
        return None


def math_equal(
    answer: str, truth: str | int | float, *, percent: str = "either", rounding_digits: int = 6
) -> bool | None:
    r"""Whether two mathematical answers are equal; None when that cannot be decided: no answer to give a reward for.

    As the preset ``math_accuracy`` compares them, without its last layer, computer algebra. ``percent="strict"`` tells
    ``28\%`` and ``28`` apart; with ``rounding_digits=2`` 0.33 is a third.

    >>> math_equal(r"\frac{3}{4}", "0.75"), math_equal("0.33", "1/3")
    (True, False)
    """
    from rewards_lib.mathematics.equality import Percent, Verdict, decide

    written = truth if isinstance(truth, str) else _strict_json.write_json(truth)
    sign: Percent = "strict" if percent == "strict" else "either"
    verdict = decide(written, answer, percent=sign, rounding_digits=rounding_digits, use_algebra=False).verdict
    return {Verdict.EQUAL: True, Verdict.DIFFERENT: False}.get(verdict)


def calculate(expression: str) -> _Fraction | None:
    r"""The exact value of arithmetic: ``+ - * / ^ ! ( )``, fractions, LaTeX too; None for anything else or too large.

    Nothing is evaluated as code.

    >>> calculate("6/(1-3/4)"), calculate("9^9^9^9"), calculate("__import__('os')")
    (Fraction(24, 1), None, None)
    """
    from rewards_lib.mathematics.exact import exact_value
    from rewards_lib.mathematics.expression import OutOfDomainError, TooLargeError, UnreadableError, parse
    from rewards_lib.mathematics.text import normalise

    if len(expression) > _MAX_EXPRESSION:
        return None
    try:
        return exact_value(parse(normalise(expression.replace("**", "^"))))
    except (OutOfDomainError, TooLargeError, UnreadableError, RecursionError):
        return None
