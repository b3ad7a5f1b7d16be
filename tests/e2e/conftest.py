"""Browser journeys: one console for the whole run, one fresh visitor a test, Debian's Chromium.

The visitors follow each other in one tab: its scripts are compiled once, which is most of what opening the console
costs; nothing that a page can keep outlives its visitor. A browser that dies takes one test along and no more.

``CHROMIUM`` names the browser, else the usual names are looked for. Without one the journeys are skipped with that
reason; with ``REQUIRE_BROWSER`` set, as in CI, a missing browser is a failure.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Error, Locator, Page, Playwright, Request, expect, sync_playwright

from rewards_lib.store import Store
from rewards_lib.store.database import FILE_NAME

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 90
STOP_SECONDS = 20
ACTION_MS = 45_000
PRESS_MS = 80
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update",
    "--js-flags=--single-threaded",  # threads that tidy up beside a page take its processor, on a machine of two
]  # fmt: skip
QUIET_MS = 250  # a rerun that the last action caused may not have begun at the first look
IS_QUIET = """([look, needed]) => {  // asked at every frame: playwright's own expectations look up to a second apart
  const app = document.querySelector("[data-testid=stApp]");
  const isQuiet = app?.dataset.testConnectionState === "CONNECTED" && app.dataset.testScriptState === "notRunning"
    && !document.querySelector("[data-stale=true]");
  if (!isQuiet || window.look !== look) window.quietSince = Infinity;
  window.look = look;
  window.quietSince = Math.min(window.quietSince, isQuiet ? performance.now() : Infinity);
  return performance.now() - window.quietSince >= needed;
}"""
WINDOW = {"width": 1400, "height": 900}
LEFT = "about:blank#left"  # where a tab stands that can be used again
MODIFIER = "Meta" if sys.platform == "darwin" else "Control"

expect.set_options(timeout=ACTION_MS)


def pytest_collection_modifyitems(items):
    """Every journey bears the mark ``browser``."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.timeout(300))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item, nextitem):
    """End the browser with the last journey: while it is open, no later test can start an event loop of its own."""
    try:
        return (yield)
    finally:
        if nextitem is None or item.path.parent not in nextitem.path.parents:
            chromium_process.close()


class ConsoleProcess:
    """A running console with a data folder of its own; can be killed and started again on the same port."""

    def __init__(self, home: Path) -> None:
        self.home = home
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen | None = None

    def start(self) -> None:
        """Start it and wait until it answers."""
        log = (self.home / "console.log").open("ab")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "streamlit", "run", "app.py", f"--server.port={self.port}"],
            cwd=ROOT, env=os.environ | {"REWARD_CONSOLE_HOME": str(self.home)}, stdout=log, stderr=log,
        )  # fmt: skip
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                with urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=1) as answer:
                    if answer.read() == b"ok":
                        return
            except OSError:
                time.sleep(0.1)
        pytest.fail("the console did not start:\n" + (self.home / "console.log").read_text())

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        """End it, politely or not; one that was ended already is left alone."""
        if self.process is None or self.process.poll() is not None:
            return
        self.process.send_signal(how)
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """The console that most journeys share."""
    running = ConsoleProcess(tmp_path_factory.mktemp("home"))
    running.start()
    yield running
    running.stop()


@pytest.fixture
def own_server(tmp_path):
    """A console for one test alone, just started; it ends with the test, passed or failed."""
    running = ConsoleProcess(tmp_path)
    try:
        running.start()
        yield running
    finally:
        running.stop()


class ChromiumProcess:
    """The browser of all journeys and its warm tab; what has died or was left in disorder begins anew."""

    def __init__(self) -> None:
        self.playwright: Playwright | None = None
        self.browser: Browser | None = None
        self.tab: Page | None = None

    def open(self) -> Browser:
        """The running browser; without one on this machine the test is skipped, or fails where one is required."""
        if self.browser is None or not self.browser.is_connected():
            names = [os.environ.get("CHROMIUM"), "/usr/bin/chromium", "chromium", "chromium-browser", "google-chrome"]
            executable = next((found for name in names if name and (found := shutil.which(name))), None)
            if executable is None:
                reason = "no Chromium found; install Debian's chromium or set CHROMIUM to a browser's path"
                pytest.fail(reason) if os.environ.get("REQUIRE_BROWSER") else pytest.skip(reason)
            self.playwright = self.playwright or sync_playwright().start()
            self.browser = self.playwright.chromium.launch(executable_path=executable, args=FLAGS)
            self.tab = None
        return self.browser

    def open_tab(self) -> Page:
        """The tab that the last visitor left, or a new one."""
        browser = self.open()
        if self.tab is None or self.tab.is_closed():
            self.tab = new_page(browser)
        return self.tab

    def close_windows(self) -> None:
        """Close all but the tab."""
        if self.browser is not None and self.browser.is_connected():
            for context in self.browser.contexts:
                if self.tab is None or context is not self.tab.context:
                    context.close()

    def close_tab(self) -> None:
        """Give up a tab and all that it keeps."""
        if self.tab is not None and self.browser is not None and self.browser.is_connected():
            self.tab.context.close()
        self.tab = None

    def close(self) -> None:
        """End the browser; the next journey would start another."""
        if self.browser is not None and self.browser.is_connected():
            self.browser.close()
        if self.playwright is not None:
            self.playwright.stop()
        self.playwright = self.browser = self.tab = None


chromium_process = ChromiumProcess()


@pytest.fixture
def chromium():
    """The browser, for those who need a window of their own; it is closed after them, and works no longer."""
    yield chromium_process.open()
    chromium_process.close_windows()


class Visitor:
    """The console in the words of somebody who uses it."""

    def __init__(self, page: Page, server: ConsoleProcess) -> None:
        self.page = page
        self.server = server
        self._looks = 0
        self.script_errors: list[str] = []
        self.foreign_requests: list[str] = []
        page.on("pageerror", self._keep_error)
        page.on("request", self._watch)

    def _keep_error(self, error: Error) -> None:
        self.script_errors.append(str(error))

    def _watch(self, request: Request) -> None:
        own = (self.server.url, self.server.url.replace("http", "ws", 1), "data:", "blob:")
        if not request.url.startswith(own):
            self.foreign_requests.append(request.url)

    def leave(self) -> None:
        """Go away and leave a tab as it was found: nothing stored, no cookie, no other window."""
        page, context = self.page, self.page.context
        page.goto("about:blank")  # first, since a page may store something when it is left
        page.remove_listener("pageerror", self._keep_error)
        page.remove_listener("request", self._watch)
        page.unroute_all()
        page.goto(f"{self.server.url}/_stcore/health")
        page.evaluate("() => { localStorage.clear(); sessionStorage.clear() }")
        context.clear_cookies()
        for other in context.pages:
            if other is not page:
                other.close()
        page.set_viewport_size(WINDOW)
        page.emulate_media(color_scheme="light", reduced_motion="reduce")
        page.mouse.move(0, 0)
        page.goto(LEFT)

    def open(self, path: str = "") -> Visitor:
        """Open an address, as from a bookmark."""
        self.page.goto(f"{self.server.url}/{path}")
        # before its first run a page is as quiet as after it
        expect(self.page.get_by_role("heading", level=1).first).to_be_visible()
        self.settle()
        return self

    def settle(self) -> None:
        """Wait until the page is connected, idle and whole; an exception box fails the test."""
        self._looks += 1
        self.page.wait_for_function(IS_QUIET, arg=[self._looks, QUIET_MS], timeout=ACTION_MS)
        expect(self.page.get_by_test_id("stException")).to_have_count(0)

    def go(self, title: str) -> None:
        """Switch page through the sidebar, pressing as long as a finger does."""
        self.page.get_by_test_id("stSidebarNav").get_by_role("link", name=title, exact=True).click(delay=PRESS_MS)
        expect(self.page.get_by_role("heading", name=title, level=1)).to_be_visible()
        self.settle()

    def press(self, name: str, *, exact: bool = False) -> None:
        """Press one of the page's own buttons and wait for what it does; "Load" must not find a table's "Download"."""
        own = self.page.locator('button:not([data-testid="stBaseButton-elementToolbar"])')
        own.and_(self.page.get_by_role("button", name=name, exact=exact)).first.click(delay=PRESS_MS)
        self.settle()

    def keyed(self, key: str) -> Locator:
        """The element with this key."""
        return self.page.locator(f".st-key-{key}")

    def editor(self, name: str) -> Locator:
        """The code editor of this name."""
        return self.page.get_by_role("textbox", name=name, exact=True)

    def write(self, name: str, text: str) -> None:
        """Replace an editor's whole text, as with the clipboard."""
        box = self.editor(name)
        box.click()
        self.page.keyboard.press(f"{MODIFIER}+a")
        self.page.keyboard.press("Delete")
        self.page.keyboard.insert_text(text)

    def keeps(self, source: str) -> None:
        """Wait until a function's draft is this text; a fixed time would be too short for a busy machine."""
        deadline = time.monotonic() + ACTION_MS / 1000
        with closing(Store(f"sqlite:///{self.server.home / FILE_NAME}")) as store:
            while all(draft.content["source"] != source for draft in store.list_drafts("function")):
                assert time.monotonic() < deadline, f"no draft became {source!r}"
                self.page.wait_for_timeout(50)

    def sees_the_frame(self, title: str) -> None:
        """Fail unless the page of this title is shown with the frame around it and nothing from another machine."""
        expect(self.page.get_by_role("heading", name=title, level=1)).to_be_visible()
        expect(self.page.get_by_test_id("stSidebarNav").get_by_role("link", name="Training metrics")).to_be_visible()
        assert self.foreign_requests == []

    def sees(self, text: str) -> None:
        """Fail unless the text is on the page."""
        expect(self.page.get_by_text(text).first).to_be_visible()


def new_page(chromium: Browser) -> Page:
    """An empty page in a browser profile of its own."""
    page = chromium.new_context(viewport=WINDOW, locale="en-US", reduced_motion="reduce").new_page()
    page.set_default_timeout(ACTION_MS)
    return page


def new_visitor(chromium: Browser, server: ConsoleProcess) -> Visitor:
    """A visitor with a browser profile of their own."""
    return Visitor(new_page(chromium), server)


@pytest.fixture
def tab():
    """The tab that the visitors use one after the other; one that was not left in order is used no more."""
    page = chromium_process.open_tab()
    yield page
    if page.is_closed() or page.url != LEFT:
        chromium_process.close_tab()


@pytest.fixture
def visitor(tab, server):
    """A fresh visitor; afterwards no script error and no request to another machine may have happened."""
    someone = Visitor(tab, server)
    yield someone
    someone.leave()
    assert someone.script_errors == []
    assert someone.foreign_requests == []
