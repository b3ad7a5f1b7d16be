"""The Code judge page, through app.py: what a submission is answered with, and how a mistake is told."""

from __future__ import annotations

import json
import re

import pytest

from rewards_lib.store import Store
from tests.pages.conftest import texts


def judged(page):
    """Press Judge and wait until the verdict is drawn."""
    page.button(key="judge").click().run()
    while "Judging" in texts(page) or "判题中" in texts(page):
        page.run()
    return page


def edit(**change):
    """Change the stored submission, as another visit left it."""
    store = Store()
    draft = store.load_draft("payload", "code_judge")
    store.save_draft("payload", "code_judge", draft.content | change, base_revision=draft.revision)


def test_the_page_opens_with_an_example_and_says_what_to_do(open_page):
    page = open_page("code_judge")
    assert not page.exception
    assert "Press Judge" in texts(page)


def test_the_example_is_judged_test_by_test(open_page):
    page = judged(open_page("code_judge"))
    said = texts(page)
    assert "Wrong answer" in said
    assert "3 of 4 tests passed" in said
    assert "isolation tier" in said
    table = page.dataframe[0].value
    assert [word.split(" ", 1)[1] for word in table["verdict"]] == ["accepted", "wrong answer", "accepted", "accepted"]
    assert re.fullmatch(r"\d+ ms", table["cpu"][0])
    assert "Test 2" in said


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"tests": "[]"}, "There are no tests"),
        ({"tests": "[{]"}, "line 1, column 3"),
        ({"tests": "https://example.com/t.json"}, "may not be fetched"),
    ],
)
def test_what_cannot_be_judged_is_told_and_is_no_verdict(open_page, change, says):
    open_page("code_judge")
    edit(**change)
    page = judged(open_page("code_judge"))
    assert says in texts(page).replace("\\", "")
    assert "tests passed" not in texts(page)


def test_a_completion_without_a_program_is_no_program(open_page):
    open_page("code_judge")
    edit(completion="I would add the numbers.")
    assert "No program" in texts(judged(open_page("code_judge")))


def test_a_change_of_the_settings_is_kept_and_marks_the_verdict_as_old(open_page):
    page = judged(open_page("code_judge"))
    page.selectbox(key="judge_compare_0").set_value("tokens").run()
    assert "before the last change" in texts(page)
    assert Store().load_draft("payload", "code_judge").content["compare"] == "tokens"


def test_the_page_speaks_chinese(open_page):
    page = judged(open_page("code_judge", lang="zh"))
    assert re.search(r"[\u4e00-\u9fff]", page.title[0].value)
    assert not re.search(r"tests passed|isolation tier", texts(page))


def test_the_submission_is_what_the_service_would_be_sent():
    from components.code_judge.draft import from_request, submission_of, to_request
    from components.examples import read

    request = json.loads(read("code/submission_checker.json"))
    content = from_request(request)
    assert from_request(to_request(content)) == content
    assert submission_of(content).checker is not None


def test_a_compile_error_shows_the_compilers_words_and_no_test(open_page):
    open_page("code_judge")
    edit(completion="```python\ndef f(:\n```")
    page = judged(open_page("code_judge"))
    assert "Compile error" in texts(page)
    assert any("SyntaxError" in block.value for block in page.code)
    assert not page.dataframe
    assert "Expected" not in texts(page)
