"""Trajectories, through app.py: the example is there, strategies move the numbers, one seed gives one run."""

import json

from tests.pages.conftest import texts


def test_a_newcomer_finds_a_trajectory_with_its_mask_and_its_advantage(open_page):
    page = open_page("trajectories")
    assert not page.exception
    assert "pens\\.1" in texts(page)
    assert "advantage **0.866**" in texts(page)


def test_switching_the_strategy_moves_the_numbers(open_page):
    page = open_page("trajectories")
    table = page.dataframe[0].value
    sums = {}
    for strategy in ("last token", "uniform", "every token"):
        page.segmented_control(key="credit_strategy").set_value(strategy).run()
        sums[strategy] = page.dataframe[0].value["sum"].tolist()
    assert len({tuple(own) for own in sums.values()}) == 3
    assert table["trained"].sum() > 0


def test_an_unscored_trajectory_is_given_nothing_rather_than_zero(open_page):
    page = open_page("trajectories")
    talk = [{"role": "user", "content": "2+2?"}, {"role": "assistant", "content": "4"}]
    page.session_state["trajectory_text"] = ("unscored", json.dumps({"messages": talk}))
    page.run()
    assert not page.exception
    assert "Unscored: there is nothing to assign" in texts(page)
    assert "Unscored in this group: 1." in texts(page).replace("\\", "")


def test_tool_output_put_into_the_loss_is_told(open_page):
    page = open_page("trajectories")
    page.button_group(key="trained_parts").set_value(["answer", "tool output"]).run()
    assert "Tool output is in the loss (tokens: " in texts(page).replace("\\", "")


def test_where_there_is_no_kl_the_page_says_what_to_log(open_page):
    page = open_page("trajectories")
    page.segmented_control(key="credit_strategy").set_value("by KL").run()
    assert "carries no KL" in texts(page)


def test_a_text_whose_spans_overlap_is_told_and_another_can_be_loaded(open_page):
    page = open_page("trajectories")
    broken = '{"tokens": [1, 2], "mask": [0, 1], "spans": [["user", 0, 2], ["assistant", 1, 2]]}'
    page.session_state["trajectory_text"] = ("broken", broken)
    page.run()
    assert "begins before the span in front of it" in texts(page).replace("\\", "")
    assert not page.exception


def test_the_simulator_shows_a_run_and_a_named_system_changes_the_rule(open_page):
    page = open_page("trajectories")
    page.session_state["trajectories_tab"] = "Rollout buffer"
    page.run()
    assert "times** as many groups a minute as in turns" in texts(page)
    page.selectbox(key="simulation_system").set_value("TRL async GRPO").run()
    assert not page.exception
    assert page.number_input(key="simulation_max_staleness_1").value == 4


def test_settings_that_could_never_end_are_refused_in_a_sentence(open_page):
    page = open_page("trajectories")
    page.session_state["trajectories_tab"] = "Rollout buffer"
    page.run()
    page.selectbox(key="simulation_system").set_value("TRL async GRPO").run()
    page.number_input(key="simulation_queue_capacity_1").set_value(3).run()
    assert "never fits into a buffer of 3" in texts(page).replace("\\", "")
