"""What an import knows of one trainer's functions.

Invariant: an author's text is kept as it was; what makes it ours stands behind it under a line that says so.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

from rewards_lib.contract import Sentence

HEAD = "\n\n# --- added by the import from {label}: calls {name} as {label} does ---\n"


@dataclass(frozen=True, slots=True)
class Found:
    """A function in a file."""

    name: str
    parameters: tuple[str, ...]
    takes_rest: bool
    """Whether it has ``**kwargs``."""
    is_async: bool
    node: ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Adapted:
    """A text that became a ``reward.py``."""

    source: str
    told: tuple[Sentence, ...]
    """What was adapted, one sentence each."""


@dataclass(frozen=True, slots=True)
class Source:
    """One trainer."""

    name: str
    label: str
    find: Callable[[list[Found]], Found | None]
    """Which of a file's functions is the reward."""
    adapt: Callable[[str, Found], Adapted]
    """Make it ours."""


def functions_of(tree: ast.Module) -> list[Found]:
    """The functions at the top level of a file, in order."""
    found = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            names = tuple(argument.arg for argument in arguments)
            is_async = isinstance(node, ast.AsyncFunctionDef)
            found.append(Found(node.name, names, node.args.kwarg is not None, is_async, node))
    return found


def appended(source: str, label: str, name: str, code: str) -> str:
    """The author's text with our part behind it."""
    return source.rstrip() + "\n" + HEAD.format(label=label, name=name) + code


def call_of(found: Found, call: str) -> str:
    """The call of a function, driven to its end where it is a coroutine function."""
    return f"asyncio.run({call})" if found.is_async else call
