"""Data sets of prompts: checked, converted from columns with a preview, kept for the sample pickers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import pandas as pd
import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from components import cache, drafts, state
from components.i18n import _, say
from components.result_table import tail
from components.rollouts.sources import TYPES
from components.rollouts.stored_files import dataset_removal, uploads_folder
from components.shell import show_failure
from components.theme import count, plain
from rewards_lib.contract import JsonObject
from rewards_lib.datasets import (
    ColumnPlan,
    DatasetReport,
    check_dataset,
    convert,
    guess_plan,
    list_datasets,
    read_samples,
    save_dataset,
)
from rewards_lib.datasets.checking import find_problem
from rewards_lib.datasets.conversion import columns_of
from rewards_lib.errors import InputError, RewardConsoleError
from rewards_lib.rollouts.rollout import BadRow
from rewards_lib.rollouts.rows import Row, read_rows
from rewards_lib.rollouts.uploads import keep_upload
from rewards_lib.strict_json import write_json

MAX_MB = 2000
MOST_ROWS = 50_000
"""Rows that are checked on the page; the command line takes any number."""
PREVIEW_ROWS = 5
PAGE_SAMPLES = 20


def datasets_view() -> None:
    """The kept data sets left, a new one right."""
    left, right = st.columns([4, 7], gap="medium")
    with left:
        _kept()
    with right:
        _add()


def _kept() -> None:
    st.markdown(f"**{_('Kept data sets')}**")
    found = list_datasets(cache.store())
    if not found:
        st.caption(_("None yet. A kept data set is offered wherever samples are picked: Compose, Functions, Test."))
        return
    for one in found:
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            st.button(
                plain(one.name), key=f"dataset_{one.name}", type="tertiary", icon=":material/dataset:",
                on_click=state.dataset_name.set, args=(one.name,),
            )  # fmt: skip
            told = _("{count} samples · {time}", count=count(one.rows), time=drafts.clock(one.saved_at))
            st.markdown(f":small[:gray[{told}]]", width="stretch")
            dataset_removal(one)
    name = state.dataset_name.get()
    if name in {one.name for one in found}:
        samples = read_samples(cache.store(), name, most=PAGE_SAMPLES)
        rows = [
            {"prompt": tail(one.prompt), "answer": _answer_text(one.extra.get("answer"))} for one in samples
        ]  # fmt: skip
        st.caption(_("The first {count} of {name}", count=len(rows), name=plain(name)))
        _samples_table(rows, key="kept_samples")


def _answer_text(answer: object) -> str:
    return answer if isinstance(answer, str) else write_json(answer) if answer is not None else _("none")


def _samples_table(rows: list[dict[str, str]], *, key: str) -> None:
    st.dataframe(
        pd.DataFrame(rows), hide_index=True, row_height=30, key=key, alt=_("Samples"),
        column_config={
            "prompt": st.column_config.TextColumn(_("prompt"), width=300),
            "answer": st.column_config.TextColumn(_("ground truth"), width=140),
        },
    )  # fmt: skip


def _add() -> None:
    with st.container(border=True, gap="small", key="dataset_source"):
        st.markdown(
            _(
                "**Drop a data set of prompts.** Ark's JSONL (messages, extra), or a table with columns such as "
                "problem and answer, prompt and reward_model: its columns are converted, with a preview."
            )
        )
        file = st.file_uploader(
            _("Data set"), type=TYPES, max_upload_size=MAX_MB, key="dataset_upload", label_visibility="collapsed"
        )
        if file is None:
            return
        try:
            _look_at(_kept_upload(file), file.name)
        except RewardConsoleError as error:
            show_failure(error)


def _kept_upload(file: UploadedFile) -> Path:
    """Where the dropped file lies; written and hashed when it is dropped, not on every rerun."""
    known = state.dataset_upload.get()
    if known is not None and known[0] == file.file_id and Path(known[1]).exists():
        return Path(known[1])
    path = keep_upload(uploads_folder(), file.name, file.getbuffer())
    state.dataset_upload.set((file.file_id, str(path)))
    return path


def _look_at(path: Path, name: str) -> None:
    head = [row[1] for row in islice(read_rows(path), PREVIEW_ROWS) if not isinstance(row, BadRow)]
    if not head:
        show_failure(InputError("No row of the file can be read.", where=name))
        return
    is_ark = isinstance(head[0].get("messages"), list)
    plan = None if is_ark else _plan(head)
    if plan is None and not is_ark:
        return
    with st.spinner(_("Checking {name} ...", name=name)):
        report = _checked(str(path), plan, path.stat().st_mtime)
    _preview(path, plan)
    _report(report)
    wanted = st.text_input(
        _("Keep it as"), Path(name).stem.replace(" ", "_"), key="dataset_as", max_chars=80, width=300
    )
    if st.button(
        _("Keep {count} samples", count=count(report.good)), type="primary", disabled=not report.good,
        key="keep_dataset",
    ):  # fmt: skip
        source = convert(read_rows(path), plan) if plan else _only_good(path)
        state.dataset_name.set(save_dataset(cache.store(), (wanted or "").strip(), source).name)
        st.rerun()


def _only_good(path: Path) -> Iterator[Row]:
    return (row for row in read_rows(path) if not isinstance(row, BadRow) and find_problem(row[1]) is None)


def _plan(head: Sequence[JsonObject]) -> ColumnPlan | None:
    """Let the visitor say which column is what; the guess stands there already."""
    guessed = guess_plan(head)
    names = columns_of(head)
    left, right = st.columns(2, gap="small")
    with left:
        prompt = st.selectbox(
            _("Prompt"), names, index=names.index(guessed.prompt) if guessed and guessed.prompt in names else None,
            key="plan_prompt", placeholder=_("choose a column"),
        )  # fmt: skip
    with right:
        answer = st.selectbox(
            _("Ground truth"), names, key="plan_answer", placeholder=_("none"),
            index=names.index(guessed.answer) if guessed and guessed.answer in names else None,
        )  # fmt: skip
    is_final = st.checkbox(
        _("Take what follows #### or stands in the last box"), value=bool(guessed and guessed.final_answer),
        key="plan_final",
    )  # fmt: skip
    template = st.text_input(
        _("Text around the prompt"), key="plan_template", placeholder="{prompt} Put the answer in \\boxed{}."
    )
    if prompt is None:
        st.caption(_("Choose the column of the prompt."))
        return None
    return ColumnPlan(prompt, answer, template=template or "", final_answer=is_final)


@st.cache_data(max_entries=16, show_spinner=False)
def _checked(path: str, plan: ColumnPlan | None, changed: float) -> DatasetReport:  # noqa: ARG001 -- part of the key
    rows = islice(read_rows(Path(path)), MOST_ROWS)
    file = Path(path)
    return check_dataset(convert(rows, plan) if plan else rows, name=file.name, size_bytes=file.stat().st_size)


def _preview(path: Path, plan: ColumnPlan | None) -> None:
    rows = islice(read_rows(path), PREVIEW_ROWS)
    shown = []
    for row in convert(rows, plan) if plan else rows:
        if isinstance(row, BadRow):
            shown.append({"prompt": f"⊘ {say(row.problem)}", "answer": ""})
        else:
            messages = row[1].get("messages") or [{}]
            answer = (row[1].get("extra") or {}).get("answer")
            shown.append({"prompt": tail(str(messages[-1].get("content", ""))), "answer": _answer_text(answer)})
    st.caption(_("The first rows, as samples"))
    _samples_table(shown, key="dataset_preview")


def _report(report: DatasetReport) -> None:
    if report.bad_rows:
        title = _("{bad} of {count} rows cannot be used", bad=count(report.bad_rows), count=count(report.rows))
        with st.expander(title, icon=":material/warning:", key="dataset_bad"):
            st.dataframe(
                pd.DataFrame([{"row": row.line, "problem": say(row.problem)} for row in report.first_bad_rows]),
                hide_index=True, row_height=30, key="dataset_bad_table", alt=_("Rows that cannot be used"),
                column_config={
                    "row": st.column_config.NumberColumn(_("row"), width=60, format="plain"),
                    "problem": st.column_config.TextColumn(_("problem"), width=480),
                },
            )  # fmt: skip
    else:
        st.markdown(f":green[:material/check:] {_('All {count} rows can be used.', count=count(report.rows))}")
    kinds = {
        "number": _("numbers"), "letter": _("letters"), "formula": _("formulas"), "text": _("texts"),
        "list": _("lists"), "object": _("objects"), "absent": _("absent"),
    }  # fmt: skip
    truths = ", ".join(f"{kinds[kind]} {count(many)}" for kind, many in report.truths.most_common())
    st.markdown(f":small[:gray[{_('Ground truths')}]  {truths or _('none')}]")
    if report.readers:
        st.markdown(f":small[:gray[{_('Presets that read all of them')}]  {', '.join(map(plain, report.readers))}]")
    if report.median is not None and report.longest is not None:
        sizes = _(
            "median {median}, longest {longest} characters", median=count(round(report.median)),
            longest=count(report.longest),
        )  # fmt: skip
        st.markdown(f":small[:gray[{_('Prompts')}]  {sizes}]")
    if report.duplicates:
        pairs = ", ".join(f"{row} = {first}" for row, first in report.first_duplicates[:8])
        told = _("{count} prompts stand twice: rows {pairs}", count=count(report.duplicates), pairs=pairs)
        st.markdown(f":orange[:material/warning:] {told}")
    for note in report.notes:
        st.markdown(f":orange[:material/warning:] {plain(say(note))}")
    if report.rows == MOST_ROWS:
        st.caption(_("The first {count} rows were checked.", count=count(MOST_ROWS)))
