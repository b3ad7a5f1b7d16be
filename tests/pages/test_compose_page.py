"""Compose: nothing counts unseen, a rule that is not complete costs nothing but itself, and no work is lost."""

from __future__ import annotations

import json

from rewards_lib.store import Store
from tests.pages.conftest import texts

FUNCTION = """
from rl_types import RewardFunctionResult
def reward_fn(context, sample, completions):
    return RewardFunctionResult([{value}] * len(completions))
"""


def told(page):
    return texts(page) + "\n" + "\n".join(str(one.value) for one in page.warning)


def rules():
    return Store().load_draft("mix", "math").content["rules"]


def publish_two_versions():
    store = Store()
    for value in (1, 2):
        content = {"source": FUNCTION.format(value=value), "requirements": "", "allow_hosts": []}
        store.publish("function", "constant", content)
    store.save_draft("function", "constant", content | {"source": FUNCTION.format(value=3)}, base_revision=None)


def test_a_rule_without_a_weight_is_asked_for_one_and_does_not_count(open_page):
    page = open_page("compose")
    content = Store().load_draft("mix", "math").content
    content["rules"][0]["weight"] = None
    Store().save_draft("mix", "math", content, base_revision=1)
    page = open_page("compose")
    assert not page.exception
    assert "Give a weight, 0" in told(page)
    assert "The rule accuracy has no weight" in told(page).replace("\\", "")
    assert "Completion 1 earns 0.1**" in told(page)
    page.number_input[0].set_value(0.5).run()
    assert "Completion 1 earns 0.6**" in told(page)


def test_a_weight_that_is_no_hundredth_says_what_it_counts_as(open_page):
    page = open_page("compose")
    page.number_input[0].set_value(0.333333).run()
    assert "0.333333 counts as 0.33" in told(page).replace("\\", "")
    assert rules()[0]["weight"] == 0.33


def test_a_rule_without_its_pattern_is_named_and_the_others_are_scored(open_page):
    page = open_page("compose")
    page.selectbox(key="rule_add").set_value("preset:regex_match").run()
    assert not page.exception
    assert "The rule regex_match is not complete" in told(page).replace("\\", "")
    assert "rules[" not in told(page).replace("\\", "")
    assert "Completion 1 earns 0.45" in told(page)


def test_a_rules_line_tells_what_was_just_changed(open_page):
    page = open_page("compose")
    field = next(one for one in page.selectbox if one.label.startswith("fallback"))
    field.set_value("last_expression").run()
    assert any("fallback last" in one.label for one in page.expander)


def test_an_example_that_took_a_samples_place_can_be_taken_back(open_page):
    page = open_page("compose")
    before = rules()
    next(one for one in page.button if one.label == "Try this example").click().run()
    assert "What is its area?" in told(page)
    page.button(key="replaced_undo").click().run()
    assert "one half of 1" in told(page)
    assert rules() == before
    assert not [one for one in page.button if one.key == "replaced_undo"]


def test_an_own_completion_is_looked_at_at_once_and_is_still_there_for_the_next_session(open_page):
    page = open_page("compose")
    page.text_area(key="own_completion_text").set_value("so \\boxed{1/2}").run()
    assert "Completion 5 earns 0.35" in told(page)
    assert open_page("compose").text_area(key="own_completion_text").value == "so \\boxed{1/2}"


def test_the_empty_completion_can_be_tried(open_page):
    page = open_page("compose")
    page.checkbox(key="own_completion_empty").check().run()
    assert "Completion 5 earns 0**" in told(page)
    assert "an empty completion" in told(page)


def test_a_changed_sample_is_still_there_for_the_next_session(open_page):
    row = {
        "sample": {"messages": [{"role": "user", "content": "3+4?"}], "extra": {"answer": "7"}},
        "completions": ["7"],
    }
    Store().save_draft("payload", "samples", {"samples": [row]}, base_revision=None)
    assert "3+4?" in told(open_page("compose"))


def test_a_functions_version_is_chosen_on_its_card(open_page):
    publish_two_versions()
    page = open_page("compose")
    page.selectbox(key="rule_add").set_value("function:constant").run()
    assert "as it stands on Functions" in told(page)
    chooser = next(one for one in page.selectbox if one.label == "Version of constant")
    assert [option.split(" of ")[0] for option in chooser.options] == [
        "the draft, as it stands",
        "version 2",
        "version 1",
    ]
    chooser.set_value("constant@1").run()
    assert rules()[-1]["function"] == "constant@1"
    assert "version 1: what was published" in told(page).replace("\\", "")
    assert "Completion 1 earns 1.45" in told(page)


def test_a_request_is_answered_by_a_published_version(open_page):
    publish_two_versions()
    page = open_page("test")
    page.selectbox(key="score_with").set_value("function:constant@2").run()
    page.button(key="send").click().run()
    assert '"rewards": [2.0' in json.dumps([one.value for one in page.code]).replace("\\", "")


def test_a_request_scored_by_a_mix_that_is_not_complete_names_the_rule(open_page):
    page = open_page("compose")
    page.selectbox(key="rule_add").set_value("preset:regex_match").run()
    page = open_page("test")
    page.button(key="send").click().run()
    assert "The rule regex_match is not complete" in told(page).replace("\\", "")
