"""The exports that the Training metrics page looks at: uploads and examples, each read once for its content."""

from __future__ import annotations

from hashlib import blake2b

import streamlit as st

from components import state
from components.examples import FOLDER
from components.i18n import _
from components.shell import show_failure
from components.state import MetricFile
from components.theme import number
from rewards_lib.errors import RewardConsoleError
from rewards_lib.training_metrics import ROW_NUMBER, Export, StepColumnError, read_export

MAX_MB = 200
EXAMPLES = ("hacked", "truncated", "healthy")


@st.cache_resource(max_entries=8, show_spinner=False)
def _read(digest: str, name: str, x: str | None, _data: bytes) -> Export:  # noqa: ARG001 -- the digest is the key
    """An export is never changed after it was read, so all visitors share it: ``cache_data`` would copy it each run."""
    return read_export(_data, name, x=x)


def open_exports() -> list[Export]:
    """Read every opened file that can be read; say of each other one why not, and offer what helps."""
    exports = []
    for file in state.metric_files.get():
        chosen = state.metric_x.get().get(file.digest)
        told = _("Reading {name}, {size} MB ...", name=file.name, size=number(len(file.data) / 1e6, 1))
        try:
            with st.spinner(told):
                exports.append(_read(file.digest, file.name, chosen, file.data))
        except StepColumnError as error:
            show_failure(error)
            _ask_for_x(file, error.choices)
        except RewardConsoleError as error:
            show_failure(error)
            if st.button(_("Close {name}", name=file.name), icon=":material/close:", key=f"close_{file.digest}"):
                close(file)
                st.rerun()
    return exports


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
    """A column's own name; the row number in the visitor's language."""
    return _("row number") if x == ROW_NUMBER else x


def choose_x(digest: str, key: str) -> None:
    """Keep the choice that the widget of this key holds, for the file of this digest."""
    if wanted := state.widget(key):
        state.metric_x.set({**state.metric_x.get(), digest: wanted})


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
    state.metric_files.set(tuple(opened))


def uploader(*, key: str) -> None:
    """Draw the drop zone. What is dropped is opened at once, and the zone is empty again."""
    key = f"{key}_{state.metric_uploads.get()}"
    st.file_uploader(
        _("CSV exports of runs"),
        accept_multiple_files=True,
        max_upload_size=MAX_MB,
        label_visibility="collapsed",
        key=key,
        on_change=_open_uploads,
        args=(key,),
    )


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
                on_click=_open_example,
                args=(name,),
                width=210,
            )
            st.caption(told, width="content")


def _open_example(name: str) -> None:
    add_files([(f"{name}.csv", (FOLDER / "training_metrics" / f"{name}.csv").read_bytes())])
