"""The preset ``countdown``: reach a number with the given numbers, each used once.

Invariant: arithmetic is exact and read by an own parser; nothing is evaluated as code.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from rewards_lib.contract import Completion, JsonObject, Sample, Score, sentence
from rewards_lib.digits import fold_digits
from rewards_lib.extraction import Extraction, graded_start, last_box, last_tag_body
from rewards_lib.mathematics.numbers import read_number
from rewards_lib.presets.grading import Missing, no_answer, read_field, shown, unusable
from rewards_lib.presets.parameters import AFTER_THINK, field_path, number
from rewards_lib.presets.registry import Bilingual, Example, preset

_MAX_CHARACTERS, _MAX_DEPTH = 1_000, 50
_TOKEN = re.compile(r"\s*(\d+(?:\.\d+)?|[-+*/()])")
_FOLDED = (
    ("×", "*"),
    ("÷", "/"),
    ("·", "*"),
    ("\\times", "*"),
    ("\\cdot", "*"),
    ("\\div", "/"),
    ("（", "("),
    ("）", ")"),
)


def read_arithmetic(text: str) -> tuple[Fraction | None, list[Fraction]] | None:
    """Read an expression of ``+ - * / ( )`` and numbers: (value, numbers used); None when it is anything else.

    The value is None where the expression divides by zero. A number is negative where its own sign stands before it.

    >>> read_arithmetic("6/(1-3/4)")
    (Fraction(24, 1), [Fraction(6, 1), Fraction(1, 1), Fraction(3, 1), Fraction(4, 1)])
    """
    for old, new in _FOLDED:
        text = text.replace(old, new)
    text = fold_digits(text)[0]
    if len(text) > _MAX_CHARACTERS:
        return None
    tokens, position = [], 0
    text = text.strip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            return None
        tokens.append(match[1])
        position = match.end()
    reader = _Reader(tokens)
    try:
        value = reader.sum(0)
    except _MalformedError:
        return None
    return (value, reader.used) if reader.position == len(tokens) else None


class _MalformedError(Exception):
    """The tokens are no expression."""


class _Reader:
    """Recursive descent; a division by zero makes the value None and reading goes on."""

    def __init__(self, tokens: Sequence[str]) -> None:
        self.tokens, self.position = tokens, 0
        self.used: list[Fraction] = []

    def peek(self) -> str:
        return self.tokens[self.position] if self.position < len(self.tokens) else ""

    def take(self) -> str:
        self.position += 1
        return self.tokens[self.position - 1]

    def sum(self, depth: int) -> Fraction | None:
        value = self.product(depth)
        while self.peek() in ("+", "-"):
            sign = 1 if self.take() == "+" else -1
            term = self.product(depth)
            value = None if value is None or term is None else value + sign * term
        return value

    def product(self, depth: int) -> Fraction | None:
        value = self.factor(depth)
        while self.peek() in ("*", "/"):
            operator = self.take()
            other = self.factor(depth)
            if value is None or other is None or (operator == "/" and other == 0):
                value = None
            else:
                value = value * other if operator == "*" else value / other
        return value

    def factor(self, depth: int) -> Fraction | None:
        first = self.peek()
        if depth > _MAX_DEPTH or first in ("", ")", "*", "/"):
            raise _MalformedError
        self.take()
        if first in ("-", "+"):
            is_literal = self.peek()[:1].isdigit()
            value = self.factor(depth + 1)
            if is_literal and first == "-":
                self.used[-1] = -self.used[-1]
            return value if value is None or first == "+" else -value
        if first != "(":
            self.used.append(Fraction(first))
            return self.used[-1]
        value = self.sum(depth + 1)
        if self.peek() != ")":
            raise _MalformedError
        self.take()
        return value


@preset(
    name="countdown",
    label=Bilingual("Countdown", "数字游戏"),
    summary=Bilingual(
        "1 when the expression reaches the target with exactly the given numbers.", "用且仅用给定的数字算出目标值得 1。"
    ),
    parameters=(
        field_path(
            "numbers_field",
            Bilingual("Numbers field", "数字字段"),
            Bilingual("Dotted path below sample.extra to the given numbers.", "给定数字在 sample.extra 下的点分路径。"),
            "numbers",
        ),
        field_path(
            "target_field",
            Bilingual("Target field", "目标字段"),
            Bilingual("Dotted path below sample.extra to the target.", "目标值在 sample.extra 下的点分路径。"),
            "target",
        ),
        number(
            "format_score",
            Bilingual("Well formed but wrong", "格式正确但结果错误"),
            Bilingual(
                "Reward of a readable expression that misses the target or uses other numbers. A trailing = "
                "result is cut off and "
                "not believed.",
                "表达式可读但未达目标或用了其他数字时的奖励。结尾的“= 结果”会被去掉且不予采信。",
            ),
            0.1,
        ),
        AFTER_THINK,
    ),
    examples=(
        Example(
            (1.0, 1.0, 1.0, 0.1, 0.1),
            tuple(f"<answer>{e}</answer>" for e in ("1*2*3*4", "(1+2+3)*4", "(1+2+3)*4 = 24", "24", "1*2*3")),
            extra={"numbers": [1, 2, 3, 4], "target": 24},
            prompt="Make 24 with 1, 2, 3, 4.",
        ),
        Example(
            (0.1, 0.1, 0.0, 0.0, 0.0),
            (
                "<answer>12+3*4</answer>",
                "<answer>4*3*2*1+0</answer>",
                "<answer>9**9**9</answer>",
                r"\boxed{abs(24)}",
                "1*2*3*4",
            ),
            extra={"numbers": [1, 2, 3, 4], "target": 24},
        ),
        Example(
            (1.0, 0.1), (r"\boxed{6 ÷ (1−3÷4)}", r"\boxed{6/(4-1-3)}"), extra={"numbers": [1, 3, 4, 6], "target": 24}
        ),
        Example(
            (1.0, 1.0, 0.1),
            ("<answer>5+(-3)</answer>", "<answer>-3+5</answer>", "<answer>5-3</answer>"),
            extra={"numbers": [-3, 5], "target": 2},
        ),
        Example((None,), ("<answer>1+1</answer>",), extra={"numbers": [1, 1]}),
        Example((None,), ("<answer>1+1</answer>",), extra={"numbers": "1, 1", "target": 2}),
    ),
)
def countdown(params: JsonObject, sample: Sample, completion: Completion) -> Score:
    """Score 1 for the target reached with each given number used once, ``format_score`` for a readable wrong try."""
    given = _numbers(params["numbers_field"], read_field(sample, params["numbers_field"]))
    target = _numbers(params["target_field"], [read_field(sample, params["target_field"])])
    if isinstance(given, Score):
        return given
    if isinstance(target, Score):
        return target
    part = _expression(completion.text, params["after_think"])
    if part.text is None:
        return no_answer({"mismatch": 0.0, "extract": "answer_tag"}, part)
    read = read_arithmetic(re.sub(r"=\s*-?[\d.,]+\s*$", "", part.text))
    if read is None:
        return Score.scored(0.0, sentence("{answer} is no expression", answer=shown(part.text)), spans=part.spans)
    value, used = read
    if not _uses_exactly(used, given):
        why = sentence("{answer} does not use exactly the given numbers", answer=shown(part.text))
        return Score.scored(params["format_score"], why, spans=part.spans)
    if value != target[0]:
        why = sentence("{answer} is not {target}", answer=shown(part.text), target=str(target[0]))
        return Score.scored(params["format_score"], why, spans=part.spans)
    why = sentence("{answer} is {target}", answer=shown(part.text), target=str(target[0]))
    return Score.scored(1.0, why, spans=part.spans)


def _uses_exactly(used: Sequence[Fraction], given: Sequence[Fraction]) -> bool:
    """Tell whether each given number is used once; a negative one with its sign, while any may be negated besides."""
    signed, wanted = Counter(used), Counter(given)
    return Counter(map(abs, used)) == Counter(map(abs, given)) and all(
        signed[number] >= count for number, count in wanted.items() if number < 0
    )


def _expression(text: str, after_think: bool) -> Extraction:
    start = graded_start(text) if after_think else 0
    if start is None:
        return Extraction(None, None, sentence("unclosed think: <think> is opened and never closed"))
    part = last_tag_body(text, "answer", start)
    return part if part.text is not None else last_box(text, start)


def _numbers(path: str, value: object) -> list[Fraction] | Score:
    if isinstance(value, Missing) or value is None or value == [None]:
        return Score.failed(sentence("no ground truth: sample.extra.{path} is missing", path=path))
    entries = value if isinstance(value, (list, tuple)) else []
    read = [
        None if isinstance(e, bool) or not isinstance(e, (int, float, str)) else read_number(str(e)) for e in entries
    ]
    numbers = [entry for entry in read if entry is not None]
    if not numbers or len(numbers) < len(read):
        return unusable(path, sentence("it must hold numbers"))
    return numbers
