"""Trajectories in a browser: the sample, the strategies, the shift, hostile text, and one seed simulated twice."""

import json

import pytest
from playwright.sync_api import expect


@pytest.fixture
def trajectories(visitor):
    return visitor.open("trajectories")


def facts(visitor):
    """The numbers beside the tokens: in the mask, positions with a loss, sum."""
    return visitor.keyed("credit_facts").inner_text()


def load(visitor, entry):
    visitor.press("Load")
    visitor.page.get_by_role("menuitem", name=entry).or_(visitor.page.get_by_role("option", name=entry)).first.click()
    visitor.settle()


def test_the_sample_is_loaded_and_the_strategies_move_the_numbers(trajectories):
    trajectories.sees("pens.1")
    load(trajectories, "Example: worked numbers as tokens, masks and KL")
    trajectories.sees("five of nine")
    found = {}
    for strategy in ("last token", "uniform", "by KL", "every token"):
        trajectories.page.get_by_role("radio", name=strategy, exact=True).or_(
            trajectories.page.get_by_role("button", name=strategy, exact=True)
        ).first.click()
        trajectories.settle()
        found[strategy] = facts(trajectories)
    assert all("5 of 9" in told for told in found.values())
    assert "1.1547" in found["last token"]
    expect(trajectories.keyed("credit_facts")).to_contain_text("5.7735")  # 1.1547 on each of five tokens


def test_the_shift_moves_the_marks_one_token_to_the_left(trajectories):
    load(trajectories, "Example: worked numbers as tokens, masks and KL")
    marked = trajectories.page.locator(".t.in")
    expect(marked).to_have_text([" call", " mul", " It", " is", " 42"])
    trajectories.page.get_by_text("where their loss stands").first.click()
    trajectories.settle()
    expect(marked).to_have_text([" 6*7?", " call", " 42", " It", " is"])


def test_tool_output_in_the_loss_is_told_at_once(trajectories):
    trajectories.keyed("trained_parts").get_by_text("tool output").click()
    trajectories.sees("Tool output is in the loss (tokens: ")


def test_a_trajectory_of_ones_own_is_shown_and_its_markup_stays_text(trajectories):
    hostile = "<img src=x onerror=alert(1)> **bold** [link](http://example.com)"
    row = {"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": hostile}], "reward": 1}
    load(trajectories, "A file or a text of your own")
    trajectories.page.get_by_label("Or paste it").fill(json.dumps(row))
    trajectories.page.get_by_label("Or paste it").blur()
    trajectories.press("Show it")
    expect(trajectories.page.locator(".rows")).to_contain_text(hostile)
    expect(trajectories.page.locator(".rows img")).to_have_count(0)


def test_what_is_no_trajectory_is_told_and_the_old_one_stays(trajectories):
    load(trajectories, "A file or a text of your own")
    trajectories.page.get_by_label("Or paste it").fill('{"tokens": [1, 2]}')
    trajectories.page.get_by_label("Or paste it").blur()
    trajectories.press("Show it")
    trajectories.sees("tokens and mask must be lists")


def test_one_seed_gives_the_same_simulated_run_twice_and_another_seed_another(trajectories):
    page = trajectories.page
    page.get_by_role("tab", name="Rollout buffer").click()
    told = page.get_by_text("· run ").first
    expect(told).to_be_visible()
    first = told.inner_text()

    def set_seed(value):
        field = page.get_by_label("Seed")
        field.fill(value)
        field.press("Enter")
        expect(page.get_by_text(f"Seed {value} · run ")).to_be_visible()
        trajectories.settle()
        return page.get_by_text(f"Seed {value} · run ").inner_text()

    other = set_seed("7")
    assert other.split("run ")[1] != first.split("run ")[1]
    assert set_seed("0") == first


def test_a_named_system_brings_its_rule_and_its_default(trajectories):
    page = trajectories.page
    page.get_by_role("tab", name="Rollout buffer").click()
    page.get_by_role("combobox", name="As in").click()
    page.get_by_role("option", name="TRL async GRPO").click()
    trajectories.sees("max_staleness 4")
    expect(page.get_by_label("Staleness limit, versions")).to_have_value("4")
