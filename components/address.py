"""Options in the address, by names that are the same in every language: a view made in one opens in the other.

Streamlit's own binding of a widget to the address writes labels, which are translated; it is left to numbers.
Invariant: a choice that is made wins over the address, which is followed when there is none yet.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import streamlit as st
from streamlit.elements.lib.mutable_tab_container import TabContainer

from components import state


def named_options(key: str, labels: Mapping[str, str]) -> list[str]:
    """The options that the address names under a key, each once; ``labels`` by option.

    Addresses of earlier versions name options by their label in the language they were made in.
    """
    options = {label: option for option, label in labels.items()} | {option: option for option in labels}
    return list(dict.fromkeys(options[name] for name in st.query_params.get_all(key) if name in options))


def keep_options(key: str, chosen: Sequence[str]) -> None:
    """Let the address name these options under a key; none takes the key out."""
    if list(chosen) == st.query_params.get_all(key):
        return
    if chosen:
        st.query_params[key] = list(chosen)
    else:
        forget_options(key)


def finite_number(text: str) -> float | None:
    """The number that stands in an address; None for anything else."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def forget_options(*keys: str) -> None:
    """Take keys out of the address: what they chose among is not there."""
    for key in keys:
        st.query_params.pop(key, None)


def shared_tabs(key: str, labels: Mapping[str, str]) -> dict[str, TabContainer]:
    """Draw tabs of which the address names the open one, but for the first; return them by option.

    The widget holds a label, so after a switch of languages it is the address that knows which tab is open.
    """
    if state.widget(key) not in labels.values() and (named := named_options(key, labels)):
        state.put_widget(key, labels[named[0]])
    tabs = dict(zip(labels, st.tabs(list(labels.values()), key=key, on_change="rerun"), strict=True))
    _first, *others = tabs
    keep_options(key, [option for option in others if tabs[option].open])
    return tabs
