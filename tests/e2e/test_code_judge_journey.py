"""Paste a completion and its tests, see the verdict of every test, mend the program, see it accepted."""

from __future__ import annotations

import json

from playwright.sync_api import expect

from tests.e2e.conftest import MODIFIER

TESTS = [
    {"input": {"stdin": "1 2\n"}, "output": {"stdout": "3\n"}},
    {"input": {"stdin": "-5 5\n"}, "output": {"stdout": "0\n"}},
]
WRONG = "```python\na, b = map(int, input().split())\nprint(abs(a) + b)\n```"


def judged(visitor) -> None:
    """Press Judge and wait for the verdict of what stands there now."""
    visitor.keyed("judge").get_by_role("button").click()
    expect(visitor.page.get_by_role("button", name="Stop judging")).to_have_count(0)
    visitor.settle()


def test_a_program_that_fails_a_test_is_mended_and_accepted(visitor):
    visitor.open("code_judge")
    visitor.write("Completion", WRONG)
    visitor.write("Tests", json.dumps(TESTS, indent=1))
    judged(visitor)
    visitor.sees("Wrong answer")
    visitor.sees("1 of 2 tests passed")
    visitor.sees("Test 2")
    visitor.sees("isolation tier")
    visitor.write("Completion", WRONG.replace("abs(a)", "a"))
    visitor.page.keyboard.press(f"{MODIFIER}+Enter")
    visitor.sees("2 of 2 tests passed")
    visitor.sees("Accepted")
    visitor.page.reload()
    visitor.settle()
    expect(visitor.editor("Completion")).to_contain_text("print(a + b)")


def test_an_endless_program_can_be_stopped(visitor):
    visitor.open("code_judge")
    visitor.write("Completion", "```python\nimport time\ntime.sleep(500)\n```")
    visitor.write("Tests", json.dumps(TESTS))
    box = visitor.page.get_by_role("spinbutton", name="CPU seconds a test")
    box.fill("100")
    box.press("Enter")
    visitor.settle()
    visitor.keyed("judge").get_by_role("button").click()
    visitor.page.get_by_role("button", name="Stop judging").click()
    visitor.sees("Nothing was judged")


def test_examples_cover_another_language_and_a_checker(visitor):
    visitor.open("code_judge")
    visitor.press("Examples")
    visitor.page.get_by_text("Any right answer, by a checker").click()
    visitor.settle()
    judged(visitor)
    visitor.sees("3 of 3 tests passed")
