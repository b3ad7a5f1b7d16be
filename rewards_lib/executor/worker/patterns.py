"""Which classes a ``match`` statement may take apart: a class pattern reads attributes without any guard.

``case collections.abc.Hashable(system=run)`` would read ``os.system`` off a module that a library handed out.
Invariant: only classes whose identity is certain from the source are taken apart, and none of them has an interpreter
internal among its instances.
"""

from __future__ import annotations

import ast
import builtins
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TypeGuard

from .names import TYPE_PARAMETERS

_SELF_MATCHING = frozenset(
    ["bool", "bytearray", "bytes", "dict", "float", "frozenset", "int", "list", "set", "str", "tuple"]
)
"""Builtins whose one positional sub-pattern is the object itself: nothing is read."""

_MODULES = frozenset(["ast", "datetime", "decimal", "fractions"])
"""Modules of plain data classes, whose classes may be taken apart."""

_DECORATORS = frozenset(["dataclass", "dataclasses.dataclass", "total_ordering", "functools.total_ordering", "final"])
"""Decorators that give back the class they were given, or one like it."""

_PLAIN_BASES = frozenset(
    ["bool", "bytes", "dict", "float", "frozenset", "int", "list", "object", "set", "tuple"]
    + [name for name, kind in vars(builtins).items() if isinstance(kind, type) and issubclass(kind, BaseException)]
)
"""Builtins that an own class may inherit from and still be taken apart; ``str`` has ``format``."""

_IMPORTED_BASES = frozenset(
    ["abc.ABC", "typing.NamedTuple", "typing.Generic", "typing.Protocol", "collections.namedtuple", "enum.Enum",
     "enum.IntEnum", "enum.StrEnum", "enum.Flag", "enum.IntFlag"]
)  # fmt: skip
"""Classes of the library, and functions that build one, of which the same is true.

What a class inherits from another library class could be named as a field of its own, and be read as one.
"""


class PatternRules:
    """Tells whether a class pattern's class is certain."""

    def __init__(self, nodes: Sequence[ast.AST]) -> None:
        bound = list(_bound(nodes)) if any(isinstance(node, ast.MatchClass) for node in nodes) else []
        self._names = Counter(name for name, _ in bound)
        self._certain = {name: node for name, node in bound if self._names[name] == 1}
        self._classes: set[str] = set()
        for name, node in self._certain.items():  # in the order of the source: a base stands before what inherits
            if _is_imported(node) or (_is_own(node) and all(map(self._is_plain_base, node.bases))):
                self._classes.add(name)
        self._modules = {name for name, node in self._certain.items() if _is_module(node, name)}

    def may_take_apart(self, pattern: ast.MatchClass) -> bool:
        """Tell whether the sub-patterns of a class pattern may read attributes."""
        if not pattern.patterns and not pattern.kwd_patterns:
            return True
        named = pattern.cls
        if isinstance(named, ast.Name):
            plain = named.id in _SELF_MATCHING and named.id not in self._names
            return named.id in self._classes or (plain and not pattern.kwd_patterns)
        return (
            isinstance(named, ast.Attribute) and isinstance(named.value, ast.Name) and named.value.id in self._modules
        )

    def _is_plain_base(self, base: ast.expr) -> bool:
        """Tell whether an own class inherits nothing that must not be read from a base."""
        if isinstance(base, (ast.Subscript, ast.Call)):  # Generic[T], namedtuple("Pair", "a b")
            return self._is_plain_base(base.value if isinstance(base, ast.Subscript) else base.func)
        if isinstance(base, ast.Attribute):
            module = base.value.id if isinstance(base.value, ast.Name) else ""
            origin = self._certain.get(module)
            imported = isinstance(origin, ast.Import) and _imported_name(origin, module)
            return f"{imported}.{base.attr}" in _IMPORTED_BASES
        name = base.id if isinstance(base, ast.Name) else ""
        origin = self._certain.get(name)
        if isinstance(origin, ast.ImportFrom):
            return f"{origin.module}.{_imported_name(origin, name)}" in _IMPORTED_BASES
        return name in self._classes or (name in _PLAIN_BASES and name not in self._names)


def _bound(nodes: Sequence[ast.AST]) -> Iterator[tuple[str, ast.AST]]:
    """Yield every name that the source binds, and what binds it."""
    for node in nodes:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, node
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                yield alias.asname or alias.name.split(".")[0], node
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id, node
        elif isinstance(node, ast.arg):
            yield node.arg, node
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
            yield node.name, node
        elif isinstance(node, ast.MatchMapping) and node.rest:
            yield node.rest, node
        elif type(node).__name__ in TYPE_PARAMETERS:
            yield node.name, node  # type: ignore[attr-defined]


def _imported_name(node: ast.Import | ast.ImportFrom, name: str) -> str | None:
    return next((alias.name for alias in node.names if (alias.asname or alias.name) == name), None)


def _is_own(node: ast.AST) -> TypeGuard[ast.ClassDef]:
    return isinstance(node, ast.ClassDef) and all(_is_harmless(entry) for entry in node.decorator_list)


def _is_harmless(decorator: ast.expr) -> bool:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return isinstance(called, (ast.Name, ast.Attribute)) and ast.unparse(called) in _DECORATORS


def _is_imported(node: ast.AST) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module in _MODULES and not node.level


def _is_module(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Import) and any(
        alias.name in _MODULES and (alias.asname or alias.name) == name for alias in node.names
    )
