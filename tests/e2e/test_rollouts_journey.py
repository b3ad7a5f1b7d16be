"""Load the example, score it, cancel, resume after a reload, change weights, compare, attack, open the worst leak."""

import json
import re

import pytest
from playwright.sync_api import expect

MANY = 16_000


@pytest.fixture
def many(tmp_path):
    """A file that takes a while."""
    lines = []
    for number in range(MANY):
        sample = {
            "messages": [{"role": "user", "content": f"What is {number // 4}?"}],
            "extra": {"answer": str(number)},
        }
        lines.append(json.dumps({"group": f"g{number // 4}", "sample": sample, "completion": f"\\boxed{{{number}}}"}))
    path = tmp_path / "many.jsonl"
    path.write_text("\n".join(lines) + "\n")
    return path


def score_the_example(visitor):
    visitor.open("rollouts")
    visitor.press("Take the example")
    visitor.sees("320 completions")
    visitor.press("Score rollouts", exact=True)
    expect(visitor.page.get_by_text("One try, bo1").first).to_be_visible(timeout=90_000)
    visitor.settle()


def open_tab(visitor, name):
    visitor.page.get_by_role("tab", name=name, exact=True).click(delay=80)
    visitor.settle()


def test_the_example_is_scored_filtered_and_one_completion_is_read(visitor):
    score_the_example(visitor)
    visitor.sees("How rewards spread")
    open_tab(visitor, "Completions")
    box = visitor.page.get_by_role("textbox", name="Filter")
    box.fill("accuracy == 0 and extra.level == 3")
    box.press("Enter")
    visitor.settle()
    expect(visitor.keyed("rollout_detail")).to_contain_text("accuracy 0")
    expect(visitor.keyed("rollout_text").locator("mark").first).to_be_visible()
    before = visitor.keyed("rollout_detail").inner_text()
    visitor.press("Next")
    assert visitor.keyed("rollout_detail").inner_text() != before
    box.fill("acuracy == 0")
    box.press("Enter")
    visitor.sees("there is no acuracy; the nearest is accuracy")
    visitor.page.reload()
    visitor.settle()
    expect(visitor.page.get_by_role("tab", name="Completions")).to_have_attribute("aria-selected", "true")


def test_a_long_job_survives_a_reload_is_cancelled_and_resumed(visitor, many):
    visitor.open("rollouts")
    visitor.page.locator("input[type=file]").first.set_input_files(many)
    visitor.sees("read as canonical")
    visitor.press("Score rollouts", exact=True)
    visitor.sees("a second")
    visitor.page.reload()
    visitor.sees("a second")
    visitor.page.get_by_role("button", name="Cancel").click(delay=80)
    visitor.sees("Cancelled at")
    visitor.page.get_by_role("button", name=re.compile("Go on from")).click(delay=80)
    expect(visitor.page.get_by_text("One try, bo1").first).to_be_visible(timeout=120_000)
    visitor.settle()
    expect(visitor.keyed("result_head")).to_contain_text("4\u202f000 groups of 4")


def test_other_weights_are_tried_taken_to_compose_and_the_two_results_compared(visitor):
    score_the_example(visitor)
    open_tab(visitor, "What if")
    slider = visitor.page.get_by_role("slider", name="Weight of format")
    slider.focus()
    for _ in range(20):
        slider.press("ArrowRight")
    visitor.sees("was 0.")
    visitor.press("Take these weights to Compose")
    visitor.press("Score again")
    visitor.press("Score rollouts", exact=True)
    expect(visitor.page.get_by_text("One try, bo1").first).to_be_visible(timeout=90_000)
    visitor.settle()
    open_tab(visitor, "Compare")
    visitor.sees("rewards differ")
    expect(visitor.keyed("comparison_detail")).to_contain_text("format 1")


def test_an_attack_opens_its_worst_leak_which_becomes_a_case(visitor, tmp_path):
    mix = {"name": "loose", "rules": [{"name": "has", "preset": "contains"}]}
    (tmp_path / "loose.json").write_text(json.dumps(mix))
    visitor.open("rollouts")
    visitor.press("Take the example")
    visitor.page.get_by_role("combobox", name="Score with").click()
    visitor.page.get_by_role("option", name="a mix file …").click()
    visitor.settle()
    visitor.page.locator(".st-key-score_mix_file input[type=file]").set_input_files(tmp_path / "loose.json")
    visitor.settle()
    visitor.press("Score rollouts", exact=True)
    expect(visitor.page.get_by_text("One try, bo1").first).to_be_visible(timeout=90_000)
    open_tab(visitor, "Attacks")
    visitor.page.get_by_role("button", name="Attack loose").click(delay=80)
    expect(visitor.keyed("worst_leak")).to_be_visible(timeout=90_000)
    expect(visitor.keyed("worst_leak")).to_contain_text("list all candidates")
    expect(visitor.keyed("beside_leak")).to_contain_text("the ground truth")
    visitor.press("Keep as a case")
    visitor.sees("Kept as a case")


def test_an_upload_and_its_result_are_seen_with_their_size_and_removed(visitor, tmp_path):
    path = tmp_path / "to_remove.jsonl"
    sample = {"messages": [{"role": "user", "content": "1+1?"}], "extra": {"answer": "2"}}
    path.write_text("".join(json.dumps({"sample": sample, "completion": "2" * 500}) + "\n" for _ in range(400)))
    visitor.open("rollouts")
    visitor.page.locator("input[type=file]").first.set_input_files(path)
    visitor.sees("read as canonical")
    visitor.open("rollouts?rollouts_view=Stored+files")
    visitor.sees("on the console machine")
    grid = visitor.page.get_by_test_id("stDataFrame").first
    grid.click(position={"x": 20, "y": 50})
    visitor.settle()
    visitor.press("Remove 1 for good")
    visitor.sees("freed.")
