"""Findings as the worker speaks them: plain rows of JSON, with the English template and its values apart.

Invariant: every message says what is refused and what to write instead.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any

Row = dict[str, Any]


@dataclass(frozen=True)
class Words:
    """An English template and its values, words among them too; the host turns it into a ``Sentence``."""

    template: str
    values: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        """The English sentence."""
        return self.template.format_map(self.values) if self.values else self.template

    def to_json(self) -> list[Any]:
        """The pair that crosses the pipe."""
        plain = {name: value.to_json() if isinstance(value, Words) else value for name, value in self.values.items()}
        return [self.template, plain]


def sentence(template: str, **values: object) -> Words:
    """Build ``Words``; named as on the host side so that message catalogues find the template."""
    return Words(template, values)


BUILTINS: dict[str, Words] = {
    "eval": sentence("eval() is not available in reward code; use ast.literal_eval or json.loads."),
    "exec": sentence("exec() is not available in reward code; call a function instead."),
    "compile": sentence("compile() is not available in reward code; use re.compile for patterns."),
    "open": sentence('open() is not available: reward code sees no files; put the data into sample["extra"].'),
    "input": sentence("input() is not available: nobody answers while a reward is computed."),
    "globals": sentence("globals() is not available in reward code; use a dictionary of your own."),
    "locals": sentence("locals() is not available in reward code; use a dictionary of your own."),
    "vars": sentence("vars() is not available in reward code; name the attributes, or use dataclasses.asdict."),
    "dir": sentence("dir() is not available in reward code; name the attributes, or use hasattr."),
    "breakpoint": sentence("breakpoint() is not available: nobody can type into a running reward; use print()."),
    "__import__": sentence("__import__() is not available in reward code; write an import statement."),
    "__builtins__": sentence("The name {name} is not available in reward code.", name="__builtins__"),
}
"""Names refused when they are read, each with what to write instead."""

STATEMENTS: dict[str, Words] = {
    "TryStar": sentence("except* is not available in reward code; catch the exceptions one by one with except."),
}
"""Syntax that the policy refuses as a whole."""


FIRST: Row = {"line": 1, "column": 1, "end_column": 2}
"""The place of a finding about the text as a whole."""


def place(node: ast.AST, lines: list[str], name: str | None = None) -> Row:
    """Say where a node stands: line, column and end column, in characters from 1.

    With ``name`` only that word is marked: the last one of the node for an attribute, else the first.
    """
    line = getattr(node, "lineno", None) or 1
    start, end_line = getattr(node, "col_offset", 0) or 0, getattr(node, "end_lineno", None) or line
    end = getattr(node, "end_col_offset", None)
    if isinstance(node, ast.Attribute) and end is not None:
        line, start = end_line, end - len(node.attr.encode())
    text = lines[line - 1] if line <= len(lines) else ""
    column = _characters(text, start)
    last = _characters(text, end) if end is not None and end_line == line else len(text)
    if name is not None and not isinstance(node, ast.Attribute):
        found = text.find(name, column)
        if found >= 0:
            column, last = found, found + len(name)
    return {"line": line, "column": column + 1, "end_column": max(last, column + 1) + 1}


def _characters(text: str, byte_offset: int) -> int:
    return len(text.encode("utf-8", "surrogatepass")[:byte_offset].decode("utf-8", "ignore"))


def source_lines(source: str) -> list[str]:
    """Cut a source into lines as the compiler does; ``str.splitlines`` also cuts at form feeds and the like."""
    return source.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def finding(severity: str, rule: str, where: Row, message: Words) -> Row:
    """Build one finding row."""
    return {"severity": severity, "rule": rule, "message": message.to_json(), **where}
