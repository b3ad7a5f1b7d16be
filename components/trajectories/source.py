"""Which trajectory is looked at: an example, a pasted text or a file; and with which tokenizer."""

from __future__ import annotations

import hashlib

import streamlit as st

from components import cache, examples, state
from components.i18n import _, explain, say
from components.theme import number, plain
from rewards_lib.agentic import (
    BUILT_IN,
    LoadedTrajectories,
    SplitTexts,
    TokenPiece,
    Trajectory,
    pieces_from,
    read_trajectories,
)
from rewards_lib.errors import InputError

MAX_FILE_MB = 50
MAX_TOKENIZER_MB = 64
TOKENIZER_SECONDS = 20.0


def example_titles() -> dict[str, str]:
    """The examples' file names and titles."""
    return {
        "tool_use": _("Example: a group of four with a tool"),
        "tokens": _("Example: worked numbers as tokens, masks and KL"),
        "atropos_group": _("Example: a group as Atropos writes it"),
    }


def load_menu() -> None:
    """Draw the menu that loads another trajectory or a tokenizer."""
    options = example_titles() | {
        "open": _("A file or a text of your own …"),
        "tokenizer": _("A tokenizer.json …"),
    }
    action = st.menu_button(
        _("Load"), list(options), format_func=options.__getitem__, icon=":material/folder_open:", key="trajectory_load"
    )
    if action == "open":
        _open_dialog()
    elif action == "tokenizer":
        _tokenizer_dialog()
    elif action:
        _show(action, examples.read(f"trajectories/{action}.jsonl"))


def opened() -> LoadedTrajectories:
    """What this visitor opened; the first example until then."""
    name, text = state.trajectory_text.get() or ("tool_use", examples.read("trajectories/tool_use.jsonl"))
    return _read(text, name)


@st.cache_data(show_spinner=False, max_entries=16)
def _read(text: str, name: str) -> LoadedTrajectories:
    return read_trajectories(text, name=name)


def chosen(loaded: LoadedTrajectories) -> Trajectory:
    """Draw the chooser and return the trajectory it stands on."""
    count = len(loaded.trajectories)
    place = min(state.trajectory_place.get(), count - 1)
    trajectory = loaded.trajectories[place]
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="trajectory_chooser"):
        if count > 1:
            name = (state.trajectory_text.get() or ("tool_use", ""))[0]
            picked = st.pagination(count, default=place + 1, key=f"trajectory_page_{name}_{count}", max_visible_pages=7)
            if picked != place + 1:
                state.trajectory_place.set(picked - 1)
                st.rerun()
        st.markdown(_group_line(loaded, trajectory), width="content")  # else it squeezes the pages to one number
    if loaded.bad_rows:
        first = loaded.bad_rows[0]
        told = _(
            "Rows that could not be read: {count}. Row {row}: {problem}",
            count=len(loaded.bad_rows),
            row=first.row,
            problem=say(first.problem),
        )
        st.markdown(f":small[:orange[:material/warning: {plain(told)}]]")
    return trajectory


def _group_line(loaded: LoadedTrajectories, trajectory: Trajectory) -> str:
    """Name the trajectory and its group's rewards, this one in bold."""
    rewards = [
        f"**{number(one.reward)}**" if one is trajectory else number(one.reward) for one in loaded.group_of(trajectory)
    ]
    told = _("rewards of its group: {rewards}", rewards=", ".join(rewards))
    return f"**{plain(trajectory.name)}**  :small[:gray[{told}]]"


def _show(name: str, text: str) -> None:
    state.trajectory_text.set((name, text))
    state.trajectory_place.clear()
    state.trajectory_rewards.clear()
    st.rerun()


def _open_dialog() -> None:
    @st.dialog(_("A trajectory of your own"), width="large")
    def ask() -> None:
        st.caption(
            _(
                "JSON or one JSON object a line: messages with roles, tokens with a mask, or any file of rollouts that "
                "the console reads."
            )
        )
        file = st.file_uploader(_("File"), type=["json", "jsonl"], max_upload_size=MAX_FILE_MB, key="trajectory_file")
        pasted = st.text_area(_("Or paste it"), height=180, key="trajectory_pasted") or ""
        text = file.getvalue().decode("utf-8", "replace") if file else pasted
        if st.button(_("Show it"), type="primary", disabled=not text.strip(), key="trajectory_show"):
            name = file.name if file else _("pasted text")
            try:
                _read(text, name)
            except InputError as error:
                st.error(plain(explain(error)), icon=":material/error:")
                return
            _show(name, text)

    ask()


# --- tokenizers ----------------------------------------------------------------------------------------------------


def tokenizer_choice() -> SplitTexts:
    """Draw the choice of a tokenizer and return what splits texts with it.

    Raises InputError when the loaded tokenizer.json fails on these texts; the built-in ones can be chosen instead.
    """
    loaded = state.trajectory_tokenizer.get()
    titles = {"words": _("words"), "bytes": _("bytes")} | ({"file": loaded[0]} if loaded else {})
    wanted = st.segmented_control(
        _("Tokens"),
        list(titles),
        default="file" if loaded else "words",
        required=True,
        format_func=titles.__getitem__,
        key=f"trajectory_tokenizer_{len(titles)}",
        label_visibility="collapsed",
        help=_("Words and bytes need no file; Load takes a tokenizer.json."),
    )
    if wanted == "file" and loaded:
        return _with_file(loaded[1])
    return BUILT_IN[wanted or "words"]


def _with_file(text: str) -> SplitTexts:
    """What splits texts with the tokenizer.json of this text."""
    digest = hashlib.sha256(text.encode()).hexdigest()
    return lambda texts: _split_with_file(digest, tuple(texts), text)


@st.cache_data(show_spinner=False, max_entries=32)
def _split_with_file(digest: str, texts: tuple[str, ...], _text: str) -> list[list[TokenPiece]]:  # noqa: ARG001
    """Split in a confined worker; ``digest`` stands for the file's text, which is too long to be a key."""
    item = {"tokenizer": _text, "texts": list(texts)}
    run = cache.executor().run_items(
        "rewards_lib.agentic.trajectories.tokenizers:split_with_file", [item], item_seconds=TOKENIZER_SECONDS
    )[0]
    if run.error is not None:
        raise InputError(
            "The tokenizer.json cannot be used: {reason}",
            reason=run.error.message,
            remedy="Choose words or bytes, or load another file.",
        )
    return pieces_from(run.value or [])


def _tokenizer_dialog() -> None:
    @st.dialog(_("A tokenizer.json"))
    def ask() -> None:
        st.caption(
            _(
                "The file that Hugging Face's tokenizers library writes; it lies beside most models. It is read in a "
                "confined process."
            )
        )
        file = st.file_uploader(_("File"), type=["json"], max_upload_size=MAX_TOKENIZER_MB, key="tokenizer_file")
        if st.button(_("Use it"), type="primary", disabled=file is None, key="tokenizer_use") and file:
            text = file.getvalue().decode("utf-8", "replace")
            try:
                _with_file(text)(["a"])
            except InputError as error:
                st.error(plain(explain(error)), icon=":material/error:")
                return
            state.trajectory_tokenizer.set((file.name, text))
            st.rerun()

    ask()
