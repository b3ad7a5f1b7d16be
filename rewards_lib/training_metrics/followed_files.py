"""Which files of its own machine the console may follow for a visitor: logs, in folders where logs lie.

Invariant: a path is judged by where it really lies, links followed, before anything of it is read; a refusal says
nothing of what the file holds, not even whether there is one.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rewards_lib.contract import Sentence
from rewards_lib.errors import InputError
from rewards_lib.training_metrics.formats.event_files import FILE_NAME

FOLDERS_VARIABLE = "REWARD_CONSOLE_LOG_FOLDERS"
ENDINGS = frozenset({".csv", ".tsv", ".txt", ".log", ".out", ".json", ".jsonl", ".ndjson"})
"""What logs are called; event files besides, by their name, and folders of them."""


def log_folders() -> tuple[Path, ...]:
    """The folders whose logs may be followed: those of ``REWARD_CONSOLE_LOG_FOLDERS``, divided as in ``PATH``.

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


def followed_path(typed: str, folders: Sequence[Path] | None = None) -> Path:
    """The file or folder that a visitor named, resolved. Raises InputError unless it is a log in one of ``folders``.

    Hidden files, and files in hidden folders, are none: keys and settings lie there.
    """
    allowed = log_folders() if folders is None else folders
    try:
        path = Path(typed).expanduser().resolve()
    except (OSError, RuntimeError, ValueError):  # a loop of links, no home, a NUL in the name
        raise _refused(typed, allowed) from None
    within = next((path.relative_to(one) for one in allowed if path.is_relative_to(one)), None)
    if within is None or any(part.startswith(".") for part in within.parts):
        raise _refused(typed, allowed)
    if path.suffix.lower() not in ENDINGS and not FILE_NAME.fullmatch(path.name) and not path.is_dir():
        raise InputError(
            "Only logs are followed: files that end in {endings}, event files, and folders of them.",
            endings=", ".join(sorted(ENDINGS)),
            where=typed,
            remedy="Drop the file itself instead.",
        )
    return path


def _refused(typed: str, allowed: Sequence[Path]) -> InputError:
    return InputError(
        "The console follows files in these folders only: {folders}.",
        folders=", ".join(map(str, allowed)) or "—",
        where=typed,
        remedy="Drop the file itself, or name its folder in {variable}.",
        variable=FOLDERS_VARIABLE,
    )


def without_content(error: InputError) -> InputError:
    """The same refusal without what it quotes from the file, which is not the visitor's own."""

    def hidden(sentence: Sentence) -> dict[str, object]:
        return {name: "…" if type(value) is str else value for name, value in sentence.values.items()}

    remedy = error.remedy.template if error.remedy else ""
    return InputError(error.message.template, where=error.where, remedy=remedy, **hidden(error.message))
