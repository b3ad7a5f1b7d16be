"""Each page opens with something to see, in both languages, and answers bad input with a sentence."""

import re

import pytest

from rewards_lib.store import Store
from tests.pages.conftest import texts

PAGES = ["compose", "functions", "test", "training_metrics"]
CHINESE = re.compile(r"[\u4e00-\u9fff]")


@pytest.mark.parametrize("name", PAGES)
def test_a_page_opens_without_an_exception_and_with_one_heading(open_page, name):
    page = open_page(name)
    assert not page.exception
    assert not page.error
    assert len(page.title) == 1


@pytest.mark.parametrize("name", PAGES)
def test_the_english_page_holds_no_chinese_and_the_chinese_one_has_its_heading(open_page, name):
    english = texts(open_page(name)).replace("中文", "")
    assert not CHINESE.search(english)
    assert CHINESE.search(open_page(name, lang="zh").title[0].value)


def test_compose_shows_what_the_example_earns(open_page):
    assert "Completion 1 earns 0.45" in texts(open_page("compose"))


def test_a_weight_in_hundredths_stays_what_was_typed(open_page):
    page = open_page("compose")
    page.number_input[0].set_value(0.7).run()
    assert "Completion 1 earns 0.8" in texts(page)
    assert Store().load_draft("mix", "math").content["rules"][0]["weight"] == 0.7


def test_at_five_rules_no_more_can_be_added(open_page):
    page = open_page("compose")
    for _ in range(2):
        page.selectbox(key="rule_add").set_value("preset:contains").run()
    assert page.selectbox(key="rule_add").disabled


def test_functions_runs_the_example_on_the_sample(open_page):
    page = open_page("functions")
    page.button(key="run").click().run()
    assert "4 of 4 completions scored." in texts(page)


def test_test_answers_the_example_request_as_a_trainer_would_see_it(open_page):
    page = open_page("test")
    page.button(key="send").click().run()
    assert '{"rewards": [0.45, 0.35, 0.1], "metrics": {}, "status": "success"}' in texts(page)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"sample": {}, "completions": ["x",]}', "a comma before the closing"),
        ('{"sample": {}, "completions": []}', "completions is empty"),
        ("[1]", "a list; an object is expected"),
        ("", "There is nothing here"),
    ],
)
def test_bad_requests_get_a_sentence_and_no_reward(open_page, text, says):
    Store().save_draft("payload", "request", {"text": text}, base_revision=None)
    page = open_page("test")
    page.button(key="send").click().run()
    assert not page.exception
    assert any(says in error.value.replace("\\", "") for error in page.error)
    assert '"rewards"' not in texts(page)


def test_an_unreadable_store_is_told_and_no_traceback_is_shown(open_page, tmp_path, monkeypatch):
    bad = tmp_path / "bad.sqlite"
    bad.write_bytes(b"this is no database" * 100)
    monkeypatch.setenv("REWARD_CONSOLE_DATABASE", f"sqlite:///{bad}")
    page = open_page("compose")
    assert not page.exception
    assert page.error
    assert "Traceback" not in texts(page)
