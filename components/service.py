"""The reward service as this console sees it: one process on one port, shared by all visitors.

Invariant: looking never starts anything; a service ends with the console that started it.
"""

from __future__ import annotations

import os
import subprocess
from typing import Any

import streamlit as st

from rewards_lib.serving import TOKEN_VARIABLE, ServiceSettings, usual_port
from rewards_lib.serving.request_log import read_log
from rewards_lib.serving.settings import service_folder
from rewards_lib.serving.whereabouts import Whereabouts, answers, find_service, start_service

LOG_BYTES = 1 << 20


class _Started:
    """The process that this console started last, whoever asked for it."""

    process: subprocess.Popen[bytes] | None = None


@st.cache_resource(show_spinner=False)
def _started() -> _Started:
    return _Started()


def port() -> int:
    """The port of this console's service. Raises InputError when the environment names none."""
    return usual_port()


def url() -> str:
    """Its address."""
    running = find_service(port())
    return (ServiceSettings(port=running.port, host=running.host) if running else ServiceSettings(port=port())).url


def has_token() -> bool:
    """Whether it asks for a token."""
    return bool(token())


def token() -> str:
    """The token, for calls that this console makes itself; never shown."""
    return os.environ.get(TOKEN_VARIABLE, "").strip()


def find() -> Whereabouts | None:
    """The running service; None when there is none, or it is not ready yet."""
    found = find_service(port())
    return None if found is None or is_starting() else found


def start() -> None:
    """Start it, unless that was done already; ``is_starting`` tells when to look again."""
    started = _started()
    if started.process is None or started.process.poll() is not None:
        started.process = start_service(port())


def is_starting() -> bool:
    """Whether the process that was started here lives and does not answer yet."""
    process = _started().process
    if process is None or process.poll() is not None:
        return False
    found = find_service(port())
    return found is None or not answers(found.host, found.port)


def request_rows() -> list[dict[str, Any]]:
    """The newest lines of its log, oldest first."""
    return read_log(service_folder(port()), most_bytes=LOG_BYTES)
