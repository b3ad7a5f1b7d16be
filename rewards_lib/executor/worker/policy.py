"""The compile-time half of the execution policy: everyday Python passes, refused constructs become findings.

Names in attribute expressions are literals, so the name rule is checked here; only what depends on the object goes
through a run-time guard. Invariant: syntax that RestrictedPython has not reviewed stays refused, and every refusal of
a source is found in one pass.
"""

# ruff: noqa: N802, N815  # the visitor methods are named after the syntax nodes, which ast spells that way
from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from RestrictedPython.transformer import RestrictingNodeTransformer, copy_locations

from .imports_check import ImportRules
from .names import (
    CAREFUL_ATTRIBUTES,
    CLASS_NAMES,
    ENUM_NAMES,
    METHODS,
    MODULE_NAMES,
    NAME_DUNDERS,
    PLAIN,
    READ_DUNDERS,
    TYPE_PARAMETERS,
    WRITE_DUNDERS,
    is_refused_attribute,
    is_reserved,
)
from .patterns import PatternRules
from .refusals import BUILTINS, STATEMENTS, Row, Words, finding, place, sentence, source_lines

_SMALL_EXPONENT = 16
_UNCERTAIN_CLASS = sentence(
    "A pattern can only take apart classes that this file defines without inheriting from a library's, "
    "or those of ast, datetime, decimal and fractions."
)


class RewardPolicy(RestrictingNodeTransformer):  # type: ignore[misc]  # RestrictedPython is not followed by mypy
    """Rewrites a tree for the guards and collects every refusal in ``findings``."""

    def __init__(self, source: str, nodes: Sequence[ast.AST]) -> None:
        super().__init__()
        self.findings: list[Row] = []
        self._lines = source_lines(source)
        self._nodes = nodes
        self._scopes: list[tuple[str, str]] = []
        self._bound: frozenset[str] | None = None
        self._imports = ImportRules(nodes, self.refuse)
        self._patterns = PatternRules(nodes)

    # --- findings --------------------------------------------------------------------------------------------------

    def refuse(self, node: ast.AST, rule: str, message: Words, name: str | None = None) -> None:
        """Note one refusal at a node."""
        row = finding("error", rule, place(node, self._lines, name), message)
        if row not in self.findings:
            self.findings.append(row)

    def error(self, node: ast.AST, info: str) -> None:
        """Note a refusal that RestrictedPython itself words."""
        self.refuse(node, "statement", sentence("{text}", text=info))

    def not_allowed(self, node: ast.AST) -> None:
        """Refuse a whole kind of syntax."""
        kind = type(node).__name__
        self.refuse(
            node, "statement", STATEMENTS.get(kind) or sentence("{kind} is not supported in reward code.", kind=kind)
        )

    # --- names -----------------------------------------------------------------------------------------------------

    @property
    def _in_class(self) -> bool:
        return bool(self._scopes) and self._scopes[-1][0] == "class"

    @property
    def _class_name(self) -> str:
        return next((name.lstrip("_") for kind, name in reversed(self._scopes) if kind == "class"), "")

    def _is_mangled(self, name: str) -> bool:
        """``__x`` inside a class is Python's own private spelling; the compiler makes ``_Class__x`` of it."""
        return name.startswith("__") and not name.endswith("__") and bool(self._class_name)

    def check_name(self, node: ast.AST, name: str | None, allow_magic_methods: bool = False) -> None:
        """Refuse names that belong to the executor; a run of underscores is an ordinary name."""
        if name is None or not name.startswith("_") or not name.strip("_") or self._is_mangled(name):
            return
        if allow_magic_methods and name in ENUM_NAMES:
            return
        if allow_magic_methods and name.startswith("__") and name.endswith("__"):
            if name not in METHODS:
                self.refuse(node, "method", sentence("A class cannot define {name} in reward code.", name=name), name)
        elif is_reserved(name):
            self.refuse(
                node, "name", sentence("The name {name} is reserved for the executor; choose another.", name=name), name
            )

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Check a variable; reading a refused builtin says what to use instead."""
        name = node.id
        if isinstance(node.ctx, ast.Load):
            if name in NAME_DUNDERS or (self._in_class and name in METHODS):
                return node
            if name in BUILTINS and name not in self._bound_names():
                self.refuse(node, "builtin", BUILTINS[name])
                return node
        elif isinstance(node.ctx, ast.Store) and name in (CLASS_NAMES if self._in_class else MODULE_NAMES):
            return node
        self.check_name(node, name)
        return node

    def _bound_names(self) -> frozenset[str]:
        """Names that the source binds itself: an argument called ``input`` is not the builtin."""
        if self._bound is None:
            found: set[str] = set()
            for node in self._nodes:
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    found.add(node.id)
                elif isinstance(node, ast.arg):
                    found.add(node.arg)
                elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                    found.add(node.name)
                elif isinstance(node, ast.alias):
                    found.add(node.asname or node.name)
                elif type(node).__name__ in TYPE_PARAMETERS:
                    found.add(node.name)  # type: ignore[attr-defined]
            self._bound = frozenset(name for name in found if not name.startswith("__"))
        return self._bound

    def check_function_argument_names(self, node: Any) -> None:
        """Check every argument at its own place."""
        arguments = node.args
        for argument in (
            *arguments.posonlyargs,
            *arguments.args,
            arguments.vararg,
            *arguments.kwonlyargs,
            arguments.kwarg,
        ):
            if argument is not None:
                self.check_name(argument, argument.arg)

    def visit_Nonlocal(self, node: ast.Nonlocal | ast.Global) -> ast.AST:
        """Check the names of ``nonlocal`` and ``global``."""
        for name in node.names:
            if name in BUILTINS:
                self.refuse(node, "builtin", BUILTINS[name], name)
            else:
                self.check_name(node, name)
        return node

    visit_Global = visit_Nonlocal

    # --- attributes ------------------------------------------------------------------------------------------------

    def _check_attribute(self, node: ast.AST, name: str) -> None:
        if is_refused_attribute(name) and not self._is_mangled(name):
            self.refuse(
                node, "attribute", sentence("The attribute {name} is not available in reward code.", name=name), name
            )

    def _call(self, hook: str, node: ast.expr, *arguments: ast.expr) -> ast.Call:
        call = ast.Call(func=ast.Name(hook, ast.Load()), args=list(arguments), keywords=[])
        copy_locations(call, node)
        return call

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """Check the name; send what depends on the object through a guard."""
        name = node.attr
        self._check_attribute(node, name)
        self._imports.check_attribute(node)
        self.node_contents_visit(node)
        if isinstance(node.ctx, ast.Load):
            if name in PLAIN:
                return node
            if self._is_mangled(name):
                name = f"_{self._class_name}{name}"
            hook = "_getattr_" if name in CAREFUL_ATTRIBUTES else "_own_" if name.startswith("_") else "_attr_"
            if name in READ_DUNDERS:
                hook = "_attr_"
            return self._call(hook, node, node.value, ast.Constant(name))
        if name in READ_DUNDERS and name not in WRITE_DUNDERS:
            self.refuse(
                node, "attribute", sentence("The attribute {name} cannot be assigned in reward code.", name=name)
            )
        node.value = self._call("_write_", node, node.value)
        return node

    # --- what the stock policy wraps for access lists that we do not have ---------------------------------------------

    def _contents(self, node: ast.AST) -> ast.AST:
        """Visit the children and leave the node as it is."""
        visited: ast.AST = self.node_contents_visit(node)
        return visited

    visit_Subscript = visit_Assign = visit_With = visit_Call = guard_iter = visit_Module = _contents
    visit_Await = visit_AsyncFor = visit_AsyncWith = _contents
    visit_Match = visit_match_case = visit_MatchSingleton = visit_MatchSequence = visit_MatchOr = _contents

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """A field of a class becomes a name that patterns read natively: hold it to the rule for attributes."""
        if self._in_class and isinstance(node.target, ast.Name):
            self._check_attribute(node, node.target.id)
        return self._contents(node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """Guard powers whose exponent is not a small literal: 9 ** 9 ** 9 never ends."""
        self._contents(node)
        if isinstance(node.op, ast.Pow) and not _is_small(node.right):
            return self._call("_pow_", node, node.left, node.right)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        """Run natively, except a power on a plain variable, which becomes a guarded assignment."""
        self._contents(node)
        if isinstance(node.op, ast.Pow) and isinstance(node.target, ast.Name) and not _is_small(node.value):
            base = ast.Name(node.target.id, ast.Load())
            copy_locations(base, node.target)
            assignment = ast.Assign(targets=[node.target], value=self._call("_pow_", node.value, base, node.value))
            copy_locations(assignment, node)
            return assignment
        return node

    # --- functions and classes --------------------------------------------------------------------------------------

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        """Check the names of a function; its body is ordinary code."""
        self.check_name(node, node.name, allow_magic_methods=self._in_class)
        self.check_function_argument_names(node)
        self._scopes.append(("def", node.name))
        self._contents(node)
        self._scopes.pop()
        return node

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """Allow any class whose metaclass is ``type`` or ``ABCMeta``."""
        self.check_name(node, node.name)
        for keyword in node.keywords:
            if keyword.arg == "metaclass" and ast.unparse(keyword.value) in ("ABCMeta", "abc.ABCMeta"):
                keyword.value = ast.Name("_abcmeta_", ast.Load())
                copy_locations(keyword.value, keyword)
            elif keyword.arg in ("metaclass", None):
                self.refuse(keyword, "metaclass", sentence("The only metaclass available in reward code is ABCMeta."))
        node.bases = [self.visit(base) for base in node.bases]
        for keyword in node.keywords:
            if not (isinstance(keyword.value, ast.Name) and keyword.value.id == "_abcmeta_"):
                keyword.value = self.visit(keyword.value)
        node.decorator_list = [self.visit(decorator) for decorator in node.decorator_list]
        if hasattr(node, "type_params"):  # Python 3.12
            node.type_params = [self.visit(parameter) for parameter in node.type_params]
        self._scopes.append(("class", node.name))
        node.body = [self.visit(statement) for statement in node.body]
        self._scopes.pop()
        return node

    # --- imports ----------------------------------------------------------------------------------------------------

    def visit_Import(self, node: ast.Import) -> ast.AST:
        """Check an import and the names it binds."""
        self._imports.check_import(node)
        for alias in node.names:
            self.check_name(alias, alias.asname or alias.name.split(".")[0])
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        """Check a from-import and the names it binds."""
        self._imports.check_import_from(node)
        for alias in node.names:
            self.check_name(alias, alias.asname or alias.name)
        return node

    # --- match ------------------------------------------------------------------------------------------------------

    def _named(self, node: Any) -> ast.AST:
        self.check_name(node, getattr(node, "name", None) or getattr(node, "rest", None))
        return self._contents(node)

    visit_MatchAs = visit_MatchStar = visit_MatchMapping = _named
    visit_TypeVar = visit_ParamSpec = visit_TypeVarTuple = _named  # Python 3.12: def first[T](...), class Box[T]
    visit_TypeAlias = _contents  # type Pair = tuple[int, int]

    def visit_MatchClass(self, node: ast.MatchClass) -> ast.AST:
        """A class pattern reads attributes without any guard: refuse every name that could matter."""
        for name in node.kwd_attrs:
            if is_refused_attribute(name) or name.startswith("_") or name == "obj" or name in CAREFUL_ATTRIBUTES:
                self.refuse(node, "attribute", sentence("A pattern cannot read the attribute {name}.", name=name), name)
        self._check_dotted(node.cls)
        if not self._patterns.may_take_apart(node):
            self.refuse(node, "pattern", _UNCERTAIN_CLASS)
        node.patterns = [self.visit(pattern) for pattern in node.patterns]
        node.kwd_patterns = [self.visit(pattern) for pattern in node.kwd_patterns]
        return node

    def visit_MatchValue(self, node: ast.MatchValue) -> ast.AST:
        """``case Color.RED``: the dotted name must stay as it is, so it is checked and not rewritten."""
        self._check_dotted(node.value)
        return node

    def _check_dotted(self, node: ast.expr) -> None:
        for part in ast.walk(node):
            if isinstance(part, ast.Attribute):
                self._check_attribute(part, part.attr)
            elif isinstance(part, ast.Name):
                self.check_name(part, part.id)


def _is_small(exponent: ast.expr) -> bool:
    return (
        isinstance(exponent, ast.Constant)
        and isinstance(exponent.value, (int, float))
        and abs(exponent.value) <= _SMALL_EXPONENT
    )
