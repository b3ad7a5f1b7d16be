"""What this console keeps of rollouts: results, uploads and data sets with their sizes; removes what is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Literal

import pandas as pd
import streamlit as st

from components import cache, drafts, state
from components.i18n import _
from components.rollouts.removal import removal
from components.shell import show_failure
from components.theme import count, plain, size
from rewards_lib.data_directory import data_directory
from rewards_lib.datasets import StoredDataset, list_datasets, remove_dataset
from rewards_lib.errors import boundary
from rewards_lib.jobs import Job
from rewards_lib.rollouts.uploads import Upload, list_uploads, remove_upload


@dataclass(frozen=True)
class Stored:
    """A row of the list."""

    kind: Literal["result", "upload", "dataset"]
    id: str
    """The job's, the upload's digest, or the data set's name."""
    title: str
    about: str
    size_bytes: int
    at: datetime | None
    is_busy: bool
    """A running job, or the file that one reads: it stays."""
    is_read: bool = False
    """Whether a result would miss this upload."""


def uploads_folder() -> Path:
    """Where dropped files lie, of this page and of its data sets."""
    return data_directory() / "rollouts" / "uploads"


def stored_files() -> None:
    """Draw the list; what is chosen on it can be removed."""
    found = list_stored()
    if told := state.rollout_told.get():
        state.rollout_told.clear()
        st.success(plain(told), icon=":material/check:")
    if not found:
        st.caption(_("Nothing is stored: no file was dropped here and nothing was scored."))
        return
    whole = size(sum(one.size_bytes for one in found))
    st.markdown(
        f"**{_('Results, uploads and data sets')}**  :small[:gray[{_('{size} on the console machine', size=whole)}]]"
    )
    chosen = _table(found)
    if not chosen:
        st.caption(_("Choose what is to go. What a running job needs stays."))
        return
    if any(one.is_read for one in chosen):
        st.warning(_("Without its upload a result can still be read, but neither attacked nor gone on with."))
    if any(one.kind == "result" for one in chosen):
        st.warning(_("Results go with the attacks on them. This cannot be undone."))
    taken = size(sum(one.size_bytes for one in chosen))
    st.button(
        _("Remove {count} for good · {size}", count=count(len(chosen)), size=taken), type="primary",
        icon=":material/delete:", key="remove_stored", on_click=_remove, args=(chosen,),
    )  # fmt: skip


def _remove(chosen: Sequence[Stored]) -> None:
    with boundary(show_failure):
        remove_stored(chosen)
        state.rollout_told.set(_("{size} freed.", size=size(sum(one.size_bytes for one in chosen))))


def list_stored() -> list[Stored]:
    """The results, uploads and kept data sets there are, the largest first."""
    runner = cache.job_runner()
    jobs = [job for job in runner.list() if job.request.kind != "attack"]
    results = [
        Stored("result", job.id, job.request.title, job.request.mix_label, runner.size_bytes(job.id), job.started_at,
               job.state == "running") for job in jobs
    ]  # fmt: skip
    uploads = [_upload(one, jobs) for one in list_uploads(uploads_folder())]
    datasets = [
        Stored("dataset", one.name, one.name, _("{count} samples", count=count(one.rows)), one.size_bytes,
               one.saved_at, is_busy=False) for one in list_datasets(cache.store())
    ]  # fmt: skip
    return sorted([*results, *uploads, *datasets], key=lambda one: one.size_bytes, reverse=True)


def _upload(one: Upload, jobs: Sequence[Job]) -> Stored:
    users = [job for job in jobs if job.request.source in one.paths]
    title = ", ".join(path.name for path in one.paths) or _("(an upload that broke off)")
    about = _("results that read it: {count}", count=count(len(users))) if users else _("no result reads it")
    is_busy = any(job.state == "running" for job in users)
    return Stored("upload", one.digest, title, about, one.size_bytes, one.kept_at, is_busy, is_read=bool(users))


def _table(found: Sequence[Stored]) -> list[Stored]:
    kinds = {"result": _("result"), "upload": _("upload"), "dataset": _("data set")}
    rows = [
        {"kind": kinds[one.kind], "name": one.title,
         "about": one.about + (" · " + _("in use") if one.is_busy else ""), "size": size(one.size_bytes),
         "at": drafts.clock(one.at) if one.at else ""} for one in found
    ]  # fmt: skip
    table = st.dataframe(
        pd.DataFrame(rows, columns=["kind", "name", "size", "about", "at"]), hide_index=True, row_height=30,
        height=min(36 + 30 * max(len(rows), 1), 420), key=f"stored_table_{len(rows)}", alt=_("Stored files"),
        on_select="rerun", selection_mode="multi-row",
        column_config={
            "kind": st.column_config.TextColumn(_("kind"), width=70),
            "name": st.column_config.TextColumn(_("file"), width=220),
            "about": st.column_config.TextColumn(_("about"), width=190),
            "size": st.column_config.TextColumn(_("size"), width=80, alignment="right"),
            "at": st.column_config.TextColumn(_("kept at"), width=110),
        },
    )  # fmt: skip
    return [found[row] for row in table.selection.rows if row < len(found) and not found[row].is_busy]


def remove_stored(chosen: Sequence[Stored]) -> None:
    """Remove what was chosen. Raises StoreError for a job that another console runs."""
    for one in chosen:
        if one.kind == "result":
            cache.job_runner().remove(one.id)
        elif one.kind == "dataset":
            remove_dataset(cache.store(), one.id)
        else:
            remove_upload(uploads_folder(), one.id)
    source = state.rollout_source.get()
    if source is not None and not Path(source.path).exists():
        state.rollout_source.clear()


def job_removal(job: Job) -> None:
    """Draw the way to remove a result."""
    told = _("Results go with the attacks on them. This cannot be undone.")
    taken = size(cache.job_runner().size_bytes(job.id))
    removal(job.id, told, partial(_remove_job, job.id), size=taken)


def dataset_removal(dataset: StoredDataset) -> None:
    """Draw the way to remove a kept data set."""
    told = _(
        "The {count} samples of {name} go, here and wherever samples are picked. This cannot be undone.",
        count=count(dataset.rows), name=plain(dataset.name),
    )  # fmt: skip
    remove = partial(_remove_dataset, dataset.name)
    removal(f"dataset_{dataset.name}", told, remove, size=size(dataset.size_bytes))


def _remove_dataset(name: str) -> None:
    with boundary(show_failure):
        remove_dataset(cache.store(), name)
        if state.dataset_name.get() == name:
            state.dataset_name.clear()


def _remove_job(job_id: str) -> None:
    with boundary(show_failure):
        cache.job_runner().remove(job_id)
