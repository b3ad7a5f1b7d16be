"""Source text in, code object or findings out. Runs only in a worker: the compiler can be driven to death.

Invariant: never raises on any text; whatever cannot be compiled is a finding.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence
from types import CodeType

from .names import FILE_NAME
from .policy import RewardPolicy
from .refusals import FIRST, Row, finding, place, sentence, source_lines

_VISITOR_DEPTH = 12_000
"""Python frames for the transformer, which recurses in Python and so cannot overflow the C stack."""


def compile_source(source: str, *, guarded: bool = True) -> tuple[CodeType | None, list[Row]]:
    """Compile reward code under the policy; None instead of code when any finding is an error."""
    try:
        tree = ast.parse(source, FILE_NAME)
        if not guarded:
            return compile(tree, FILE_NAME, "exec", dont_inherit=True), []
        nodes = list(ast.walk(tree))
        hints = _hints(nodes, source_lines(source))
        findings = _apply_policy(source, tree, nodes)
        if findings:
            return None, sorted(findings + hints, key=lambda row: (row["line"], row["column"]))
        return compile(tree, FILE_NAME, "exec", dont_inherit=True), hints
    except SyntaxError as error:
        return None, [_syntax_finding(error, source)]
    except (RecursionError, MemoryError):
        return None, [_plain_finding("The code is nested too deeply to be compiled.")]
    except (ValueError, OverflowError, UnicodeError) as error:
        return None, [
            finding("error", "syntax", FIRST, sentence("The text cannot be compiled: {text}.", text=str(error)))
        ]


def _apply_policy(source: str, tree: ast.Module, nodes: Sequence[ast.AST]) -> list[Row]:
    policy = RewardPolicy(source, nodes)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(_VISITOR_DEPTH)
    try:
        policy.visit(tree)
    finally:
        sys.setrecursionlimit(limit)
    ast.fix_missing_locations(tree)
    return policy.findings


def _plain_finding(template: str) -> Row:
    return finding("error", "syntax", FIRST, sentence(template))


def _syntax_finding(error: SyntaxError, source: str) -> Row:
    lines = source_lines(source)
    line = min(max(error.lineno or 1, 1), max(len(lines), 1))
    column = max(error.offset or 1, 1)
    end = error.end_offset if error.end_offset and error.end_lineno == error.lineno else 0
    where: Row = {"line": line, "column": column, "end_column": max(end or 0, column + 1)}
    return finding("error", "syntax", where, sentence("Syntax error: {text}.", text=str(error.msg).rstrip(".")))


def _hints(nodes: Sequence[ast.AST], lines: list[str]) -> list[Row]:
    """Point out ``completion["messages"]["content"]``: trainers that send a list would stop at it."""
    found: list[Row] = []
    for node in nodes:
        if isinstance(node, ast.Subscript) and _has_key(node, "content", "role") and _has_key(node.value, "messages"):
            found.append(finding("hint", "messages-shape", place(node, lines), _MESSAGES_HINT))
    return found


_MESSAGES_HINT = sentence(
    'Both shapes of "messages" work here, but trainers send a list: completion["messages"][-1]["content"] is portable.'
)


def _has_key(node: ast.AST, *keys: str) -> bool:
    return (
        isinstance(node, ast.Subscript)
        and isinstance(node.slice, ast.Constant)
        and isinstance(node.slice.value, str)
        and node.slice.value in keys
    )
