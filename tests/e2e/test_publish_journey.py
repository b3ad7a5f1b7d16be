"""Publish a mix, start the service, call it, watch the request come in, load it, export it, withdraw it, stop it."""

import json
import os
import socket
import urllib.error
import urllib.request

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import ConsoleProcess, Visitor


@pytest.fixture(scope="module")
def console(tmp_path_factory):
    """A console whose service has a port of its own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    os.environ["REWARD_CONSOLE_SERVICE_PORT"] = str(port)
    running = ConsoleProcess(tmp_path_factory.mktemp("publish_home"))
    try:
        running.start()
    finally:
        del os.environ["REWARD_CONSOLE_SERVICE_PORT"]
    running.service = f"http://127.0.0.1:{port}"
    yield running
    running.stop()


@pytest.fixture
def visitor(tab, console):
    someone = Visitor(tab, console)
    yield someone
    someone.leave()
    assert someone.script_errors == []
    assert someone.foreign_requests == []


def ask(console, reference, body):
    """Status and decoded answer of a request as a trainer sends it."""
    request = urllib.request.Request(
        f"{console.service}/rewards/{reference}", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


BODY = {"sample": {"messages": [], "extra": {"answer": "0.5"}}, "completions": ["so \\boxed{0.5}", "no"]}


def test_from_a_draft_to_a_served_version_and_back(visitor, console):
    visitor.open("compose")
    visitor.go("Publish")
    visitor.press("Publish draft as v1")
    visitor.page.get_by_label("Note: what changed").fill("first")
    visitor.keyed("publish_page_now").get_by_role("button").click()
    visitor.sees("Publish draft as v2")
    expect(visitor.keyed("publish_draft").get_by_role("button")).to_be_disabled()  # nothing differs

    visitor.keyed("service_start").get_by_role("button").click()
    expect(visitor.keyed("service_card")).to_contain_text("p50 / p95", timeout=60_000)
    expect(visitor.keyed("service_card")).to_contain_text(f"curl -s {console.service}/rewards/math")
    status, answer = ask(console, "math", BODY)
    assert (status, answer["status"], answer["rewards"]) == (200, "success", [0.35, 0.0])

    visitor.page.get_by_role("tab", name="Test call").click()
    visitor.keyed("test_call_send").get_by_role("button").click()
    visitor.sees("math@1")
    visitor.page.get_by_role("tab", name="Load test").click()
    visitor.page.get_by_label("Prompts a step").fill("4")
    visitor.page.keyboard.press("Tab")
    visitor.settle()
    visitor.keyed("load_start").get_by_role("button").click()
    expect(visitor.page.get_by_text("A step of 4").first).to_be_visible(timeout=60_000)

    visitor.keyed("version_menu_mix_math").get_by_role("button").click()
    visitor.page.get_by_text("Withdraw v1").click()
    visitor.keyed("withdraw_now").get_by_role("button").click()
    visitor.sees("withdrawn")
    assert ask(console, "math", BODY)[0] == 410

    visitor.keyed("service_stop").get_by_role("button").click()
    visitor.keyed("service_stop_now").get_by_role("button").click()
    expect(visitor.keyed("service_card")).to_contain_text("not running", timeout=60_000)


def test_a_version_is_exported_with_its_readme(visitor):
    visitor.open("compose")
    visitor.go("Publish")
    if visitor.keyed("publish_draft").get_by_role("button").is_enabled():
        visitor.keyed("publish_draft").get_by_role("button").click()
        visitor.keyed("publish_page_now").get_by_role("button").click()
        visitor.settle()
    visitor.keyed("export_menu").get_by_role("button").click()
    visitor.page.get_by_text("verl", exact=True).last.click()
    expect(visitor.page.get_by_role("dialog")).to_contain_text("reward.custom_reward_function.path", timeout=60_000)
    with visitor.page.expect_download() as download:
        visitor.keyed("export_download").get_by_role("button").click()
    assert download.value.suggested_filename.endswith("_verl.zip")
