"""What all visitors share: the executor, the store, the catalogue of presets.

Only objects made for concurrent use stand here.
"""

from __future__ import annotations

import streamlit as st

from rewards_lib.contract import Finding, Isolation, JsonObject
from rewards_lib.executor import Executor
from rewards_lib.store import Store


@st.cache_resource(show_spinner=False)
def executor() -> Executor:
    """The one executor of this console."""
    return Executor()


@st.cache_resource(show_spinner=False)
def store() -> Store:
    """The one store of this console. Raises StoreError when the file cannot be used."""
    return Store()


@st.cache_resource(show_spinner=False)
def isolation() -> Isolation:
    """How confined runs are on this machine, found out once by a self-test."""
    return executor().isolation()


@st.cache_data(show_spinner=False, max_entries=1)
def catalogue() -> list[JsonObject]:
    """The presets: name, label, summary, schema of the parameters, worked example."""
    from rewards_lib.presets import catalogue as presets

    return presets()


@st.cache_data(show_spinner=False, max_entries=64)
def findings(source: str) -> tuple[Finding, ...]:
    """What the executor would refuse in a function's source."""
    return executor().check(source)
