"""The exports that the Training metrics page looks at: uploads, examples and followed files, each read once.

An upload is kept on a shelf of the console under its content's hash, so that the address of a view can be opened again;
so are a visitor's own rules.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from threading import Lock

import streamlit as st

from components import state, theme
from components.examples import FOLDER
from components.host_files import may_name_paths
from components.i18n import _
from components.shell import show_failure
from components.state import MetricFile
from rewards_lib.errors import InputError
from rewards_lib.training_metrics import RELATIVE_TIME, ROW_NUMBER, Export, StepColumnError, read_export
from rewards_lib.training_metrics.followed_files import followed_path, without_content

MAX_MB = 200
EXAMPLES = ("hacked", "truncated", "healthy")
SHELF_BYTES = 512_000_000


class Shelf:
    """Uploads of all visitors by digest, the oldest put away when they grow too large together."""

    def __init__(self) -> None:
        self._files: OrderedDict[str, MetricFile] = OrderedDict()
        self._lock = Lock()

    def put(self, file: MetricFile) -> None:
        """Keep a file, now the newest."""
        with self._lock:
            self._files[file.digest] = file
            self._files.move_to_end(file.digest)
            while len(self._files) > 1 and sum(len(one.data) for one in self._files.values()) > SHELF_BYTES:
                self._files.popitem(last=False)

    def get(self, digest: str) -> MetricFile | None:
        """The file of a digest, while it is kept."""
        with self._lock:
            return self._files.get(digest)


@st.cache_resource(show_spinner=False)
def shelf() -> Shelf:
    """The one shelf of this console."""
    return Shelf()


@st.cache_resource(max_entries=8, show_spinner=False)
def _read(digest: str, name: str, x: str | None, _data: bytes | Path) -> Export:  # noqa: ARG001 -- the digest is the key
    """An export is never changed after it was read, so all visitors share it: ``cache_data`` would copy it each run."""
    return read_export(_data, name, x=x)


def open_exports() -> dict[str, Export]:
    """Every opened file that can be read, by its digest; of the others is said why not, and what helps is offered."""
    exports = {}
    for file in state.metric_files.get():
        chosen = state.metric_x.get().get(file.digest)
        told = _("Reading {name}, {size} ...", name=theme.plain(file.name), size=theme.size(_size(file)))
        try:
            with st.spinner(told):
                exports[file.digest] = _read(
                    file.digest, file.name, chosen, followed_path(file.path) if file.path else file.data
                )
        except OSError as error:
            show_failure(_unreadable(file.path, error))
            _offer_to_close(file)
        except StepColumnError as error:
            show_failure(_showable(error, file))
            _ask_for_x(file, error.choices)
            _offer_to_close(file)
        except InputError as error:
            show_failure(_showable(error, file))
            _offer_to_close(file)
    return exports


def let_go(file: MetricFile) -> None:
    """Forget what was read of a followed file before it was written on: of a million steps that is much memory."""
    _read.clear(file.digest, file.name, state.metric_x.get().get(file.digest), b"")


def key_of(exports: Mapping[str, Export]) -> str:
    """A key of what was read: the files in their order, which names their runs, and what counts their steps."""
    return json.dumps([(digest, export.name, export.x) for digest, export in exports.items()])


def _showable(error: InputError, file: MetricFile) -> InputError:
    """A refusal quotes from what the visitor dropped, never from a file of the console's machine."""
    return without_content(error) if file.path else error


def _offer_to_close(file: MetricFile) -> None:
    if st.button(_("Close {name}", name=theme.plain(file.name)), icon=":material/close:", key=f"close_{file.digest}"):
        close(file)
        st.rerun()


def _size(file: MetricFile) -> int:
    path = Path(file.path)
    return len(file.data) if not file.path else path.stat().st_size if path.is_file() else 0


def _unreadable(path: str, error: OSError) -> InputError:
    return InputError("The file cannot be read: {why}.", why=error.strerror or str(error), where=path)


def _ask_for_x(file: MetricFile, choices: tuple[str, ...]) -> None:
    """Let the visitor say what counts the steps of a file that has no step column by name."""
    key = f"metric_x_{file.digest}"
    st.selectbox(
        _("What counts the steps of {name}?", name=file.name),
        [ROW_NUMBER, *choices],
        index=None,
        format_func=x_label,
        placeholder=_("Choose a column or the row number"),
        width=320,
        key=key,
        on_change=choose_x,
        args=(file.digest, key),
    )


def x_label(x: str) -> str:
    """A column's own name; what is counted otherwise in the visitor's language."""
    return {ROW_NUMBER: _("row number"), RELATIVE_TIME: _("seconds since the start")}.get(x, x)


def choose_x(digest: str, key: str) -> None:
    """Keep the choice that the widget of this key holds, for the file of this digest."""
    if wanted := state.widget(key):
        state.metric_x.set({**state.metric_x.get(), digest: wanted})
        state.metric_zoom.clear()  # steps that are counted otherwise lie elsewhere


def close(file: MetricFile) -> None:
    """Look at this file no longer."""
    state.metric_files.set(tuple(one for one in state.metric_files.get() if one != file))


def add_files(files: list[tuple[str, bytes]]) -> None:
    """Open files; one whose content is open already is not opened twice."""
    opened = list(state.metric_files.get())
    for name, data in files:
        digest = blake2b(data, digest_size=12).hexdigest()
        if digest not in {file.digest for file in opened}:
            opened.append(MetricFile(name, data, digest))
            shelf().put(opened[-1])
    state.metric_files.set(tuple(opened))


# --- dropping ---------------------------------------------------------------------------------------------------------


def uploader(*, key: str) -> None:
    """Draw the drop zone. What is dropped is opened at once, and the zone is empty again."""
    key = f"{key}_{state.metric_uploads.get()}"
    st.file_uploader(
        _("Exports of runs"),
        accept_multiple_files=True,
        max_upload_size=MAX_MB,
        label_visibility="collapsed",
        key=key,
        on_change=_open_uploads,
        args=(key,),
    )
    larger = (
        _("Larger than {size} MB? Give its path below: it is read from the disk of this machine.", size=MAX_MB)
        if may_name_paths()
        else _("Larger than {size} MB? Open the console on the machine where the file lies.", size=MAX_MB)
    )
    st.caption(larger)


def _open_uploads(key: str) -> None:
    dropped = state.widget(key) or []
    add_files([(file.name, file.getvalue()) for file in dropped])
    state.metric_uploads.set(state.metric_uploads.get() + 1)


def example_buttons() -> None:
    """Draw a button for each example run; the first is the page's primary one."""
    labels = {
        "healthy": (_("Open a healthy run"), _("Reward rises in training and test alike.")),
        "truncated": (_("Open a truncated run"), _("Answers grow into the limit, and reward turns down.")),
        "hacked": (_("Open a hacked run"), _("Training reward rises while the test reward falls.")),
    }
    for place, name in enumerate(EXAMPLES):
        label, told = labels[name]
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.button(
                label,
                type="secondary" if place else "primary",
                icon=":material/monitoring:",
                key=f"example_{name}",
                on_click=open_example,
                args=(name,),
                width=210,
            )
            st.caption(told, width="content")


def open_example(name: str) -> None:
    """Open an example run."""
    add_files([(f"{name}.csv", (FOLDER / "training_metrics" / f"{name}.csv").read_bytes())])
