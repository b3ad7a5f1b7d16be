"""Files on the console's own machine that are followed while a trainer writes them.

Invariant: only logs in the folders the operator allows are opened, and only where this machine alone can open the
console.
"""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path

import streamlit as st

from components import state
from components.host_files import may_name_paths
from components.i18n import _
from components.metrics.files import let_go
from components.shell import show_failure
from components.state import MetricFile
from rewards_lib.errors import InputError
from rewards_lib.training_metrics.followed_files import followed_path
from rewards_lib.training_metrics.formats.event_files import event_files_below

FOLLOW_SECONDS = 2


def path_field() -> None:
    """Draw the field for a path on the console's own machine, where only this machine can open the console."""
    if not may_name_paths():
        return
    # emptied from here, a field in a closed popover would send its old text again at the next rerun: a new one instead
    key = f"metric_path_{state.metric_uploads.get()}"
    typed = st.text_input(
        _("Or follow a file on this machine"),
        placeholder=_("Path of a log, a CSV or a folder of event files"),
        key=key,
        on_change=_open_path,
        args=(key,),
        help=_("New rows appear while it is written."),
    )
    if typed and (refused := _opened(typed)[1]):
        show_failure(refused)


def _open_path(key: str) -> None:
    path, _refused = _opened(state.widget(key) or "")
    if path:
        opened = [file for file in state.metric_files.get() if file.path != path]
        state.metric_files.set((*opened, _path_file(path)))
        state.metric_uploads.set(state.metric_uploads.get() + 1)


def _opened(typed: str) -> tuple[str, InputError | None]:
    """The path that was typed, resolved, or why it is not followed."""
    try:
        return (str(followed_path(typed.strip())) if typed.strip() else ""), None
    except InputError as error:
        return "", error


def _path_file(path: str) -> MetricFile:
    return MetricFile(Path(path).name, b"", _state_of(path), path)


def _state_of(path: str) -> str:
    """A digest of when and how far the file, or the files of the folder, were written."""
    try:
        place = followed_path(path)
        files = event_files_below(place) if place.is_dir() else [place]
        seen = [(str(one), one.stat().st_size, one.stat().st_mtime_ns) for one in files]
    except (OSError, InputError):  # reading the file says so in a sentence
        seen = []
    return blake2b(repr((path, seen)).encode(), digest_size=12).hexdigest()


def follow_paths() -> None:
    """Look every other second whether a followed path was written on; then read it again and draw the page anew."""
    drawn = state.metric_files.get()
    if any(file.path for file in drawn):
        st.fragment(_look_again, run_every=FOLLOW_SECONDS)(drawn)


def _look_again(drawn: tuple[MetricFile, ...]) -> None:
    """``drawn`` is what the page shows: a callback of this very rerun may have changed what is open since."""
    files = state.metric_files.get()
    now = tuple(_path_file(file.path) if file.path else file for file in files)
    if now == drawn:
        return
    chosen, moved = state.metric_x.get(), {}
    for old, new in zip(files, now, strict=True):
        if old != new:
            let_go(old)
        if old.digest in chosen:
            moved[new.digest] = chosen[old.digest]
    state.metric_x.set({**chosen, **moved})
    state.metric_files.set(now)
    st.rerun()
