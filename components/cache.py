"""What all visitors share: the executor, the store, and what was found in a source.

Only objects made for concurrent use stand here.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from components import state
from rewards_lib.contract import Finding, Isolation
from rewards_lib.data_directory import data_directory
from rewards_lib.executor import Executor
from rewards_lib.jobs import JobRunner
from rewards_lib.store import Store


def executor() -> Executor:
    """The one executor of this console; this visitor's runs take turns with those of the others."""
    return _shared_executor().on_behalf_of(state.visitor.get())


@st.cache_resource(show_spinner=False)
def _shared_executor() -> Executor:
    return Executor()


@st.cache_resource(show_spinner=False)
def store() -> Store:
    """The one store of this console. Raises StoreError when the file cannot be used."""
    return Store()


def job_runner() -> JobRunner:
    """The jobs of this console, found again after a reload."""
    return _job_runner(str(data_directory() / "rollouts"))


@st.cache_resource(show_spinner=False)
def _job_runner(folder: str) -> JobRunner:
    return JobRunner(store, Path(folder))


@st.cache_resource(show_spinner=False)
def isolation() -> Isolation:
    """How confined runs are on this machine, found out once by a self-test."""
    return executor().isolation()


@st.cache_data(show_spinner=False, max_entries=64)
def findings(source: str, requirements: str | None = None) -> tuple[Finding, ...]:
    """What the executor would refuse in a function's source, and with its requirements what would fail in a run."""
    return executor().check(source, requirements)
