"""The samples that Compose and Functions try rewards on: the example's, those of a file, or a pasted one."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import streamlit as st

from components import cache, drafts, examples, state, undo
from components.i18n import _, explain, say
from components.state import OpenDraft
from components.theme import plain
from rewards_lib import datasets
from rewards_lib.contract import Completion, JsonObject, Payload
from rewards_lib.errors import InputError, NotFoundError
from rewards_lib.payloads import bare, read_payload
from rewards_lib.strict_json import write_json

SAMPLES, OWN_COMPLETION = "samples", "own_completion"
"""The drafts that keep them over a reload and a restart."""
MAX_FILE_MB = 20
MAX_SAMPLES = 500
_DATASET = "dataset:"


def open_samples() -> OpenDraft:
    """The draft that keeps the samples: ``{"samples": [payload, ...]}``, or None there for the example."""
    return drafts.open_draft("payload", SAMPLES, lambda: {"samples": None})


def open_own_completion() -> OpenDraft:
    """The draft that keeps the visitor's own completion: ``{"text", "is_empty"}``."""
    return drafts.open_draft("payload", OWN_COMPLETION, lambda: {"text": "", "is_empty": False})


def all_samples() -> list[Payload]:
    """The samples that Compose and Functions try rewards on, at least one."""
    content = open_samples().content
    if not content.get("samples"):
        return examples.math_samples()
    known = state.samples.get()
    if known is None or known[0] != id(content):
        known = (id(content), [read_payload(write_json(row)) for row in content["samples"]])
        state.samples.set(known)
    return known[1]


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
    kept = {
        f"{_DATASET}{one.name}": _("Data set {name}", name=one.name) for one in datasets.list_datasets(cache.store())
    }
    options = {
        "example": _("The mathematics example"), **kept, "file": _("From a file …"),
        "paste": _("Paste or edit one …"),
    }  # fmt: skip
    action = st.menu_button(
        _("Samples"),
        list(options),
        format_func=options.__getitem__,
        type="tertiary",
        icon=":material/dataset:",
        key=f"{key}_menu",
    )
    if action == "example":
        load(None, _("The samples of the mathematics example are looked at now."))
        st.rerun()
    elif action in kept:
        _load_dataset(action.removeprefix(_DATASET))
        st.rerun()
    elif action == "file":
        _file_dialog()
    elif action == "paste":
        edit_dialog()


def _load_dataset(name: str) -> None:
    """Look at the prompts of a kept data set: they have no completions, so each begins with the empty one."""
    try:
        prompts = datasets.read_samples(cache.store(), name, most=MAX_SAMPLES)
    except NotFoundError as error:  # removed in another tab since the menu was drawn
        st.toast(explain(error), icon=":material/error:")
        return
    told = _("The prompts of {name} are looked at now, each with an empty completion; try your own below.", name=name)
    load([Payload(prompt, (Completion(""),)) for prompt in prompts], told)


def load(samples: list[Payload] | None, told: str) -> None:
    """Look at other samples, from the first, and offer to take that back; None is the example."""
    undo.replace(told, (open_samples(), content_of(samples)))
    look_at_first()


def content_of(samples: list[Payload] | None) -> JsonObject:
    """What the draft holds for these samples."""
    return {"samples": None if samples is None else [bare.encode(payload) for payload in samples]}


def look_at_first() -> None:
    """Go to the first sample and its first completion."""
    state.sample_number.clear()
    state.selected_completion.clear()


def read_samples(data: bytes, *, name: str) -> tuple[list[Payload], list[str]]:
    """Read a file of payloads (a JSON array or object, or one object a line) or of rollouts in any format known.

    Returns the samples, and one sentence for each row that could not be read.
    """
    samples: list[Payload] = []
    refused: list[str] = []
    is_json = data.lstrip()[:1] in (b"{", b"[")
    for number, row in enumerate(_rows(data.decode("utf-8", "replace")) if is_json else (), 1):
        try:
            samples.append(read_payload(row))
        except InputError as error:
            refused.append(_("{name}, line {line}: {problem}", name=name, line=number, problem=say(error.message)))
        if len(samples) == MAX_SAMPLES:
            refused.append(_only_the_first())
            break
    if samples:
        return samples, refused
    found, problems = _read_rollouts(data, name)
    return found, problems if found or not refused else refused


def _rows(text: str) -> list[str]:
    """The rows of a file as JSON texts: the entries of an array, an object over many lines, or the lines."""
    try:
        whole = json.loads(text)
    except ValueError:
        return [line for line in text.splitlines() if line.strip()]
    return [write_json(row) for row in whole] if isinstance(whole, list) else [text]


def _read_rollouts(data: bytes, name: str) -> tuple[list[Payload], list[str]]:
    """Read a file of rollouts, whatever trainer wrote it: one sample for each group."""
    from rewards_lib.rollouts import BadRow, Rollout, open_rollouts
    from rewards_lib.rollouts.rollout import payload_of

    groups: dict[str, list[Rollout]] = {}
    refused: list[str] = []
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        try:
            for row in open_rollouts(Path(file.name)):
                if isinstance(row, BadRow):
                    problem = say(row.problem)
                    refused.append(_("{name}, line {line}: {problem}", name=name, line=row.line, problem=problem))
                elif row.completion is not None and (row.group in groups or len(groups) < MAX_SAMPLES):
                    groups.setdefault(row.group, []).append(row)
        except InputError as error:
            return [], [say(error.message)]
    if len(groups) == MAX_SAMPLES:
        refused.append(_only_the_first())
    return [payload_of(rollouts) for rollouts in groups.values()], refused


def _only_the_first() -> str:
    return _("Only the first {limit} samples are taken here.", limit=MAX_SAMPLES)


def _file_dialog() -> None:
    @st.dialog(_("Samples from a file"))
    def ask() -> None:
        st.caption(
            _(
                "Samples with their completions as a trainer sends them, or rollouts as a trainer wrote them: JSON, "
                "one JSON object a line, CSV or parquet."
            )
        )
        st.download_button(
            _("The present samples as such a file"),
            "".join(write_json(bare.encode(payload)) + "\n" for payload in all_samples()),
            "samples.jsonl",
            "application/jsonl",
            type="tertiary",
            icon=":material/download:",
            key="samples_download",
        )
        file = st.file_uploader(
            _("File"), type=["jsonl", "json", "csv", "gz", "parquet"], max_upload_size=MAX_FILE_MB, key="samples_file"
        )
        if file is None:
            return
        samples, refused = read_samples(file.getvalue(), name=file.name)
        for told in refused[:5]:
            st.markdown(f":orange[:material/warning:] {plain(told)}")
        if len(refused) > 5:
            st.caption(_("Further lines that could not be read: {count}.", count=len(refused) - 5))
        label = _("Load 1 sample") if len(samples) == 1 else _("Load {count} samples", count=len(samples))
        if st.button(label, type="primary", disabled=not samples, key="samples_load"):
            load(samples, _("The samples of {name} are looked at now.", name=file.name))
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
            undo.replace(_("The sample was changed."), (open_samples(), content_of(samples)))
            state.selected_completion.clear()
            st.rerun()

    ask()
