"""Which files of its own machine the console opens for a visitor: those in folders that the operator allows.

Invariant: a path is judged by where it really lies, links followed, before anything of it is read; a refusal says
nothing of what the file holds, not even whether there is one.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rewards_lib.errors import InputError

FOLDERS_VARIABLE = "REWARD_CONSOLE_LOG_FOLDERS"


def open_folders() -> tuple[Path, ...]:
    """The folders whose files may be opened: those of ``REWARD_CONSOLE_LOG_FOLDERS``, divided as in ``PATH``.

    By default the working directory, the user's home and the folder for temporary files.
    """
    named = os.environ.get(FOLDERS_VARIABLE)
    if named is not None:
        folders = [Path(one).expanduser() for one in named.split(os.pathsep) if one]
    else:
        folders = [Path.cwd(), Path(os.path.expanduser("~")), Path(tempfile.gettempdir())]
        # a user without a home lives in the root of the machine, which would open all of it
        folders = [one for one in folders if one.resolve() != Path(one.anchor)]
    return tuple(dict.fromkeys(one.resolve() for one in folders))


def path_on_host(typed: str, folders: Sequence[Path] | None = None) -> Path:
    """The file or folder that a visitor named, resolved. Raises InputError unless it lies in one of ``folders``.

    Hidden files, and files in hidden folders, are refused: keys and settings lie there.
    """
    allowed = open_folders() if folders is None else folders
    try:
        path = Path(typed).expanduser().resolve()
    except (OSError, RuntimeError, ValueError):  # a loop of links, no home, a NUL in the name
        raise _refused(typed, allowed) from None
    within = next((path.relative_to(one) for one in allowed if path.is_relative_to(one)), None)
    if within is None or any(part.startswith(".") for part in within.parts):
        raise _refused(typed, allowed)
    return path


def _refused(typed: str, allowed: Sequence[Path]) -> InputError:
    return InputError(
        "The console opens files in these folders only: {folders}.",
        folders=", ".join(map(str, allowed)) or "—",
        where=typed,
        remedy="Drop the file itself, or name its folder in {variable}.",
        variable=FOLDERS_VARIABLE,
    )
