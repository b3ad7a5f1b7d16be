"""Practice in a browser: solve an exercise, keep what was written, do a round from memory."""

import re

import pytest
from playwright.sync_api import expect

from rewards_lib.practice import exercises
from tests.e2e.conftest import MODIFIER

NAME = "mask_shift"
EXERCISE = exercises()[NAME]
TITLE = str(EXERCISE.title)


@pytest.fixture
def practice(visitor):
    return visitor.open(f"practice?exercise={NAME}")


def test_a_mistake_gets_its_message_then_the_exercise_is_solved_and_stays_so(practice):
    practice.write(TITLE, EXERCISE.wrong_answers[0].text)
    practice.page.keyboard.press(f"{MODIFIER}+Enter")
    practice.sees("drop the first entry, not the last")
    practice.press("Hint")
    practice.sees("Hint 1")
    practice.write(TITLE, EXERCISE.solution)
    practice.press("Check")
    practice.sees(f"Solved: all {len(EXERCISE.checks)} cases pass.")
    practice.page.reload()
    practice.settle()
    expect(practice.page.get_by_role("combobox", name="Exercise")).to_have_value(re.compile("first steps · solved$"))
    expect(practice.editor(TITLE)).to_contain_text("mask[1:]")


def test_a_round_from_memory_judges_each_gap_and_shows_the_rest(practice):
    practice.page.get_by_text("From memory").click()
    practice.settle()
    seed = practice.page.get_by_label("Seed")
    seed.fill("3")
    seed.press("Enter")
    practice.settle()
    expect(practice.page.locator("pre.code")).to_have_attribute("data-round", "30/3")  # else what is typed is wiped
    gaps = practice.page.locator("pre.code input")
    count = gaps.count()
    gaps.first.fill("certainly_wrong")
    practice.press("Check")
    practice.sees(f"0 of {count} right")
    expect(practice.page.locator(".gap.wrong")).to_have_count(1)
    practice.press("Show the rest")
    practice.sees(f"{count} shown")
    solved = practice.page.evaluate(
        "() => [...document.querySelectorAll('*')].map(one => one.shadowRoot).filter(Boolean)"
        ".concat(document).flatMap(root => [...root.querySelectorAll('pre.code')])"
        ".map(code => [...code.childNodes].map(node => node.nodeType === 3 ? node.textContent"
        " : node.querySelector('input').value).join(''))[0]"
    )
    assert solved == EXERCISE.solution
    practice.press("Hide others")
    expect(practice.page.locator(".gap.shown")).to_have_count(0)


def test_the_next_exercise_is_a_click_away(practice):
    practice.write(TITLE, EXERCISE.solution)
    practice.press("Check")
    practice.sees(f"Solved: all {len(EXERCISE.checks)} cases pass.")
    practice.press("Next:")
    practice.sees("Asynchronous rollout buffer")
    expect(practice.page).to_have_url(f"{practice.server.url}/practice?exercise=rollout_buffer")
