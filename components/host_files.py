"""Whether a visitor may name files of the console's own machine."""

from __future__ import annotations

import streamlit as st

LOOPBACK = ("127.0.0.1", "localhost", "::1")


def may_name_paths() -> bool:
    """Whether this machine alone can open the console.

    By the address that the server listens at: a visitor's own would be a proxy's, or missing.
    """
    return st.get_option("server.address") in LOOPBACK
