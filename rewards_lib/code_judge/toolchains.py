"""Which languages this machine can judge: compilers and interpreters, where they lie and in which version.

Invariant: a toolchain is what the confined side can really read and start; what is missing is told with what to
install, and is never held against a program.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from rewards_lib.code_judge.languages import LANGUAGES, Language
from rewards_lib.code_judge.workers import WORKER_FOLDER
from rewards_lib.errors import DependencyError
from rewards_lib.executor import places

_VERSION_FLAGS = {"go": "version", "java": "-version", "javac": "-version"}
_LOADERS = ("/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1", "/lib/ld-musl-x86_64.so.1")


class ToolchainError(DependencyError):
    """A language whose compiler or interpreter this machine lacks."""

    code, http_status = "toolchain", 501


@dataclass(frozen=True, slots=True)
class Toolchain:
    """What one language needs on this machine, found."""

    language: Language
    tools: Mapping[str, str] = field(default_factory=dict)
    """Tool to its real path."""
    readable: tuple[str, ...] = ()
    """What a running program may read, beside the system's libraries."""
    runnable: tuple[str, ...] = ()
    """What it may start."""
    compiler_readable: tuple[str, ...] = ()

    def filled(self, part: str) -> str:
        """A part of a command, its ``{tool}`` replaced by the tool's path."""
        for tool, path in self.tools.items():
            part = part.replace(f"{{{tool}}}", path)
        return part

    @property
    def version(self) -> str:
        """The first line that the compiler or interpreter says of itself; asked for once."""
        if not self.language.tools:
            return f"Python {_python_version()}"
        first = self.language.tools[0]
        return _version(first, self.tools[first])


@cache
def readable_by_all() -> tuple[str, ...]:
    """What every program may read: the system's libraries, the interpreter, our workers' code."""
    return tuple(places.readable_places([str(WORKER_FOLDER)]))


@cache
def packages() -> tuple[str, ...]:
    """Folders of installed packages, which Python programs may import."""
    return tuple(places.own_packages())


@cache
def find_toolchain(language: Language) -> Toolchain | None:
    """Look for a language's tools; None when one is missing."""
    if not language.tools:
        return Toolchain(language, {}, packages())
    found = {tool: path for tool in language.tools if (path := _find(tool))}
    if len(found) < len(language.tools):
        return None
    started = [path for tool, path in found.items() if f"{{{tool}}}" in language.run]
    homes = {path: _home(path) for path in found.values()}
    run_homes = tuple(home for path in started if (home := homes[path]))
    reads = _existing((*language.reads, *run_homes, *started))
    runnable = (*started, *run_homes, *(_existing(language.reads) if language.starts_programs else ()))
    return Toolchain(
        language, found, reads,
        ("./main", *_existing(_LOADERS), *runnable),
        _existing((*language.compiler_reads, *filter(None, homes.values()), *found.values())),
    )  # fmt: skip


def need_toolchain(language: Language) -> Toolchain:
    """The toolchain of a language. Raises ToolchainError that says what to install."""
    found = find_toolchain(language)
    if found is None:
        raise ToolchainError(
            "This machine cannot judge {language}: {tools} is not installed.",
            language=language.title, tools=", ".join(language.tools),
            remedy="Install the package {package} and start the judge again.", package=language.install,
        )  # fmt: skip
    return found


def found_languages() -> dict[str, str | None]:
    """Every language with the version of its toolchain; None where it is missing."""
    found = {name: find_toolchain(language) for name, language in LANGUAGES.items()}
    return {name: toolchain.version if toolchain else None for name, toolchain in found.items()}


@cache
def readable_anywhere() -> tuple[str, ...]:
    """Everything that a program or compiler of any language may read: what workers see at all."""
    chains = [chain for chain in map(find_toolchain, LANGUAGES.values()) if chain]
    wanted = [*readable_by_all(), *(path for chain in chains for path in (*chain.readable, *chain.compiler_readable))]
    places_alone = [path for path in dict.fromkeys(wanted) if not any(_is_inside(path, other) for other in wanted)]
    return tuple(places_alone)


def _is_inside(path: str, other: str) -> bool:
    return path.startswith(other + "/")


def _existing(paths: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(path for path in paths if os.path.exists(path)))


def _find(tool: str) -> str | None:
    path = shutil.which(tool)
    if path and os.path.basename(os.path.realpath(path)) == "rustup":  # a front for the compiler in its own folder
        inside = Path(_said([path, "--print", "sysroot"]).strip()) / "bin" / tool
        return str(inside) if inside.is_file() else None
    # g++ and the like stay as they are called: a compiler looks at its own name
    return os.path.realpath(path) if path and tool in {"java", "javac", "rustc", "go", "node"} else path


def _home(path: str) -> str | None:
    """The folder that a toolchain outside the system's places needs as a whole, Java's included."""
    folder = os.path.dirname(os.path.dirname(path))
    is_system = any(path.startswith(place + "/bin/") for place in ("/usr", "", "/usr/local"))
    return None if is_system else folder


@cache
def _version(tool: str, path: str) -> str:
    lines = _said([path, _VERSION_FLAGS.get(tool, "--version")]).strip().splitlines()
    return lines[0].strip() if lines else tool


def _said(command: list[str]) -> str:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=20, check=False, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout or done.stderr


def _python_version() -> str:
    return re.split(r"[\s+]", sys.version, maxsplit=1)[0]
