"""Keep the catalogues complete: ``python -m components.locale.update`` adds new messages and drops old ones.

What is translatable: the first argument of ``_()`` and ``sentence()``, the message and the remedy of the error family,
and the first argument of functions that hand a ``message`` or a ``template`` on. Where such an argument is a variable
or an entry of a table, every text that it may stand for is taken.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("rewards_lib", "components", "pages")
LANGUAGES = ("zh",)
# Without dates, so that a run that finds nothing new changes nothing.
_HEADER = """\
msgid ""
msgstr ""
"Language: {language}\\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=utf-8\\n"
"Content-Transfer-Encoding: 8bit\\n"

"""
_CALLS = frozenset(["_", "sentence"])
_FAMILY = "RewardConsoleError"
_HANDED_ON = ("message", "template")
# What the worker raises is shown to authors as Python shows it, in English.
_WORKER = ROOT / "rewards_lib" / "executor" / "worker"


def messages() -> dict[str, list[tuple[str, int]]]:
    """Every translatable text of the sources, with the places where it stands."""
    paths = [ROOT / "app.py", *(path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py")))]
    trees = {path: ast.parse(path.read_text("utf-8")) for path in paths if "node_modules" not in path.parts}
    errors = _family([tree for path, tree in trees.items() if not path.is_relative_to(_WORKER)])
    found: dict[str, list[tuple[str, int]]] = {}
    for path, tree in trees.items():
        for text, line in texts_of(tree, frozenset() if path.is_relative_to(_WORKER) else errors):
            found.setdefault(text, []).append((str(path.relative_to(ROOT)), line))
    return found


def texts_of(tree: ast.Module, errors: frozenset[str] = frozenset()) -> Iterator[tuple[str, int]]:
    """Yield (text, line) for every translatable text of one module; ``errors`` names the classes of the family."""
    assigned = _assignments(tree)
    handing = _CALLS | errors | {node.name for node in _functions(tree) if _hands_on(node)}
    for call, owner in _calls(tree):
        name = _name_of(call.func)
        if name in handing or (name == "__init__" and owner in errors):
            remedies = [word.value for word in call.keywords if word.arg == "remedy"]
            for value in [*call.args[:1], *remedies]:
                yield from _texts(value, assigned)


def _family(trees: Sequence[ast.Module]) -> frozenset[str]:
    """The error family and the functions that make its members from a message."""
    classes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    family = {_FAMILY}
    for _generation in range(4):
        family |= {node.name for node in classes if any(_name_of(base) in family for base in node.bases)}
    makers = [node for tree in trees for node in _functions(tree) if _hands_on(node)]
    return frozenset(family | {node.name for node in makers if node.returns and _name_of(node.returns) in family})


def _functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def _hands_on(function: ast.FunctionDef) -> bool:
    return bool(function.args.args) and function.args.args[0].arg in _HANDED_ON


def _calls(node: ast.AST, owner: str = "") -> Iterator[tuple[ast.Call, str]]:
    """Yield every call with the name of the class around it."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Call):
            yield child, owner
        yield from _calls(child, child.name if isinstance(child, ast.ClassDef) else owner)


def _assignments(tree: ast.Module) -> dict[str, list[ast.expr]]:
    """What each name of a module is set to, wherever that happens."""
    found: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                for name in target.elts if isinstance(target, ast.Tuple) else [target]:
                    found.setdefault(_name_of(name), []).append(node.value)
    return found


def _name_of(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _texts(
    node: ast.expr, assigned: Mapping[str, list[ast.expr]], seen: frozenset[str] = frozenset()
) -> Iterator[tuple[str, int]]:
    """Yield the texts that an expression may stand for: through conditions, tables and names."""
    parts: list[ast.expr] = []
    if isinstance(node, ast.Constant):
        if isinstance(node.value, str) and node.value.strip():
            yield node.value, node.lineno
    elif isinstance(node, ast.IfExp):
        parts = [node.body, node.orelse]
    elif isinstance(node, ast.Tuple):
        parts = node.elts
    elif isinstance(node, ast.Dict):
        parts = node.values
    elif isinstance(node, ast.Subscript):
        parts = [node.value]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
        parts = [node.func.value, *node.args[1:]]
    elif isinstance(node, ast.Name) and node.id not in seen:
        parts, seen = assigned.get(node.id, []), seen | {node.id}
    for part in parts:
        yield from _texts(part, assigned, seen)


def update(language: str) -> tuple[int, int]:
    """Rewrite the catalogue of a language; return how many messages it has and how many lack a translation."""
    path = ROOT / "components" / "locale" / language / "console.po"
    known = Catalog(locale=language)
    if path.exists():
        with path.open("rb") as source:
            known = read_po(source, locale=language)
    fresh = Catalog(locale=language)
    for text, places in sorted(messages().items()):
        old = known.get(text)
        files = sorted({file for file, _line in places})
        fresh.add(text, old.string if old else "", locations=[(file, 0) for file in files])
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as target:
        target.write(_HEADER.format(language=language).encode())
        write_po(target, fresh, width=120, omit_header=True, include_lineno=False)
    return len(fresh), sum(not message.string for message in fresh if message.id)


def main() -> int:
    """Update every language and say what is left to translate."""
    left = 0
    for language in LANGUAGES:
        count, missing = update(language)
        left += missing
        print(f"{language}: {count} messages, {missing} without a translation", file=sys.stderr)
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
