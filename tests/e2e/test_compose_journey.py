"""Compose a mix and see the total; what was composed survives a page switch, a reload and a restart."""

import json
import re
import signal

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Visitor


def weight(visitor, rule):
    return visitor.page.get_by_role("spinbutton", name=f"Weight of {rule}")


def test_a_newcomer_finds_a_working_mix_and_what_it_pays(visitor):
    visitor.open()
    expect(visitor.page).to_have_url(re.compile(r"/compose"))
    visitor.sees("Completion 1 earns 0.45")
    visitor.sees("What is one half of 1")


def test_a_changed_weight_changes_the_sum_at_once_and_survives_reload_and_page_switch(visitor):
    visitor.open("compose")
    box = weight(visitor, "accuracy")
    box.fill("0.55")
    box.press("Enter")
    visitor.settle()
    visitor.sees("Completion 1 earns 0.65")
    box.fill("")
    box.press("Enter")
    visitor.settle()
    expect(box).to_have_value("0.55")  # what counts, and none that counted before
    visitor.sees("Completion 1 earns 0.65")
    visitor.go("Test")
    visitor.go("Compose")
    expect(weight(visitor, "accuracy")).to_have_value("0.55")
    visitor.page.reload()
    visitor.settle()
    expect(weight(visitor, "accuracy")).to_have_value("0.55")
    weight(visitor, "accuracy").fill("0.35")
    weight(visitor, "accuracy").press("Enter")
    visitor.settle()
    visitor.sees("Completion 1 earns 0.45")


def test_a_rule_is_added_named_and_removed(visitor):
    visitor.open("compose")
    visitor.page.get_by_role("combobox", name="Add a rule").click()
    visitor.page.get_by_role("combobox", name="Add a rule").fill("contains")
    visitor.page.get_by_role("option", name=re.compile("^contains")).first.click()
    visitor.settle()
    visitor.sees("4 of 5 rules")
    card = visitor.keyed("card_3")
    expect(card).to_contain_text("contains")
    card.get_by_role("button", name="More").click()
    visitor.page.get_by_role("option", name="Remove").or_(
        visitor.page.get_by_role("menuitem", name="Remove")
    ).first.click()
    visitor.settle()
    visitor.sees("3 of 5 rules")


def test_a_completion_of_ones_own_becomes_a_row(visitor):
    visitor.open("compose")
    box = visitor.page.get_by_role("textbox", name="Try a completion of your own")
    box.fill("My own: \\boxed{1/2}")
    box.press("Control+Enter")
    visitor.settle()
    expect(visitor.keyed("pays_1_5")).to_be_visible()
    visitor.sees("Completion 5 earns")
    visitor.page.reload()
    visitor.settle()
    expect(visitor.keyed("pays_1_5")).to_be_visible()
    box.fill("")
    box.press("Control+Enter")
    visitor.settle()


def test_the_exported_mix_file_is_that_of_the_contract(visitor):
    visitor.open("compose")
    visitor.press("Mix file")
    visitor.page.get_by_text("Export …").click()
    with visitor.page.expect_download() as waiting:
        visitor.page.get_by_role("button", name="Download math.json").click()
    mix = json.loads(waiting.value.path().read_text())
    assert [rule["name"] for rule in mix["rules"]] == ["accuracy", "format", "brevity"]
    assert mix["rules"][0] == {"name": "accuracy", "preset": "math_accuracy", "weight": 0.35}


def test_the_form_stays_open_while_it_is_filled_in_and_its_line_follows(visitor):
    visitor.open("compose")
    card = visitor.keyed("card_0")
    card.get_by_text("extract boxed").click()
    visitor.settle()
    field = card.get_by_role("spinbutton", name="rounding_digits")
    field.fill("4")
    field.press("Enter")
    visitor.settle()
    expect(card.get_by_text("rounding_digits 4")).to_be_visible()
    expect(field).to_be_visible()
    field.fill("6")
    field.press("Enter")
    visitor.settle()


@pytest.mark.slow
def test_a_killed_console_comes_back_with_every_edit(tab, own_server):
    visitor = Visitor(tab, own_server).open("compose")
    visitor.sees_the_frame("Compose")
    weight(visitor, "format").fill("0.25")
    weight(visitor, "format").press("Enter")
    visitor.sees("0.25 × 1")
    own_server.stop(signal.SIGKILL)
    own_server.start()
    visitor.leave()  # what the browser kept is no help
    again = Visitor(tab, own_server).open("training_metrics")  # a deep link on a cold server
    again.sees_the_frame("Training metrics")
    again.go("Compose")
    expect(weight(again, "format")).to_have_value("0.25")
    again.leave()
