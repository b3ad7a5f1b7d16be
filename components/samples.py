"""The samples that Compose and Functions try rewards on: the example's, those of a file, or a pasted one."""

from __future__ import annotations

import streamlit as st

from components import examples, state
from components.i18n import _, explain, say
from components.theme import plain
from rewards_lib.contract import Payload, write_json
from rewards_lib.errors import InputError
from rewards_lib.payloads import bare, read_payload

MAX_FILE_MB = 20
MAX_SAMPLES = 500


def all_samples() -> list[Payload]:
    """The samples of this session, at least one."""
    return state.samples.get() or examples.math_samples()


def current_sample() -> Payload:
    """The sample that is looked at."""
    samples = all_samples()
    return samples[min(state.sample_number.get(), len(samples)) - 1]


def sample_chooser(*, key: str, visible_pages: int = 5) -> None:
    """Draw the pages through the samples (0 visible pages: arrows alone) and the menu that loads others."""
    samples = all_samples()
    number = min(state.sample_number.get(), len(samples))
    chosen = st.pagination(
        len(samples), default=number, key=f"{key}_page_{id(samples)}", max_visible_pages=visible_pages
    )
    if chosen != number:
        state.sample_number.set(chosen)
        state.selected_completion.clear()
        st.rerun()
    options = {"example": _("The mathematics example"), "file": _("From a file …"), "paste": _("Paste or edit one …")}
    action = st.menu_button(
        _("Samples"),
        list(options),
        format_func=options.__getitem__,
        type="tertiary",
        icon=":material/dataset:",
        key=f"{key}_menu",
    )
    if action == "example":
        load(None)
        st.rerun()
    elif action == "file":
        _file_dialog()
    elif action == "paste":
        edit_dialog()


def load(samples: list[Payload] | None) -> None:
    """Look at other samples, from the first; None is the example."""
    state.samples.set(samples)
    state.sample_number.clear()
    state.selected_completion.clear()


def read_samples(text: str, *, name: str) -> tuple[list[Payload], list[str]]:
    """Read JSONL of payloads: the samples, and one sentence for each line that could not be read."""
    samples, refused = [], []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            samples.append(read_payload(line))
        except InputError as error:
            refused.append(_("{name}, line {line}: {problem}", name=name, line=number, problem=say(error.message)))
        if len(samples) == MAX_SAMPLES:
            refused.append(_("Only the first {limit} samples are taken here.", limit=MAX_SAMPLES))
            break
    return samples, refused


def _file_dialog() -> None:
    @st.dialog(_("Samples from a file"))
    def ask() -> None:
        st.caption(_("One JSON object a line: a sample with its completions, as a trainer sends it."))
        st.download_button(
            _("The present samples as such a file"),
            "".join(write_json(bare.encode(payload)) + "\n" for payload in all_samples()),
            "samples.jsonl",
            "application/jsonl",
            type="tertiary",
            icon=":material/download:",
            key="samples_download",
        )
        file = st.file_uploader(_("File"), type=["jsonl", "json"], max_upload_size=MAX_FILE_MB, key="samples_file")
        if file is None:
            return
        samples, refused = read_samples(file.getvalue().decode("utf-8", "replace"), name=file.name)
        for told in refused[:5]:
            st.markdown(f":orange[:material/warning:] {plain(told)}")
        if len(refused) > 5:
            st.caption(_("And {count} more lines.", count=len(refused) - 5))
        if st.button(
            _("Load {count} samples", count=len(samples)), type="primary", disabled=not samples, key="samples_load"
        ):
            load(samples)
            st.rerun()

    ask()


def edit_dialog() -> None:
    """Show the current sample as JSON, to be edited or replaced."""

    @st.dialog(_("The sample and its completions"), width="large")
    def ask() -> None:
        shown = write_json(bare.encode(current_sample()), indent=1)
        text = st.text_area(_("Sample"), shown, height=420, key="sample_text", label_visibility="collapsed") or ""
        try:
            payload = read_payload(text)
        except InputError as error:
            st.markdown(f":red[:material/error: {plain(explain(error))}]")
            payload = None
        if st.button(_("Use this sample"), type="primary", disabled=payload is None, key="sample_use") and payload:
            samples = list(all_samples())
            samples[min(state.sample_number.get(), len(samples)) - 1] = payload
            number = state.sample_number.get()
            load(samples)
            state.sample_number.set(number)
            st.rerun()

    ask()
