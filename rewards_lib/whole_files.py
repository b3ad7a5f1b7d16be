"""Writing a file so that it is there whole or not at all, whoever else writes it, whenever the process is killed.

Invariant: under the file's own name stands what one writer wrote to its end, brought to the disk, or what stood there.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def write_whole(path: Path, *, mode: int = 0o666, replaces: bool = True) -> Iterator[IO[bytes]]:
    """Open a new file that takes the place of ``path`` when the block ends; when the block fails, nothing is left.

    ``mode`` is what the new file may be used for, less the process's umask. With ``replaces=False`` the file of whoever
    came first stays. Raises OSError where the folder cannot be written.
    """
    beside = path.with_name(f".{secrets.token_hex(8)}.new")  # a name of its own: others may write the same file now
    try:
        with os.fdopen(os.open(beside, os.O_CREAT | os.O_EXCL | os.O_RDWR, mode), "w+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())  # without it a machine that stops may keep the name and lose the bytes
        if replaces:
            beside.replace(path)
        else:
            with contextlib.suppress(FileExistsError):
                os.link(beside, path)
    finally:
        beside.unlink(missing_ok=True)
