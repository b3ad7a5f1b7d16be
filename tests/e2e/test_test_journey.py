"""Paste the request that a trainer sends and see the exact answer it would get."""

import json

from playwright.sync_api import expect

from tests.e2e.conftest import MODIFIER

REQUEST = {
    "data": {
        "context": {},
        "sample": {"messages": [{"role": "user", "content": "1/2?"}], "extra": {"answer": "0.5"}, "tools": []},
        "completions": [{"messages": [{"role": "assistant", "content": "\\boxed{0.5}"}]}],
    },
    "method": "POST",
    "path": "/",
    "headers": {},
}


def test_a_pasted_request_is_answered_as_a_trainer_would_see_it(visitor):
    visitor.open("test")
    visitor.write("Request", json.dumps(REQUEST, indent=1))
    visitor.keyed("send").get_by_role("button").click()
    visitor.sees('"rewards": [0.35]')
    visitor.sees("By completion")
    visitor.sees("isolation tier")


def test_broken_json_names_line_and_column_and_scores_nothing(visitor):
    visitor.open("test")
    visitor.write("Request", '{"sample": {},\n "completions": ["x",]}')
    visitor.page.keyboard.press(f"{MODIFIER}+Enter")
    visitor.settle()
    visitor.sees("line 2, column")
    expect(visitor.page.get_by_text('"rewards":')).to_have_count(0)


def test_an_example_is_loaded_with_one_click_and_the_text_survives_a_reload(visitor):
    visitor.open("test")
    visitor.press("Examples")
    visitor.page.get_by_text("Dataset row with completions").click()
    visitor.settle()
    visitor.sees("dataset row · 2 completions")
    visitor.sees("took the place of the request")
    visitor.press("Undo")
    expect(visitor.page.get_by_text("took the place of the request")).to_have_count(0)
    visitor.press("Examples")
    visitor.page.get_by_text("Dataset row with completions").click()
    visitor.settle()
    visitor.page.reload()
    visitor.settle()
    visitor.sees("dataset row · 2 completions")
