"""What all visitors share: the executor, the store, and what was found in a source.

Only objects made for concurrent use stand here.
"""

from __future__ import annotations

import streamlit as st

from components import state
from rewards_lib.contract import Finding, Isolation
from rewards_lib.executor import Executor
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


@st.cache_resource(show_spinner=False)
def isolation() -> Isolation:
    """How confined runs are on this machine, found out once by a self-test."""
    return executor().isolation()


@st.cache_data(show_spinner=False, max_entries=64)
def findings(source: str) -> tuple[Finding, ...]:
    """What the executor would refuse in a function's source."""
    return executor().check(source)
