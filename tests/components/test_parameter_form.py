"""The form is drawn from the schema and gives back only what differs from the defaults."""

import pytest
from streamlit.testing.v1 import AppTest

from components.parameter_form import summary
from rewards_lib.presets import check_params, find_preset, preset_names

FORM = """
import streamlit as st
from components.parameter_form import parameter_form
from rewards_lib.presets import find_preset
st.session_state["given"] = parameter_form(find_preset({name!r}).schema(), {params!r}, key="p")
"""


def form(name, params):
    return AppTest.from_string(FORM.format(name=name, params=params), default_timeout=20).run()


@pytest.mark.parametrize("name", preset_names())
def test_every_preset_has_a_form_that_gives_its_worked_parameters_back(name):
    params = find_preset(name).examples[0].params
    drawn = form(name, params)
    assert not drawn.exception
    assert check_params(name, drawn.session_state["given"]) == check_params(name, params)


def test_a_parameter_at_its_default_is_left_out():
    assert form("exact_match", {"ignore_case": False}).session_state["given"] == {}
    assert form("exact_match", {"ignore_case": True}).session_state["given"] == {"ignore_case": True}


def test_the_summary_names_what_was_changed_first():
    assert summary(find_preset("length_penalty").schema(), {"max_len": 200}).startswith(r"max\_len 200")


def test_a_pattern_in_the_summary_is_shown_as_code_so_that_no_sign_of_it_is_read_as_markdown():
    assert summary(find_preset("regex_match").schema(), {"pattern": r"\\boxed\{(.*)\}"}).startswith(
        r"pattern `\\boxed\{(.*)\}`"
    )
