"""The frame: deep links, language, dark mode, narrow windows, keyboard."""

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Visitor

PAGES = {
    "compose": ("Compose", "组合"),
    "functions": ("Functions", "函数"),
    "test": ("Test", "测试"),
    "training_metrics": ("Training metrics", "训练指标"),
}


@pytest.mark.slow
def test_a_deep_link_on_a_cold_server_shows_the_whole_frame(tab, own_server):
    """Compose, Functions and Training metrics are opened so in the journeys whose console is killed."""
    visitor = Visitor(tab, own_server).open("test")
    visitor.sees_the_frame("Test")
    visitor.leave()


def test_the_language_is_chosen_and_survives_page_switch_and_reload(visitor):
    visitor.open("compose")
    visitor.page.get_by_role("radio", name="中文").or_(visitor.page.get_by_role("button", name="中文")).first.click()
    visitor.settle()
    expect(visitor.page.get_by_role("heading", name=PAGES["compose"][1], level=1)).to_be_visible()
    visitor.go(PAGES["test"][1])
    visitor.page.reload()
    visitor.settle()
    expect(visitor.page.get_by_role("heading", name=PAGES["test"][1], level=1)).to_be_visible()


@pytest.mark.parametrize("path", PAGES)
def test_a_page_opens_dark_in_a_narrow_window_with_one_heading_and_no_sideways_scrollbar(visitor, path):
    visitor.page.emulate_media(color_scheme="dark")
    visitor.page.set_viewport_size({"width": 420, "height": 900})
    visitor.open(path)
    expect(visitor.page.get_by_role("heading", level=1)).to_have_count(1)
    wide = visitor.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0
