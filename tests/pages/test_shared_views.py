"""A view that was made in one language opens the same in the other: the address holds no translated word."""

from urllib.parse import quote

import pytest

from tests.pages.conftest import texts

MADE = {"lang": "en"}


def address(page):
    """The address of a view, as it would be sent to somebody who reads Chinese."""
    held = {key: values for key, values in page.query_params.items() if key != "lang"}
    assert quote(repr(held), safe=" '{}[]:,/()%@") == repr(held), "a word of a language in the address"
    return held | {"lang": "zh"}


def read(page):
    """The page's texts without the signs that put Markdown out of action."""
    return texts(page).replace("\\", "").replace("**", "")


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


def test_the_smoothing_of_a_view_stands_in_the_address_as_a_number(open_page):
    """Its slider is bound to the address by Streamlit, which writes it in the browser alone."""
    page = opened(open_page, "training_metrics", {"runs": "healthy", "lang": "zh", "metric_smoothing": "0.5"})
    assert page.slider(key="metric_smoothing").value == 0.5


def test_the_steps_of_a_view_are_shared_and_older_addresses_still_open(run, open_page):
    run.slider(key="metric_steps_0_160").set_range(40, 120).run()
    assert run.query_params["metric_steps"] == "40..120"
    for query in (address(run), {"runs": "healthy", "metric_steps_0_160": ["40", "120"]}):
        again = opened(open_page, "training_metrics", query)
        assert again.slider(key="metric_steps_0_160").value == (40, 120)
        assert again.query_params["metric_steps"] == "40..120"


@pytest.mark.parametrize("steps", ["x..", "..", "nan..inf", "5", "120..40", "900..1000", "40..40", "\0"])
def test_steps_that_are_no_range_of_the_run_show_all_of_it(open_page, steps):
    page = opened(open_page, "training_metrics", {"runs": "healthy", "metric_steps": steps})
    begin, end = page.slider(key="metric_steps_0_160").value
    assert begin < end == 160


OWN_RULE = """rules:
- {id: mine, severity: warning, condition: outside, bounds: {train/actor/kl_loss: {above: top}}, thresholds: {top: 0},
   text: "KL is {value}."}
"""


def test_thresholds_and_own_rules_are_shared_and_told(run, open_page):
    run.number_input(key="threshold_truncation_high_limit").set_value(0.125).run()
    run.text_area(key="own_rules").set_value(OWN_RULE).run()
    assert run.query_params["metric_limits"] == "truncation_high.limit:0.125"
    again = opened(open_page, "training_metrics", address(run))
    assert again.session_state["metric_thresholds"] == {"truncation_high": {"limit": 0.125}}
    assert again.session_state["metric_own_rules"] == OWN_RULE
    english = opened(open_page, "training_metrics", address(run) | MADE)
    assert "KL is" in read(english)
    assert "Judged not only by the usual rules: thresholds changed: 1, own rules." in read(english)


def test_a_mix_is_shared_by_name_and_a_change_of_it_is_told(open_page):
    page = open_page("compose", **MADE).switch_page("pages/training_metrics.py").run()  # Compose saves its example
    page.button(key="example_healthy").click().run()
    page.selectbox(key="metric_mix").set_value("math").run()
    assert page.query_params["metric_mix"].startswith("math@")
    again = opened(open_page, "training_metrics", address(page) | MADE)
    assert again.selectbox(key="metric_mix").value == "math"
    assert "the mix math" in read(again)
    for told, query in {
        "The mix math has been changed since": "math@00000000",
        "the mix gone, which this console does not have": "gone@00000000",
    }.items():
        other = opened(open_page, "training_metrics", address(page) | MADE | {"metric_mix": query})
        assert told in read(other)


def test_what_an_address_asks_for_in_vain_is_told_until_it_was_read(open_page):
    query = {"runs": "healthy", "metric_rules": "00ff", "metric_limits": ["truncation_high.limit:nan", "a.b:1", "c"]}
    page = opened(open_page, "training_metrics", MADE | query).run()
    assert "own rules that this console no longer keeps" in read(page)
    assert "thresholds that no rule here has: 3" in read(page)
    page.button(key="link_understood").click().run()
    assert "no longer keeps" not in read(page)
