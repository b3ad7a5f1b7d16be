"""Every preset's worked example, sent through the Test page, earns in the browser what the catalogue says."""

import json
import re

import pytest
from playwright.sync_api import expect

from rewards_lib.presets import find_preset, preset_names
from rewards_lib.store import Store
from tests.e2e.conftest import MODIFIER

WORKED = [name for name in preset_names() if find_preset(name).runs_on == "worker"]  # the others need their service


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_every_presets_example_earns_the_documented_rewards_through_the_page(visitor):
    store = Store(f"sqlite:///{visitor.server.home / 'reward-console.sqlite3'}")
    for name in WORKED:
        rule = {"name": name, "preset": name, "weight": 1.0, "params": find_preset(name).examples[0].params}
        store.save_draft("mix", f"example_{name}", {"name": name, "rules": [rule]}, base_revision=None)
    try:
        visitor.open("test")
        earned = {name: rewards_on_the_page(visitor, name) for name in WORKED}
    finally:  # the newest mix is what the next visitor of this console finds chosen
        for name in WORKED:
            store.delete_draft("mix", f"example_{name}")
        store.close()
    assert earned == {name: pytest.approx(list(find_preset(name).examples[0].rewards)) for name in WORKED}


def rewards_on_the_page(visitor, name):
    """Send the preset's example with the mix of that preset alone, and read the answer's JSON."""
    example = find_preset(name).examples[0].to_json()
    box = visitor.page.get_by_role("combobox", name="Score with")
    box.click()
    box.fill(f"example_{name}")
    visitor.page.get_by_role("option", name=f"mix example_{name} · draft", exact=True).click()
    visitor.settle()
    request = {"context": {"of": name}, "sample": example["sample"], "completions": example["completions"]}
    visitor.write("Request", json.dumps(request))
    visitor.page.keyboard.press(f"{MODIFIER}+Enter")
    visitor.settle()
    answer = visitor.keyed("answer_json")
    expect(visitor.keyed("answer_of")).to_contain_text(f"example_{name}")
    expect(answer).to_contain_text(re.compile(r'"status": "\w+"'))
    visitor.settle()
    return json.loads(answer.inner_text())["rewards"]
