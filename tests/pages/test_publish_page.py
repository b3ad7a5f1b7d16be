"""The Publish page: never empty; a draft becomes a version, versions are compared; snippets show no token."""

from contextlib import closing

import pytest

from components.publish.snippets import SNIPPETS, snippet
from rewards_lib.contract import Completion, Payload, Sample
from rewards_lib.regression_cases import Case, Expected, save_case
from rewards_lib.store import Store
from tests.pages.conftest import texts


@pytest.fixture(autouse=True)
def own_port(monkeypatch):
    """A port on which nothing listens."""
    monkeypatch.setenv("REWARD_CONSOLE_SERVICE_PORT", "1")


def test_a_first_visit_offers_the_example_mix(open_page):
    page = open_page("publish")
    assert not page.exception
    assert "Nothing is published yet" in texts(page)
    assert "not running" in texts(page)
    [button] = [one for one in page.button if one.key == "publish_draft"]
    assert (button.label, button.disabled) == ("Publish draft as v1 …", False)


def test_a_version_gets_its_address_and_its_difference_to_the_draft(open_page):
    page = open_page("publish")
    store = Store()
    mix = store.list_drafts("mix")[0]
    store.publish("mix", mix.name, mix.content, "first")
    page.run()
    assert f"/rewards/{mix.name}" in texts(page)
    assert [one.disabled for one in page.button if one.key == "publish_draft"] == [True]
    rules = [dict(rule) for rule in mix.content["rules"]]
    rules[0]["weight"] = 0.75
    store.save_draft("mix", mix.name, mix.content | {"rules": rules}, base_revision=mix.revision)
    page.run()
    assert "v1 to draft" in texts(page)
    assert "0\\.75" in texts(page)
    assert [one.disabled for one in page.button if one.key == "publish_draft"] == [False]
    store.close()


def test_a_draft_that_is_not_valid_yet_is_told_and_not_published(open_page):
    page = open_page("publish")
    store = Store()
    mix = store.list_drafts("mix")[0]
    store.save_draft("mix", mix.name, mix.content | {"rules": []}, base_revision=mix.revision)
    page.run()
    assert not page.exception
    assert [one.disabled for one in page.button if one.key == "publish_draft"] == [True]
    assert "1 to 5 rules" in "".join(str(one.value) for one in page.warning).replace("\\", "")
    store.close()


@pytest.mark.parametrize("how", SNIPPETS)
def test_a_snippet_names_the_address_and_the_tokens_variable_but_never_a_token(how):
    text = snippet(how, "http://127.0.0.1:8601", "数学", with_token=True)
    assert "http://127.0.0.1:8601/" in text
    assert "%E6%95%B0%E5%AD%A6" in text
    assert how in ("OpenRLHF", "slime") or "REWARD_CONSOLE_TOKEN" in text
    assert "REWARD_CONSOLE_TOKEN" not in snippet(how, "http://127.0.0.1:8601", "math", with_token=False)


CONTAINS = {"name": "loose", "rules": [{"name": "has", "preset": "contains"}]}


def ask_to_publish(open_page, expected):
    """The question that stands before a version of a mix with one kept case."""
    payload = Payload(Sample(extra={"answer": "4"}), (Completion("It is 4"),))
    with closing(Store()) as store:
        store.save_draft("mix", "loose", CONTAINS, base_revision=None)
        save_case(store, Case("sum", payload, (Expected(expected),), "mix:loose"))
    page = open_page("publish").button(key="publish_draft").click().run()
    assert not page.exception
    assert not page.button(key="publish_page_now").disabled
    return page


def test_a_case_that_does_not_hold_is_told_before_publishing_and_does_not_forbid_it(open_page):
    page = ask_to_publish(open_page, 0.0)
    [warning] = [one for one in page.warning if "sum" in one.value]
    assert "publish all the same" in warning.value


def test_cases_that_hold_are_counted_before_publishing(open_page):
    page = ask_to_publish(open_page, 1.0)
    assert not page.warning
    assert "The regression case holds." in texts(page)
