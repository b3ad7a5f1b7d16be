"""What a source will stumble over when it runs, told while it is typed: imports not declared, no usable ``reward_fn``.

Nothing here refuses anything: the run itself says it again. Invariant: only what is certain is told, so that a function
that works has no advice.
"""

from __future__ import annotations

import ast
import difflib
import sys
from collections.abc import Collection, Iterator

from .compiling import compile_source
from .imports_check import optional_imports
from .module_tables import ALLOWED
from .names import FILE_NAME
from .refusals import FIRST, Row, finding, place, sentence, source_lines

_WANTED = "reward_fn"
_ARGUMENTS = 3


def check(request: Row) -> list[Row]:
    """What the execution policy finds in ``source``, and with ``advice`` what will fail when it runs."""
    _, findings = compile_source(request["source"])
    return findings + advise(request["source"], request["packages"]) if request["advice"] else findings


def advise(source: str, packages: Collection[str] | None) -> list[Row]:
    """List advice on a source that can be parsed; none on one that cannot, which has findings enough.

    ``packages`` are the top-level names that its requirements offer, None when nobody knows.
    """
    try:
        tree = ast.parse(source, FILE_NAME)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    lines, nodes = source_lines(source), list(ast.walk(tree))
    undeclared = [] if packages is None else list(_undeclared(nodes, packages, lines))
    return [*undeclared, *_entry(tree, nodes, lines)]


def _undeclared(nodes: list[ast.AST], packages: Collection[str], lines: list[str]) -> Iterator[Row]:
    optional = {id(node) for node in optional_imports(nodes)}
    for node in nodes:
        if id(node) in optional:
            continue
        names: list[tuple[ast.AST, str]]
        if isinstance(node, ast.Import):
            names = [(alias, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [(node, node.module or "")]
        else:
            continue
        for where, name in names:
            top = name.split(".", maxsplit=1)[0]
            if name not in ALLOWED and top not in packages and top not in sys.stdlib_module_names:
                message = sentence("No module named {name}: add it to the requirements and install them.", name=top)
                yield finding("warning", "undeclared", place(where, lines, top), message)


def _entry(tree: ast.Module, nodes: list[ast.AST], lines: list[str]) -> Iterator[Row]:
    """Say that ``reward_fn`` is missing, misspelt, asynchronous or takes other arguments."""
    functions = [node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    wanted = [node for node in functions if node.name == _WANTED]
    if not wanted and not any(_binds(node) for node in nodes):
        yield _missing(functions, lines)
    for node in wanted[-1:]:
        where = place(node, lines, _WANTED)
        if isinstance(node, ast.AsyncFunctionDef):
            message = sentence("reward_fn is asynchronous: make it a plain function that calls asyncio.run inside.")
            yield finding("warning", "reward-fn", where, message)
        elif not node.decorator_list and not _takes_three(node.args):
            message = sentence("reward_fn is called with three arguments: (context, sample, completions).")
            yield finding("warning", "reward-fn", where, message)


def _missing(functions: list[ast.FunctionDef | ast.AsyncFunctionDef], lines: list[str]) -> Row:
    names = {node.name.lower(): node for node in functions}
    close = difflib.get_close_matches(_WANTED, names, n=1, cutoff=0.75)
    if close:
        node = names[close[0]]
        message = sentence("The function is named {name}; it must be named reward_fn to be called.", name=node.name)
        return finding("warning", "reward-fn", place(node, lines, node.name), message)
    message = sentence("reward.py defines no function reward_fn(context, sample, completions).")
    return finding("warning", "reward-fn", FIRST, message)


def _binds(node: ast.AST) -> bool:
    """Whether a node gives the name ``reward_fn`` to something, anywhere: a branch or an assignment may do it."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return node.name == _WANTED
    if isinstance(node, ast.alias):
        return (node.asname or node.name) == _WANTED
    return isinstance(node, ast.Name) and node.id == _WANTED and isinstance(node.ctx, ast.Store)


def _takes_three(arguments: ast.arguments) -> bool:
    given = len(arguments.posonlyargs) + len(arguments.args)
    least = given - len(arguments.defaults)
    needs_keyword = any(default is None for default in arguments.kw_defaults)
    enough = given >= _ARGUMENTS or arguments.vararg is not None
    return enough and least <= _ARGUMENTS and not needs_keyword
