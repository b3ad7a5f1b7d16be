"""A language's own packages, compiled once a machine: newer toolchains come without, and need longer for them than for
any program.

Invariant: nothing of a submission takes part in it; a folder that can be seen is complete.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

from rewards_lib.code_judge.binary_cache import BinaryCache
from rewards_lib.code_judge.toolchains import Toolchain
from rewards_lib.errors import DependencyError

_SECONDS = 900
_FOLDER_MODE, _FILE_MODE = 0o755, 0o644
"""Compilers read them as a user that owns nothing."""


class CompiledLibraries:
    """Keeps compiled libraries in a folder. Thread-safe, and safe for several processes on one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()

    def place_for(self, toolchain: Toolchain, *, whole: bool = False) -> Path | None:
        """The folder with ``name.a`` for each common package, or for all; None for a language that needs no library.

        The first who asks waits until it is compiled. Raises DependencyError when that fails.
        """
        language = toolchain.language
        if not language.library:
            return None
        command = (*language.library, *((language.every_package,) if whole else language.packages))
        place = self._folder / BinaryCache.key(toolchain.version, *command)[:16]
        with self._lock:
            if not place.is_dir():
                self._make(toolchain, command, place)
        return place

    def _make(self, toolchain: Toolchain, command: Sequence[str], place: Path) -> None:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=self._folder, ignore_cleanup_errors=True) as scratch:
                made = Path(scratch, "made")
                _gather(_compiled(toolchain, command, Path(scratch)), made)
                if not place.is_dir():  # another process may have been quicker
                    made.rename(place)
        except (OSError, subprocess.SubprocessError) as error:
            said = error.stderr if isinstance(error, subprocess.CalledProcessError) else ""
            raise DependencyError(
                "The library of {language} cannot be compiled: {why}. Nothing was judged.",
                language=toolchain.language.title, why=" ".join(f"{error} {said or ''}".split())[:500],
                remedy="Check how it is installed, and that there is room on the disk.",
            ) from None  # fmt: skip


def _compiled(toolchain: Toolchain, command: Sequence[str], scratch: Path) -> dict[str, str]:
    """Let the toolchain compile the library: package to file."""
    environment = {
        "PATH": "/usr/bin:/bin", "HOME": str(scratch), "TMPDIR": str(scratch), **dict(toolchain.language.environment),
    }  # fmt: skip
    done = subprocess.run(
        [toolchain.filled(part) for part in command], env=environment, cwd=scratch, check=True,
        capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=_SECONDS,
    )  # fmt: skip
    return dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)


def _gather(packages: dict[str, str], folder: Path) -> None:
    if not packages:
        raise OSError("no package came of it")
    for name, file in packages.items():
        target = folder / f"{name}.a"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)
    for inner in (folder, *folder.rglob("*")):
        inner.chmod(_FOLDER_MODE if inner.is_dir() else _FILE_MODE)
