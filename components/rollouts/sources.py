"""Which file of rollouts is scored: uploaded, on the console's machine, or the example; recognised, counted, mapped."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd
import streamlit as st

from components import state
from components.examples import FOLDER
from components.host_files import may_name_paths
from components.i18n import _, say
from components.rollouts.stored_files import uploads_folder
from components.shell import show_failure
from components.state import RolloutSource
from components.theme import count, plain
from rewards_lib.errors import InputError, RewardConsoleError, boundary
from rewards_lib.host_files import path_on_host
from rewards_lib.rollouts import FORMATS, ColumnMap, RolloutFile, open_rollouts
from rewards_lib.rollouts.survey import Survey, columns_of, survey
from rewards_lib.rollouts.uploads import keep_upload

MAX_MB = 2000
EXAMPLE = "arithmetic.jsonl"
TYPES = ["jsonl", "json", "gz", "parquet", "csv", "tsv", "txt"]
PARTS = ("prompt", "completion", "answer", "group", "id", "reward")
LINE = '{"group": "p1", "sample": {"messages": [...], "extra": {"answer": "2"}}, "completion": "<think>..."}'


def choose_source(key: str) -> None:
    """Draw the ways to a file: drop it, name its path, or take the example."""
    with st.container(border=True, gap="small", key=f"{key}_source"):
        st.markdown(
            _(
                "**Drop a file of completions.** One line a completion, or one line a prompt with all its completions. "
                "JSONL, CSV or parquet of TRL, verl, NeMo-Gym, verifiers or Ark is recognised by its keys."
            )
        )
        file = st.file_uploader(
            _("Rollouts"), type=TYPES, max_upload_size=MAX_MB, key=f"{key}_upload_{state.rollout_uploads.get()}",
            label_visibility="collapsed",
        )  # fmt: skip
        if file is not None:
            with boundary(show_failure):
                path = keep_upload(uploads_folder(), file.name, file.getbuffer())
                state.rollout_uploads.set(state.rollout_uploads.get() + 1)
                use(RolloutSource(str(path), file.name))
                st.rerun()
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            st.button(
                _("Take the example"), type="primary", icon=":material/play_arrow:", key=f"{key}_example",
                on_click=use, args=(RolloutSource(str(FOLDER / "rollouts" / EXAMPLE), EXAMPLE),),
            )  # fmt: skip
            st.markdown(f":small[:gray[{_('320 sums with their completions, 40 prompts of 8')}]]", width="content")
        _path_field(key)
        with st.expander(_("What a line looks like"), icon=":material/data_object:", key=f"{key}_line"):
            st.code(LINE, language=None, wrap_lines=True)


def use(source: RolloutSource | None) -> None:
    """Look at another file that is not scored yet; None puts the present one away."""
    state.rollout_source.set(source)


def _path_field(key: str) -> None:
    """A path is read by the console itself, so only those at its own machine may name one."""
    if not may_name_paths():
        return
    named = (
        st.text_input(
            _("Or a path on this machine"), key=f"{key}_path", placeholder="/runs/rollouts/1.jsonl",
            icon=":material/folder_open:",
        ) or ""
    ).strip()  # fmt: skip
    if not named:
        return
    try:
        path = path_on_host(named)
    except InputError as error:
        show_failure(error)
        return
    if not path.is_file():
        show_failure(InputError("There is no file {path}.", path=str(path)))
    elif st.button(_("Open {name}", name=path.name), key=f"{key}_path_open"):
        use(RolloutSource(str(path), path.name))
        st.rerun()


# --- what is in it -------------------------------------------------------------------------------------------------


def open_source(source: RolloutSource) -> RolloutFile:
    """The file as it was recognised or mapped. Raises InputError when it is neither."""
    columns = ColumnMap(**source.columns) if source.columns else None
    return open_rollouts(Path(source.path), format_name=source.format_name, columns=columns)


@st.cache_data(max_entries=16, show_spinner=False)
def _survey(source: RolloutSource, size: int, changed_ns: int) -> Survey:  # noqa: ARG001 -- parts of the key
    return survey(open_source(source))


def look_into(source: RolloutSource) -> tuple[RolloutFile, Survey] | None:
    """Draw what the file holds and how it was read; None, with the reason and the way out, when it cannot be used."""
    path = Path(source.path)
    try:
        with st.spinner(_("Reading {name} ...", name=source.title)):
            file = open_source(source)
            stat = path.stat()
            found = _survey(source, stat.st_size, stat.st_mtime_ns)
    except OSError as error:
        show_failure(InputError("The file cannot be read: {reason}.", reason=str(error.strerror or error)))
        return None
    except RewardConsoleError as error:
        show_failure(error, title=_("The file is not recognised"))
        _map_columns(source)
        return None
    if not found.rollouts:
        first = found.first_bad_rows[0].problem if found.first_bad_rows else None
        show_failure(
            InputError("None of the {count} rows is a rollout: {problem}", count=found.bad_rows, problem=say(first))
        )
        _map_columns(source)
        return None
    _facts(source, file, found)
    return file, found


def _facts(source: RolloutSource, file: RolloutFile, found: Survey) -> None:
    more = _("more than") + " " if found.is_partial else ""
    parts = [
        _("{count} completions", count=more + count(found.rollouts)),
        _("{count} groups", count=count(found.groups)),
        _("read as {format}", format=file.format.name),
        _("grouped by {rule}", rule=_group_rule(file)),
    ]
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        told = " · ".join(map(plain, parts))
        st.markdown(f":material/description: **{plain(source.title)}**  :small[:gray[{told}]]", width="content")
        with st.container(horizontal=True, width="content", gap="xsmall"):
            with st.popover(
                _("Read differently"), type="tertiary", icon=":material/table_chart:", key="read_differently"
            ):
                _map_columns(source)
            st.button(
                _("Another file"), type="tertiary", icon=":material/upload_file:", key="another_file",
                on_click=use, args=(None,),
            )  # fmt: skip
    warnings = []
    if found.without_answer:
        warnings.append(_("{count} without extra.answer", count=count(found.without_answer)))
    if found.without_completion:
        warnings.append(_("{count} without a completion", count=count(found.without_completion)))
    if found.rewarded:
        warnings.append(_("{count} with a reward of the file's own", count=count(found.rewarded)))
    if warnings:
        st.caption(" · ".join(map(plain, warnings)))
    for note in found.notes():
        st.markdown(f":orange[:material/warning:] {plain(say(note))}")
    if found.bad_rows:
        _bad_rows(found)


def _group_rule(file: RolloutFile) -> str:
    return _(file.format.group_by)


def _bad_rows(found: Survey) -> None:
    title = _("{count} rows are no rollouts; they are kept apart, with their numbers", count=count(found.bad_rows))
    with st.expander(title, icon=":material/warning:", key="bad_rows"):
        rows = [{"row": row.line, "problem": say(row.problem), "text": row.text[:120]} for row in found.first_bad_rows]
        st.dataframe(
            pd.DataFrame(rows), hide_index=True, row_height=30, key="bad_rows_table",
            alt=_("Rows that are no rollouts"),
            column_config={
                "row": st.column_config.NumberColumn(_("row"), width=60, format="plain"),
                "problem": st.column_config.TextColumn(_("problem"), width=420),
                "text": st.column_config.TextColumn(_("begins with"), width=360),
            },
        )  # fmt: skip
        if found.bad_rows > len(rows):
            st.caption(_("The first {count} are shown.", count=len(rows)))


def _map_columns(source: RolloutSource) -> None:
    """Let the visitor say what the file is: a format by name, or which column holds what."""
    named = ["", *FORMATS]
    chosen = st.selectbox(
        _("Format"), named, index=named.index(source.format_name or ""), key="map_format",
        format_func=lambda name: name or _("by its keys"),
    )  # fmt: skip
    if (chosen or None) != source.format_name:
        use(replace(source, format_name=chosen or None, columns=None))
        st.rerun()
    try:
        names = columns_of(Path(source.path))
    except RewardConsoleError:
        return
    st.caption(_("Or name the columns: prompt and completion at least."))
    picked: dict[str, str] = {}
    given = source.columns or {}
    for start in range(0, len(PARTS), 3):
        for column, part in zip(st.columns(3, gap="small"), PARTS[start : start + 3], strict=True):
            place = names.index(given[part]) if given.get(part) in names else None
            value = column.selectbox(_part_name(part), names, index=place, key=f"map_{part}", placeholder=_("none"))
            if value:
                picked[part] = value
    missing = [part for part in ("prompt", "completion") if part not in picked]
    if st.button(_("Read these columns"), type="primary", disabled=bool(missing), key="map_use"):
        use(replace(source, format_name=None, columns=picked))
        st.rerun()
    if missing:
        st.caption(_("Choose the columns of prompt and completion first."))
    if not {"completion", "output", "response"} & set(names):
        st.caption(_("Prompts without completions are a data set: drop the file under Data sets."))


def _part_name(part: str) -> str:
    return {
        "prompt": _("Prompt"), "completion": _("Completion"), "answer": _("Ground truth"), "group": _("Group"),
        "id": _("Id"), "reward": _("Reward"),
    }[part]  # fmt: skip
