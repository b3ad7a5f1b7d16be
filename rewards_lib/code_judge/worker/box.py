"""The folder of the programs, and how it is emptied whatever a program has built in it.

Invariant: no path gets longer than two names below the folder, so that a tree of any depth can be taken down.
"""

from __future__ import annotations

import contextlib
import itertools
import os


def empty(folder: str) -> None:
    """Delete everything in a folder. Raises OSError when something stays.

    Folders inside a folder are moved up before it is deleted: descending would fail on a tree that is deeper than a
    path can be long.
    """
    numbers = itertools.count()
    while entries := os.listdir(folder):
        for name in entries:
            path = os.path.join(folder, name)
            if not os.path.isdir(path) or os.path.islink(path):
                os.unlink(path)
                continue
            with contextlib.suppress(PermissionError):
                os.chmod(path, 0o700)
            for inner in os.listdir(path):
                os.rename(os.path.join(path, inner), os.path.join(folder, f".{next(numbers)}-{os.getpid()}"))
            os.rmdir(path)
