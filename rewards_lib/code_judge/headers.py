"""Headers that are compiled before any program needs them: a header of everything takes longer than most programs.

Invariant: a precompiled header is a matter of speed alone. A compiler takes it only where it stands for the header,
and reads the header itself where it does not; a program's binary does not depend on it.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable
from pathlib import Path

from rewards_lib.code_judge import anonymous_files
from rewards_lib.code_judge.binary_cache import BinaryCache
from rewards_lib.code_judge.languages import Language
from rewards_lib.code_judge.toolchains import Toolchain
from rewards_lib.whole_files import write_whole

Build = Callable[[Toolchain], int | None]
"""Compiles a language's header and returns the result as a descriptor, None when that failed."""


class PrecompiledHeaders:
    """Keeps precompiled headers in a folder that compilers can read. Thread-safe."""

    def __init__(self, folder: Path, build: Build, *, builds_itself: bool = True) -> None:
        self.folder = folder
        self._build = build
        self._builds_itself = builds_itself
        self._lock = threading.Lock()
        self._begun: set[str] = set()

    def place_for(self, toolchain: Toolchain, source: str) -> Path | None:
        """The folder to be searched for headers first; None where there is nothing, or not yet.

        The first who asks in vain lets the header be compiled, beside what is going on.
        """
        language = toolchain.language
        if not language.header or not _includes(source, language.header):
            return None
        place = self._place(toolchain)
        if (place / f"{language.header}.gch").is_file():
            return place
        if self._builds_itself:
            self._begin(toolchain)
        return None

    def _place(self, toolchain: Toolchain) -> Path:
        language = toolchain.language
        return self.folder / BinaryCache.key(toolchain.version, *flags_of(language))[:16]

    def _begin(self, toolchain: Toolchain) -> None:
        key = str(self._place(toolchain))
        with self._lock:
            if key in self._begun:
                return
            self._begun.add(key)
        threading.Thread(target=self.make, args=(toolchain,), name="precompiled header", daemon=True).start()

    def make(self, toolchain: Toolchain) -> bool:
        """Compile the header now and keep it; whether that worked."""
        compiled = self._build(toolchain)
        if compiled is None:
            return False
        target = self._place(toolchain) / f"{toolchain.language.header}.gch"
        with anonymous_files.closing(compiled):
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
                with write_whole(target) as file:
                    for piece in anonymous_files.pieces(compiled):
                        file.write(piece)
                    os.fchmod(file.fileno(), 0o644)  # whatever the umask: compilers run as another user
            except OSError:
                return False  # a disk that is full costs the speed and nothing else
        return True


def flags_of(language: Language) -> tuple[str, ...]:
    """The flags of a compile command that a precompiled header must share."""
    return tuple(part for part in language.compile if part.startswith(("-O", "-std=", "-D")))


def _includes(source: str, header: str) -> bool:
    return re.search(rf"^[ \t]*#[ \t]*include[ \t]*[<\"]{re.escape(header)}[>\"]", source, re.MULTILINE) is not None
