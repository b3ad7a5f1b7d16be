"""Files that visitors dropped: kept under their content's hash, for a job and its resume to read, until removed.

Invariant: what is kept once is not written again; removing looks at nothing outside the folder of uploads.
"""

from __future__ import annotations

import hashlib
import re
import shutil
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from rewards_lib.errors import StoreError
from rewards_lib.whole_files import write_whole

_LONGEST_NAME = 80
_DIGEST = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class Upload:
    """One content, under the name or names that it was dropped with."""

    digest: str
    paths: tuple[Path, ...]
    """Empty when the console was ended while it wrote the file."""
    size_bytes: int
    kept_at: datetime


def keep_upload(folder: Path, name: str, data: bytes | memoryview) -> Path:
    """Put a file below ``folder`` and return its path. Raises StoreError when it cannot be written."""
    own = folder / hashlib.sha256(data).hexdigest()[:16]
    path = own / (Path(name).name.lstrip(".")[-_LONGEST_NAME:] or "rollouts")
    try:
        own.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            with write_whole(path) as file:
                file.write(data)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise StoreError("The file cannot be kept: {reason}.", where=str(path), reason=reason) from None
    return path


def list_uploads(folder: Path) -> list[Upload]:
    """The uploads below ``folder``, the newest first."""
    own = [_read(one) for one in folder.iterdir() if _DIGEST.fullmatch(one.name)] if folder.is_dir() else []
    return sorted(own, key=lambda upload: upload.kept_at, reverse=True)


def _read(folder: Path) -> Upload:
    files = sorted(path for path in folder.iterdir() if path.is_file())
    kept_at = datetime.fromtimestamp(folder.stat().st_mtime, UTC)
    shown = tuple(path for path in files if not path.name.startswith("."))
    return Upload(folder.name, shown, size_of_folder(folder), kept_at)


def size_of_folder(folder: Path) -> int:
    """Bytes of the files that lie in a folder itself; 0 where there is none."""
    sizes = []
    for path in folder.glob("*"):
        with suppress(FileNotFoundError):  # whoever writes there may have put it under another name
            sizes.append(path.stat().st_size)
    return sum(sizes)


def remove_upload(folder: Path, digest: str) -> None:
    """Remove what ``list_uploads`` lists under a digest; what is gone already is no fault."""
    if _DIGEST.fullmatch(digest):
        shutil.rmtree(folder / digest, ignore_errors=True)
