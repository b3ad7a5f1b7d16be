"""Keep the catalogues complete: ``python -m components.locale.update`` adds new messages and drops old ones.

What is translatable: the first argument of ``_()`` and ``sentence()``, and the message and the remedy of errors.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("rewards_lib", "components", "pages")
LANGUAGES = ("zh",)
_ERROR = re.compile(r"(Error|Conflict)$|^_refuse|^refusal$|^missing$")


def messages() -> dict[str, list[tuple[str, int]]]:
    """Every translatable text of the sources, with the places where it stands."""
    found: dict[str, list[tuple[str, int]]] = {}
    for path in [ROOT / "app.py", *(p for folder in FOLDERS for p in sorted((ROOT / folder).rglob("*.py")))]:
        if "node_modules" not in path.parts:
            for text, line in texts_of(ast.parse(path.read_text(encoding="utf-8"))):
                found.setdefault(text, []).append((str(path.relative_to(ROOT)), line))
    return found


def texts_of(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield (text, line) for every translatable text of one module."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = _name_of(node.func)
        if name in ("_", "sentence") or _ERROR.search(name) or name == "__init__":
            yield from _constants(node.args[:1])
            yield from _constants([word.value for word in node.keywords if word.arg == "remedy"])


def _name_of(function: ast.expr) -> str:
    return (
        function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""
    )


def _constants(nodes: list[ast.expr]) -> Iterator[tuple[str, int]]:
    for node in nodes:
        if isinstance(node, ast.IfExp):
            yield from _constants([node.body, node.orelse])
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.strip():
            yield node.value, node.lineno


def update(language: str) -> tuple[int, int]:
    """Rewrite the catalogue of a language; return how many messages it has and how many lack a translation."""
    path = ROOT / "components" / "locale" / language / "console.po"
    known = Catalog(locale=language)
    if path.exists():
        with path.open("rb") as file:
            known = read_po(file, locale=language)
    fresh = Catalog(locale=language, project="Reward Console", charset="utf-8", fuzzy=False)
    for text, places in sorted(messages().items()):
        old = known.get(text)
        files = sorted({file for file, _line in places})
        fresh.add(text, old.string if old else "", locations=[(file, None) for file in files])
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        write_po(file, fresh, width=120, omit_header=False, include_lineno=False)
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
