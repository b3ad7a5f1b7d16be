"""A view that was made in one language opens the same in the other: the address holds no translated word."""

from urllib.parse import quote

import pytest

MADE = {"lang": "en"}


def address(page):
    """The address of a view, as it would be sent to somebody who reads Chinese."""
    held = {key: values for key, values in page.query_params.items() if key != "lang"}
    assert quote(repr(held), safe=" '{}[]:,/()%@") == repr(held), "a word of a language in the address"
    return held | {"lang": "zh"}


def opened(open_page, name, query):
    page = open_page(name, **query)
    assert not page.exception
    return page


@pytest.fixture
def run(open_page):
    page = open_page("training_metrics", **MADE)
    return page.button(key="example_healthy").click().run()


def test_kinds_of_axes_are_shared(run, open_page):
    run.button_group(key="metric_axes").set_value(["log", "clip"]).run()
    assert run.query_params["metric_axes"] == ["log", "clip"]
    assert opened(open_page, "training_metrics", address(run)).button_group(key="metric_axes").value == ["log", "clip"]


def test_an_older_address_names_axes_by_their_label(open_page):
    page = opened(open_page, "training_metrics", {"runs": "healthy", "metric_axes": "values logarithmic"})
    assert page.button_group(key="metric_axes").value == ["log"]


def test_picked_series_are_shared(run, open_page):
    picked = ["train/metrics/judge_seconds", "train/advantage/advantages"]
    run.multiselect[0].set_value(picked).run()
    again = opened(open_page, "training_metrics", address(run))
    assert again.multiselect[0].value == picked


def test_the_column_that_counts_the_steps_is_shared(run, open_page):
    next(box for box in run.selectbox if box.label == "Steps counted by").set_value("train/epoch").run()
    again = opened(open_page, "training_metrics", address(run))
    assert next(box for box in again.selectbox if "metric_x_column" in box.key).value == "train/epoch"


def test_nothing_of_a_view_stays_in_the_address_when_all_runs_are_closed(run):
    run.button_group(key="metric_axes").set_value(["log"]).run()
    run.multiselect[0].set_value(["train/advantage/advantages"]).run()
    run.button(key="close_runs").click().run()
    assert set(run.query_params) <= {"lang"}


def test_choices_stay_while_another_page_is_looked_at(run):
    run.button_group(key="metric_axes").set_value(["log"]).run()
    run.multiselect[0].set_value(["train/advantage/advantages"]).run()
    run.switch_page("pages/test.py").run().switch_page("pages/training_metrics.py").run()
    assert run.button_group(key="metric_axes").value == ["log"]
    assert run.multiselect[0].value == ["train/advantage/advantages"]


@pytest.mark.parametrize(("view", "label"), [("cases", "Regression cases"), ("datasets", "Data sets")])
def test_the_view_of_rollouts_is_shared_and_older_addresses_still_open(open_page, view, label):
    page = open_page("rollouts", **MADE)
    page.button_group(key="rollouts_view").set_value(view).run()
    for query in (address(page), {"rollouts_view": label}):
        assert opened(open_page, "rollouts", query).session_state["rollouts_view"] == view


def test_the_open_tab_of_trajectories_is_shared_and_kept_when_the_language_is_switched(open_page):
    page = open_page("trajectories", **MADE)
    page.session_state["trajectories_tab"] = "Rollout buffer"
    page.run()
    query = address(page)
    assert query["trajectories_tab"] in ("buffer", ["buffer"])
    again = opened(open_page, "trajectories", query)
    label = again.session_state["trajectories_tab"]
    assert label == again.tabs[1].label != "Rollout buffer"
    page.query_params["lang"] = "zh"
    assert page.run().session_state["trajectories_tab"] == label


@pytest.mark.parametrize(("key", "change"), [("metric_smoothing", 0.5), ("metric_steps_0_160", (40, 120))])
def test_numbers_of_a_view_stand_in_the_address_as_numbers(open_page, key, change):
    """Their sliders are bound to the address by Streamlit, which writes it in the browser alone."""
    values = [str(one) for one in (change if isinstance(change, tuple) else (change,))]
    page = opened(open_page, "training_metrics", {"runs": "healthy", "lang": "zh", key: values})
    assert page.slider(key=key).value == change
