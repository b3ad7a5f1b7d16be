r"""Expressions: a parser for answers as models write them.

Invariant: a text is read whole or not at all, and nesting is bounded before it is followed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

MAX_DEPTH = 80
MAX_DIGITS = 20_000
MAX_EXPONENT = 5_000


class UnreadableError(ValueError):
    """The text is no expression that the parser knows."""


class TooLargeError(ArithmeticError):
    """A value is too large, or an expression too deep, to be worth computing."""


class OutOfDomainError(ArithmeticError):
    """The expression has no value there: a division by zero, a root or logarithm that leaves the reals."""


@dataclass(frozen=True, slots=True)
class Node:
    """One operation: its kind, what it is about (a number, a name), and its operands."""

    kind: str
    """``num sym add mul div neg pow call fact const``."""
    value: Any = None
    """The Fraction of ``num``, the name of ``sym``, ``const`` and ``call``."""
    args: tuple[Node, ...] = ()

    def symbols(self) -> frozenset[str]:
        """The free letters of the expression."""
        own = frozenset({self.value}) if self.kind == "sym" else frozenset()
        return own.union(*(arg.symbols() for arg in self.args))


def arithmetic(kind: str, values: Sequence[Any]) -> Any:
    """Compute a sum, product, quotient or negative, of Fractions or in mpmath; None for another kind of operation.

    Raises ``OutOfDomainError`` for a division by zero.
    """
    match kind:
        case "neg":
            return -values[0]
        case "degree":
            return values[0]
        case "add":
            return values[0] + values[1]
        case "mul":
            return values[0] * values[1]
        case "div":
            if values[1] == 0:
                raise OutOfDomainError
            return values[0] / values[1]
    return None


_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+(?![\d.]))?)|(?P<command>\\[A-Za-z]+)"
    r"|(?P<word>arcsin|arccos|arctan|sinh|cosh|tanh|sin|cos|tan|cot|sec|csc|sqrt|log|ln|exp|pi(?![a-z]))"
    r"|(?P<letter>[A-Za-z])|(?P<mark>\*\*|\\[{}|]|[-+*/^_!%()\[\]{}|']))"
)
_FUNCTIONS: Final = frozenset(
    [
        "sin",
        "cos",
        "tan",
        "cot",
        "sec",
        "csc",
        "arcsin",
        "arccos",
        "arctan",
        "sinh",
        "cosh",
        "tanh",
        "ln",
        "log",
        "lg",
        "exp",
    ]
)
_STEPS: Final = {"lfloor": r"\rfloor", "lceil": r"\rceil"}
"""What opens a whole part, to what closes it."""
_GREEK: Final = frozenset(
    re.findall(
        r"\w+",
        "alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi rho sigma tau "
        "upsilon phi varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega ell ldots",
    )
)
_NO_FACTORS = frozenset({r"\over", r"\choose", r"\cup", r"\cap", r"\in", r"\pm", r"\mp", *_STEPS.values()})
_VECTORS = ("vec", "overrightarrow")
_INVERSE = {"sin": "arcsin", "cos": "arccos", "tan": "arctan"}
ONE = Node("num", Fraction(1))


def parse(text: str) -> Node:
    """Parse a normalised text as one expression, whole. Raises ``UnreadableError`` or ``TooLargeError``."""
    if len(text) > MAX_DIGITS:
        raise TooLargeError
    text = re.sub(r"(?<![\d.)}^_])(\d+) +(\d+)/(\d+)(?![\d.])", r"(\1+\2/\3)", text)
    tokens, position = [], 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            if not text[position:].strip():
                break
            raise UnreadableError(text[position:])
        tokens.append((str(match.lastgroup), match[match.lastgroup or 0]))
        position = match.end()
    parser = _Parser(tokens)
    node = parser.sum()
    if parser.position < len(tokens):
        raise UnreadableError(tokens[parser.position][1])
    return node


class _Parser:
    """Recursive descent over the tokens; binary minus becomes an added negative."""

    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self.tokens = tokens
        self.position = 0
        self.depth = 0

    def peek(self) -> str:
        return self.tokens[self.position][1] if self.position < len(self.tokens) else ""

    def kind(self) -> str:
        return self.tokens[self.position][0] if self.position < len(self.tokens) else ""

    def take(self) -> str:
        lexeme = self.peek()
        if not lexeme:
            raise UnreadableError("the end")
        self.position += 1
        return lexeme

    def expect(self, lexeme: str) -> None:
        if self.take() != lexeme:
            raise UnreadableError(lexeme)

    def sum(self) -> Node:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise TooLargeError
        node = self.product()
        while self.peek() in ("+", "-"):
            sign = self.take()
            term = self.product()
            node = Node("add", None, (node, term if sign == "+" else Node("neg", None, (term,))))
        self.depth -= 1
        return node

    def product(self) -> Node:
        if self.peek() in ("+", "-"):
            sign = self.take()
            node = self.product_of(self.product_operand())
            return node if sign == "+" else Node("neg", None, (node,))
        return self.product_of(self.product_operand())

    def product_operand(self) -> Node:
        if self.peek() in ("+", "-"):
            sign = self.take()
            node = self.product_operand()
            return node if sign == "+" else Node("neg", None, (node,))
        return self.power()

    def product_of(self, node: Node) -> Node:
        before = self.position
        while True:
            start = self.position
            lexeme = self.peek()
            if lexeme == "*":
                self.take()
                node = self.times(node, self.product_operand())
            elif lexeme in ("/", r"\over"):
                self.take()
                node = Node("div", None, (node, self.product_operand()))
            elif lexeme == r"\choose":
                self.take()
                node = Node("call", "binom", (node, self.product_operand()))
            elif self.starts_factor():
                if self.kind() == "number" and self.tokens[start - 1][0] == "number":
                    raise UnreadableError("two numbers side by side")
                factor = self.power()
                mixed = start - before <= 0 and _is_mixed(node, factor, lexeme)
                node = Node("add", None, (node, factor)) if mixed else self.times(node, factor)
            else:
                return node

    has_vectors = False

    def times(self, first: Node, second: Node) -> Node:
        """A product; that of two vectors is unread, for it may be either of two kinds."""
        if self.has_vectors and all("\\" in "".join(node.symbols()) for node in (first, second)):
            raise UnreadableError("a product of vectors")
        return Node("mul", None, (first, second))

    def starts_factor(self) -> bool:
        lexeme, kind = self.peek(), self.kind()
        if kind == "command":
            return lexeme not in _NO_FACTORS
        return kind in ("number", "letter", "word") or lexeme in ("(", "[", "{") or (lexeme == "|" and not self.in_bars)

    in_bars = False

    def power(self) -> Node:
        node = self.postfix(self.atom())
        if self.peek() in ("^", "**"):
            self.take()
            return self.postfix(Node("pow", None, (node, self.argument(signed=True))))
        return node

    def postfix(self, node: Node) -> Node:
        while self.peek() in ("!", "%", r"\degree", "'"):
            mark = self.take()
            if mark == "'":
                raise UnreadableError("a derivative")
            if mark == "!":
                node = Node("fact", None, (node,))
            elif mark == "%":
                node = Node("div", None, (node, Node("num", Fraction(100))))
            else:
                node = Node("degree", None, (node,))
        return node

    def argument(self, *, signed: bool = False) -> Node:
        r"""A group or one lexeme; unsigned, of a number only its first digit (``\frac12``)."""
        if self.peek() == "{":
            return self.group("{", "}")
        if signed and self.peek() in ("-", "+"):
            sign = self.take()
            node = self.postfix(self.atom())
            return Node("neg", None, (node,)) if sign == "-" else node
        if signed and self.peek() == "(":
            return self.group("(", ")")
        if self.kind() == "number" and not signed:
            lexeme = self.peek()
            if not lexeme.isdigit():
                raise UnreadableError(lexeme)
            self.tokens[self.position : self.position + 1] = [("number", digit) for digit in lexeme]
            return Node("num", Fraction(int(self.take())))
        return self.power() if signed and self.kind() == "command" else self.atom()

    def group(self, opening: str, closing: str) -> Node:
        self.expect(opening)
        bars, self.in_bars = self.in_bars, False
        node = self.sum()
        self.in_bars = bars
        self.expect(closing)
        return node

    def atom(self) -> Node:
        lexeme, kind = self.peek(), self.kind()
        if lexeme in ("(", "[", "{"):
            return self.group(lexeme, {"(": ")", "[": "]", "{": "}"}[lexeme])
        self.take()
        if kind == "number":
            return _number(lexeme)
        if lexeme == "|":
            bars, self.in_bars = self.in_bars, True
            node = self.sum()
            self.in_bars = bars
            self.expect("|")
            return Node("call", "abs", (node,))
        if kind in ("command", "word"):
            return self.command(lexeme.removeprefix("\\"))
        if kind == "letter":
            return self.name(lexeme)
        raise UnreadableError(lexeme)

    def name(self, lexeme: str) -> Node:
        if self.peek() == "_":
            self.take()
            return Node("sym", f"{lexeme}_{self.subscript()}")
        return Node("const", lexeme) if lexeme in ("e", "i", "pi") else Node("sym", lexeme)

    def subscript(self) -> str:
        if self.peek() != "{":
            return self.take()
        self.take()
        parts = []
        while self.peek() != "}":
            parts.append(self.take())
        self.take()
        return "".join(parts)

    def command(self, name: str) -> Node:
        if name == "frac":
            return Node("div", None, (self.argument(), self.argument()))
        if name == "binom":
            return Node("call", "binom", (self.argument(), self.argument()))
        if name == "sqrt":
            index = self.group("[", "]") if self.peek() == "[" else Node("num", Fraction(2))
            radicand = self.argument(signed=True)  # \\sqrt12 and √12 mean the root of 12
            return Node("call", "root", (radicand, index))
        if name in _FUNCTIONS:
            return self.function(name)
        if name in ("pi", "infty"):
            return Node("const", name)
        if name in _GREEK:
            return self.name(name)
        if name in _STEPS:
            node = self.sum()
            self.expect(_STEPS[name])
            return Node("call", name.removeprefix("l"), (node,))
        if name in _VECTORS:
            self.has_vectors = True
            return Node("sym", "\\" + self.subscript())
        raise UnreadableError(name)

    def function(self, name: str) -> Node:
        exponent = base = None
        while self.peek() in ("^", "_"):
            if self.take() == "^":
                exponent = self.argument(signed=True)
            else:
                base = self.argument()
        if exponent is not None and _is_minus_one(exponent) and name in _INVERSE:
            name, exponent = _INVERSE[name], None
        node = Node("call", name, (self.operand(), *([base] if base else [])))
        return node if exponent is None else Node("pow", None, (node, exponent))

    def operand(self) -> Node:
        r"""What a function applies to: ``\sin 2x`` is the sine of 2x, ``\sin(x)^2`` the square of a sine."""
        if self.peek() in ("(", "["):
            return self.atom()
        if self.peek() in ("-", "+"):
            return self.product()
        node = self.power()
        while self.starts_factor() and self.peek() not in ("(", "[") and self.peek().lstrip("\\") not in _FUNCTIONS:
            node = Node("mul", None, (node, self.power()))
        return node


def _is_mixed(whole: Node, part: Node, lexeme: str) -> bool:
    r"""``2\frac13`` is a sum when both are plain and the fraction is proper."""
    if lexeme != r"\frac" or whole.kind != "num" or whole.value.denominator != 1 or part.kind != "div":
        return False
    top, bottom = part.args
    return top.kind == bottom.kind == "num" and 0 < top.value < bottom.value


def _is_minus_one(node: Node) -> bool:
    return node == Node("neg", None, (ONE,))


def _number(text: str) -> Node:
    """A number as written; a power of ten too large to be written out stays a power, whose size is judged later."""
    digits, _, exponent = text.lower().partition("e")
    if not exponent or (len(exponent) <= 6 and abs(int(exponent)) <= MAX_EXPONENT):
        return Node("num", Fraction(Decimal(text)))
    power = Node("pow", None, (Node("num", Fraction(10)), Node("num", Fraction(Decimal(exponent)))))
    return Node("mul", None, (Node("num", Fraction(Decimal(digits))), power))
