"""Imports as they stand in the source: refuse at their line what the import gate would refuse when it runs.

Invariant: only what is certain is refused here; a module that might be a declared requirement is left to the gate.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator, Sequence

from .module_tables import ALLOWED, hidden_reason, refused_module
from .names import TYPE_PARAMETERS
from .refusals import sentence

_CATCHES_IMPORT_ERROR = frozenset(["ImportError", "ModuleNotFoundError", "Exception", "BaseException"])
Refuse = Callable[..., None]


class ImportRules:
    """Checks imports, and attributes read from names that only an import binds."""

    def __init__(self, nodes: Sequence[ast.AST], refuse: Refuse) -> None:
        self._nodes = nodes
        self._refuse = refuse
        self._optional = {id(node) for node in optional_imports(nodes)}
        self._aliases: dict[str, str] | None = None

    def check_import(self, node: ast.Import) -> None:
        """Refuse ``import`` of a module of the standard library that is not on the list."""
        for alias in node.names:
            self._check_module(node, alias, alias.name)

    def check_import_from(self, node: ast.ImportFrom) -> None:
        """Refuse relative imports, ``*``, private parts, and hidden names of allowed modules."""
        if node.level:
            self._refuse(node, "import", sentence("Relative imports are not available: reward code is a single file."))
            return
        module = node.module or ""
        if not self._check_module(node, node, module):
            return
        for alias in node.names:
            if alias.name == "*":
                self._refuse(node, "import", sentence("Import names one by one: import * is not available."))
            elif module in ALLOWED and module != "__future__" and not self._is_submodule(module, alias.name):
                self._check_member(alias, module, alias.name)

    def check_attribute(self, node: ast.Attribute) -> None:
        """Refuse ``os.system`` where ``os`` is the imported module and nothing else."""
        if isinstance(node.value, ast.Name) and not node.attr.startswith("__"):
            module = self._imported().get(node.value.id)
            if module in ALLOWED and not self._is_submodule(module, node.attr):
                self._check_member(node, module, node.attr)

    def _is_submodule(self, module: str, name: str) -> bool:
        return f"{module}.{name}" in ALLOWED

    def _check_module(self, statement: ast.stmt, place: ast.AST, name: str) -> bool:
        """Refuse one module name; False when it was refused or will be by the gate."""
        if any(part.startswith("_") for part in name.split(".")) and name != "__future__":
            self._refuse(place, "import", sentence("The module {name} is private.", name=name), name)
            return False
        if name in ALLOWED or name.split(".", maxsplit=1)[0] not in sys.stdlib_module_names:
            return True
        if id(statement) not in self._optional:
            self._refuse(place, "import", refused_module(name), name)
        return False

    def _check_member(self, node: ast.AST, module: str, name: str) -> None:
        reason = hidden_reason(module, name)
        if reason:
            self._refuse(node, "import", reason, name)

    def _imported(self) -> dict[str, str]:
        """Map variables to modules, for variables that imports of one module bind and nothing else does."""
        if self._aliases is None:
            found: dict[str, set[str]] = {}
            for name, module in _bindings(self._nodes):
                found.setdefault(name, set()).add(module)
            self._aliases = {name: next(iter(modules)) for name, modules in found.items() if len(modules) == 1}
        return self._aliases


def optional_imports(nodes: Sequence[ast.AST]) -> Iterator[ast.stmt]:
    """Yield the imports that the source itself expects to fail."""
    for node in nodes:
        if isinstance(node, ast.Try) and any(_catches(handler) for handler in node.handlers):
            for statement in node.body:
                yield from (part for part in ast.walk(statement) if isinstance(part, (ast.Import, ast.ImportFrom)))


def _catches(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(isinstance(kind, ast.Name) and kind.id in _CATCHES_IMPORT_ERROR for kind in kinds)


def _bindings(nodes: Sequence[ast.AST]) -> Iterator[tuple[str, str]]:
    """Yield (variable, module) for imports and (variable, "") for every other binding."""
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.split(".")[0]
                yield alias.asname or top, alias.name if alias.asname else top
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                yield alias.asname or alias.name, name if name in ALLOWED else ""
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id, ""
        elif isinstance(node, ast.arg):
            yield node.arg, ""
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name, ""
        elif isinstance(node, ast.MatchMapping):
            yield node.rest or "", ""
        elif type(node).__name__ in TYPE_PARAMETERS:
            yield node.name, ""  # type: ignore[attr-defined]
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
            yield node.name or "", ""
