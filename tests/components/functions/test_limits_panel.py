"""The limits of a function: shown with the defaults, given back only where they differ."""

from streamlit.testing.v1 import AppTest

from rewards_lib.executor import Limits, limits_from

PANEL = """
import streamlit as st
from components.functions.limits import limits_panel
from components.state import OpenDraft
st.session_state["given"] = limits_panel(OpenDraft("function", "f", {content!r}))
"""


def panel(content):
    drawn = AppTest.from_string(PANEL.format(content=content), default_timeout=20).run()
    assert not drawn.exception
    return drawn


def test_a_function_without_limits_shows_the_defaults_and_keeps_none():
    drawn = panel({"source": ""})
    assert [box.value for box in drawn.number_input] == [30.0, 1024, 64, 64]
    assert drawn.session_state["given"] == {}


def test_a_changed_limit_is_given_back_in_the_units_of_limits():
    drawn = panel({"limits": {"memory_mb": 512}})
    drawn.number_input[0].set_value(2.5)
    drawn.number_input[3].set_value(128).run()
    given = drawn.session_state["given"]
    assert given == {"memory_mb": 512, "wall_seconds": 2.5, "output_bytes": 131_072}
    assert limits_from({"limits": given}) == Limits(wall_seconds=2.5, memory_mb=512, output_bytes=131_072)


def test_a_stored_limit_out_of_its_range_is_drawn_at_the_bound():
    assert panel({"limits": {"threads": 10**9, "wall_seconds": -1}}).session_state["given"] == {
        "threads": 512,
        "wall_seconds": 0.1,
    }
