"""The way to remove something on the Rollouts page: a second question behind the first press, which tells what goes."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from components.i18n import _


def removal(
    what: str, told: str, remove: Callable[[], None], *, label: str = "", size: str = "", is_disabled: bool = False
) -> None:
    """Draw the first press; behind it stand ``told`` and the second, which calls ``remove``.

    ``what`` makes the keys ``remove_{what}`` and ``remove_now_{what}``; ``label`` is on the first press where "Remove"
    says too little, ``size`` on the second where room on the disk is freed.
    """
    with st.popover(
        label or _("Remove"), type="tertiary", icon=":material/delete:", disabled=is_disabled, key=f"remove_{what}"
    ):
        st.caption(told)
        st.button(
            _("Remove for good · {size}", size=size) if size else _("Remove for good"), type="primary",
            key=f"remove_now_{what}", on_click=remove,
        )  # fmt: skip
