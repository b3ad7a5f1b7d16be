"""The editor in a real browser: keys, keyboard, other tabs, restarts, and a browser that cannot load it."""

import re
import signal

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import MODIFIER, PRESS_MS, new_visitor

DEBOUNCE_MS = 900  # the editor's 400 ms, and a rerun


@pytest.fixture
def functions(visitor):
    return visitor.open("functions")


def type_at_end(page: Page, text: str) -> None:
    page.get_by_role("textbox", name="reward.py", exact=True).click()
    page.keyboard.press(f"{MODIFIER}+End")
    page.keyboard.type(text)


def test_a_page_link_pressed_right_after_typing_loses_no_key(functions):
    functions.write("reward.py", "# first")
    functions.page.keyboard.type(" and last")
    functions.go("Test")
    functions.go("Functions")
    expect(functions.editor("reward.py")).to_have_text("# first and last")


def test_a_reload_right_after_typing_loses_no_key(functions):
    for mark in ("# one", "# two"):
        functions.write("reward.py", "# first")
        functions.keeps("# first")
        functions.page.keyboard.type(f" {mark}")
        functions.page.reload()
        functions.settle()
        expect(functions.editor("reward.py")).to_have_text(f"# first {mark}")
    functions.keeps("# first # two")
    functions.page.reload()
    expect(functions.editor("reward.py")).to_have_text("# first # two")


def test_a_text_that_was_kept_at_a_tab_switch_does_not_come_back_over_a_newer_one(functions):
    functions.write("reward.py", "# A")
    functions.keeps("# A")
    functions.page.keyboard.type("B")
    functions.page.evaluate("() => dispatchEvent(new Event('pagehide'))")
    functions.page.evaluate("() => document.dispatchEvent(new Event('visibilitychange'))")
    functions.page.keyboard.press("Backspace")
    functions.page.wait_for_timeout(DEBOUNCE_MS)
    functions.page.reload()
    expect(functions.editor("reward.py")).to_have_text("# A")


def test_tab_indents_and_escape_then_tab_leaves(functions):
    functions.write("reward.py", "x")
    box = functions.editor("reward.py")
    box.press("Tab")
    expect(box).to_be_focused()
    box.press("Escape")
    box.press("Tab")
    expect(box).not_to_be_focused()


def test_enter_after_a_word_is_a_new_line_and_no_completion(functions):
    functions.write("reward.py", "returning = 1\n")
    functions.page.keyboard.type("retur\nx")
    expect(functions.editor("reward.py")).to_contain_text("retur")
    assert functions.editor("reward.py").inner_text().splitlines() == ["returning = 1", "retur", "x"]


def test_a_finding_is_told_at_its_line(functions):
    functions.write("reward.py", "import subprocess\n")
    expect(functions.page.locator(".cm-lint-marker-error")).to_have_count(1)
    mark = functions.page.locator(".cm-lintRange-error")
    expect(mark).to_have_text(re.compile("subprocess"))
    mark.hover()
    expect(functions.page.locator(".cm-tooltip")).to_contain_text("cannot start programs")


def test_the_editor_wears_the_dark_theme(visitor):
    visitor.page.emulate_media(color_scheme="dark")
    visitor.open("functions")
    grounds = visitor.editor("reward.py").evaluate(
        "box => [getComputedStyle(box.closest('.cm-editor')).backgroundColor, getComputedStyle(box).fontSize]"
    )
    assert grounds == ["rgb(11, 14, 18)", "13px"]


def test_a_browser_that_cannot_load_the_bundle_gets_a_text_area(chromium, server):
    someone = new_visitor(chromium, server)
    someone.page.route(re.compile(r"/code_editor-.*\.js"), lambda route: route.abort())
    someone.open("functions")
    someone.sees("could not load the code editor")
    someone.settle()
    someone.editor("reward.py").fill("# plain")
    someone.editor("reward.py").blur()
    someone.keeps("# plain")  # Streamlit drops it where a page is asked for before it could begin with the text
    someone.go("Test")
    someone.go("Functions")
    expect(someone.editor("reward.py")).to_have_value("# plain")
    someone.page.context.close()
    assert someone.script_errors == []


def test_text_typed_while_the_server_was_away_is_kept(chromium, own_server):
    someone = new_visitor(chromium, own_server).open("functions")
    someone.sees_the_frame("Functions")
    someone.write("reward.py", "# before")
    someone.keeps("# before")
    type_at_end(someone.page, "")  # before the server goes: a moment after, a dialog takes mouse and keyboard
    own_server.stop(signal.SIGKILL)
    someone.page.keyboard.type(" while away")
    own_server.start()
    expect(someone.page.get_by_test_id("stApp")).to_have_attribute("data-test-connection-state", "CONNECTED")
    expect(someone.page.get_by_role("dialog")).to_have_count(0)
    type_at_end(someone.page, " after")
    someone.keeps("# before while away after")
    someone.settle()
    someone.page.reload()
    someone.settle()
    expect(someone.editor("reward.py")).to_have_text("# before while away after")
    someone.page.context.close()


def test_two_tabs_keep_both_texts_until_somebody_chooses(visitor, chromium, server):
    first, second = visitor, new_visitor(chromium, server)
    first.open("functions").write("reward.py", "# common")
    first.keeps("# common")
    second.open("functions")
    expect(second.editor("reward.py")).to_have_text("# common")
    first.write("reward.py", "# of the first")
    first.keeps("# of the first")
    second.write("reward.py", "# of the second")
    second.sees("This draft was changed in another tab.")
    expect(second.editor("reward.py")).to_have_text("# of the second")
    second.page.get_by_role("button", name=re.compile("^Take theirs")).click(delay=PRESS_MS)
    expect(second.editor("reward.py")).to_have_text("# of the first")
    second.settle()
    second.editor("reward.py").press(f"{MODIFIER}+z")
    expect(second.editor("reward.py")).to_have_text("# of the second")
    second.page.context.close()
