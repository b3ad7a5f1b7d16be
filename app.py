"""Reward Console: page settings, then the frame and the page that was asked for."""

import streamlit as st

from components import shell
from components.i18n import _

st.set_page_config(
    page_title="Reward Console",
    page_icon=str(shell.ASSETS / "icon.svg"),
    layout="wide",
    menu_items={"About": _("Reward Console: write, prove, publish and watch the reward of an RL run.")},
)
shell.run()
