"""Which files of its own machine the console may follow for a visitor: logs, in folders where logs lie.

Invariant: a path is judged by where it really lies, links followed, before anything of it is read; a refusal says
nothing of what the file holds, not even whether there is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rewards_lib.contract import Sentence
from rewards_lib.errors import InputError
from rewards_lib.host_files import path_on_host
from rewards_lib.training_metrics.formats.event_files import FILE_NAME

ENDINGS = frozenset({".csv", ".tsv", ".txt", ".log", ".out", ".json", ".jsonl", ".ndjson"})
"""What logs are called; event files besides, by their name, and folders of them."""


def followed_path(typed: str, folders: Sequence[Path] | None = None) -> Path:
    """The file or folder that a visitor named, resolved. Raises InputError unless it is a log in one of ``folders``.

    Hidden files, and files in hidden folders, are none: keys and settings lie there.
    """
    path = path_on_host(typed, folders)
    if path.suffix.lower() not in ENDINGS and not FILE_NAME.fullmatch(path.name) and not path.is_dir():
        raise InputError(
            "Only logs are followed: files that end in {endings}, event files, and folders of them.",
            endings=", ".join(sorted(ENDINGS)),
            where=typed,
            remedy="Drop the file itself instead.",
        )
    return path


def without_content(error: InputError) -> InputError:
    """The same refusal without what it quotes from the file, which is not the visitor's own."""

    def hidden(sentence: Sentence) -> dict[str, object]:
        return {name: "…" if type(value) is str else value for name, value in sentence.values.items()}

    remedy = error.remedy.template if error.remedy else ""
    return InputError(error.message.template, where=error.where, remedy=remedy, **hidden(error.message))
