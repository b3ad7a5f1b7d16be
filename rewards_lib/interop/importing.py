"""Making a draft of a trainer's reward function, or of a folder that was exported here.

Invariant: nothing of the file is run; what comes back from an exported folder is what was published.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path

from rewards_lib.contract import Finding, JsonObject, Sentence, sentence
from rewards_lib.errors import InputError
from rewards_lib.executor import check_once
from rewards_lib.interop.exporting import MANIFEST
from rewards_lib.interop.sources import SOURCES, Source
from rewards_lib.interop.sources.source import functions_of
from rewards_lib.publishing import draft_content
from rewards_lib.store import Draft, Kind, Store, free_names
from rewards_lib.strict_json import read_json, read_text


@dataclass(frozen=True, slots=True)
class Imported:
    """What a file became."""

    kind: Kind
    name: str
    """The name it would have as a draft."""
    content: JsonObject
    origin: str
    """The trainer, or ``export`` for a folder that was exported here."""
    told: tuple[Sentence, ...]
    """What was adapted."""
    findings: tuple[Finding, ...]
    """What the executor refuses in it, and hints."""


def import_file(path: Path, origin: str | None = None) -> Imported:
    """Read a function file of a trainer, recognised by its signature unless ``origin`` names the trainer.

    A file of a folder that was exported here gives the published content back. Raises InputError when the file is no
    Python, or holds no function of that kind.
    """
    manifest = next((folder / MANIFEST for folder in path.resolve().parents[:2] if (folder / MANIFEST).is_file()), None)
    if manifest is not None:
        return _exported(manifest)
    text = read_text(path)
    return import_source(text, name=path.stem, where=path.name, origin=origin)


def import_source(text: str, *, name: str, where: str = "", origin: str | None = None) -> Imported:
    """Make a draft's content of a function's text. Raises InputError as ``import_file`` does."""
    try:
        functions = functions_of(ast.parse(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = str(error) or "it is nested too deeply"
        raise InputError("This is not Python: {reason}.", where=where, reason=reason) from None
    if origin is not None and origin not in SOURCES:
        raise InputError(
            "There is no import from {origin}.", where="--from", origin=origin, remedy="There are: {names}.",
            names=", ".join(SOURCES),
        )  # fmt: skip
    candidates: list[Source] = [SOURCES[origin]] if origin else list(SOURCES.values())
    for source in candidates:
        found = source.find(functions)
        if found is not None:
            adapted = source.adapt(text, found)
            content: JsonObject = {"source": adapted.source, "requirements": "", "allow_hosts": []}
            findings = check_once(adapted.source)
            plain = re.sub(r"[^\w.-]+", "_", name if name not in ("reward", "rl_reward") else found.name).strip("_.-")
            return Imported("function", plain or "reward", content, source.name, adapted.told, tuple(findings))
    raise InputError(
        "No reward function of {origins} is in this file.", where=where,
        origins=", ".join(source.label for source in candidates),
        remedy="Expected is a function at the top level with the trainer's parameter names.",
    )  # fmt: skip


def keep_import(store: Store, imported: Imported, *, name: str | None = None) -> Draft:
    """Save an import as a draft, under the first free name where its own is taken by another text."""
    wanted, content = name or imported.name, draft_content(store, imported.content)
    for free in free_names(wanted):
        present = store.find_draft(imported.kind, free)
        if present is None or present.content == content:
            break
    return present or store.save_draft(imported.kind, free, content, base_revision=None)


def _exported(manifest: Path) -> Imported:
    row = read_json(read_text(manifest), name=manifest.name)
    if not isinstance(row, dict) or not isinstance(row.get("content"), dict) or row.get("kind") not in (
        "function", "mix",
    ) or not isinstance(row.get("name"), str):  # fmt: skip
        raise InputError("This is no export of a reward.", where=str(manifest))
    told = (sentence("Nothing: it is {label}, exported from here.", label=f"{row.get('name')}@{row.get('version')}"),)
    return Imported(row["kind"], row["name"], row["content"], "export", told, ())
