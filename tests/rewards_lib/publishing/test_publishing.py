"""Versions: what is frozen, what differs, what comes back."""

from datetime import UTC, datetime

import pytest

from rewards_lib.errors import InputError, NotFoundError, StoreError
from rewards_lib.executor import Executor
from rewards_lib.function_sources import resolver
from rewards_lib.interop.exporting import exported_files
from rewards_lib.interop.targets import TARGETS
from rewards_lib.mix import Rule, mix_from_json, mix_version
from rewards_lib.publishing import (
    changes_between,
    draft_content,
    find_published,
    open_version,
    publish_function,
    publish_mix,
    restore,
)
from rewards_lib.store import Store, WithdrawnError
from rewards_lib.store.secrets import SecretStore

ONE = "from rl_types import RewardFunctionResult\ndef reward_fn(context, sample, completions):\n" + (
    "    return RewardFunctionResult([{value}] * len(completions))\n"
)
MIX = {
    "name": "two",
    "rules": [
        {"name": "acc", "preset": "exact_match", "weight": 0.7},
        {"name": "own", "function": "own", "weight": 0.3, "allow_hosts": ["127.0.0.1:8080"]},
    ],
}


def function(value):
    return {"source": ONE.format(value=value), "requirements": "", "allow_hosts": []}


@pytest.fixture
def store(tmp_path):
    opened = Store(f"sqlite:///{tmp_path}/store.sqlite3")
    opened.save_draft("function", "own", function(0.25), base_revision=None)
    yield opened
    opened.close()


def publish(store, note=""):
    return publish_mix(store, "two", mix_from_json(MIX), resolver(store=lambda: store), note=note)


def test_a_published_mix_keeps_its_function_when_the_draft_goes_on(store):
    version = publish(store)
    before = open_version(version)
    store.save_draft("function", "own", function(0.75), base_revision=1)
    after = open_version(store.load_version("mix", "two", 1))
    assert after.mix_version == before.mix_version
    assert after.resolve(after.mix.rules[1]).source.source == ONE.format(value=0.25)


def test_a_frozen_mix_has_the_version_of_the_mix_it_was_made_of(store):
    mix, resolve = mix_from_json(MIX), resolver(store=lambda: store)
    assert open_version(publish(store)).mix_version == mix_version(mix, {"own": resolve(mix.rules[1]).sha256})


def test_publishing_the_same_again_makes_no_second_version(store):
    assert publish(store).number == 1
    assert publish(store, "again").repeated


def test_one_name_is_not_a_mix_and_a_function(store):
    publish(store)
    with pytest.raises(StoreError, match="belongs to a published mix"):
        publish_function(store, "two", function(1.0))


def test_a_function_that_cannot_run_is_not_published(store):
    with pytest.raises(InputError, match="line 1"):
        publish_function(store, "bad", {"source": "import subprocess\n", "requirements": "", "allow_hosts": []})
    store.save_draft("function", "own", function(0.25) | {"source": "import socket"}, base_revision=1)
    with pytest.raises(InputError, match="own: line 1"):
        publish(store)


def test_the_bare_name_follows_the_newest_version_that_is_not_withdrawn(store):
    publish_function(store, "f", function(0.1))
    publish_function(store, "f", function(0.2))
    assert find_published(store, "f").number == 2
    store.withdraw("function", "f", 2)
    assert find_published(store, "f").number == 1
    with pytest.raises(WithdrawnError):
        find_published(store, "f@2")
    store.withdraw("function", "f", 1)
    with pytest.raises(WithdrawnError):
        find_published(store, "f")


def test_what_is_not_there_is_told_with_the_nearest_names(store):
    publish(store)
    with pytest.raises(NotFoundError, match="nearest names are: two"):
        find_published(store, "tow")
    with pytest.raises(NotFoundError, match="There are: 1"):
        find_published(store, "two@7")
    with pytest.raises(NotFoundError):
        find_published(store, "../etc/passwd")


@pytest.mark.parametrize(
    "reference", ["math@", "math@x", "math@0", "math@-1", "math@1.0", "math@²", "math@" + "1" * 30]
)
def test_a_version_that_is_no_number_is_refused_by_servings_and_by_rules_alike(store, reference):
    with pytest.raises(InputError, match="is not a number"):
        find_published(store, reference)
    with pytest.raises(InputError, match="is not a number"):
        resolver(store=lambda: store)(Rule(name="rule", function=reference))


def test_a_restored_mix_earns_what_its_version_earns_and_overwrites_no_function(store):
    version = publish(store)
    store.save_draft("function", "own", function(0.75), base_revision=1)
    draft = restore(store, version).draft
    named = draft.content["rules"][1]["function"]
    assert named == "own_2"
    assert store.load_draft("function", "own").content == function(0.75)
    again = publish_mix(store, "again", mix_from_json(draft.content), resolver(store=lambda: store))
    assert open_version(again).mix_version == open_version(version).mix_version


def test_a_draft_that_was_never_published_is_kept_when_a_version_is_restored_over_it(store):
    first = publish_function(store, "f", function(0.1))
    store.save_draft("function", "f", function(0.9), base_revision=None)
    restored = restore(store, first)
    assert (restored.kept, restored.draft.content) == ("f_2", function(0.1))
    assert store.load_draft("function", "f_2").content == function(0.9)
    assert restore(store, first).kept is None


def test_a_published_draft_is_not_kept_twice(store):
    first = publish(store)
    store.save_draft("mix", "two", draft_content(store, first.content), base_revision=None)
    shorter = mix_from_json({**MIX, "rules": MIX["rules"][:1]})
    second = publish_mix(store, "two", shorter, resolver(store=lambda: store))
    assert restore(store, second).kept is None


def test_restoring_twice_makes_one_draft(store):
    version = publish(store)
    store.save_draft("function", "own", function(0.75), base_revision=1)
    assert draft_content(store, version.content) == draft_content(store, version.content)


def test_changes_name_rules_weights_parameters_and_code(store):
    old = publish(store).content
    store.save_draft("function", "own", function(0.75), base_revision=1)
    rules = [
        {"name": "own", "function": "own", "weight": 0.4, "allow_hosts": ["127.0.0.1:8080"]},
        {"name": "acc", "preset": "exact_match", "weight": 0.7, "params": {"match": 2.0}},
        {"name": "more", "preset": "contains"},
    ]
    new = publish_mix(store, "two", mix_from_json(MIX | {"rules": rules}), resolver(store=lambda: store)).content
    changes = {change.path: (change.kind, change.old, change.new) for change in changes_between(old, new)}
    assert changes["rules.own.weight"] == ("changed", 0.3, 0.4)
    assert changes["rules.acc.params"] == ("added", None, {"match": 2.0})
    assert changes["rules.more"][0] == "added"
    [source] = [change for change in changes_between(old, new) if change.path == "functions.own.source"]
    assert [line for line in source.diff if line[0] in "+-"] == [
        "-    return RewardFunctionResult([0.25] * len(completions))",
        "+    return RewardFunctionResult([0.75] * len(completions))",
    ]


def test_moving_a_rule_is_told_once(store):
    old = publish(store).content
    new = old | {"rules": old["rules"][::-1]}
    assert [(change.path, change.new) for change in changes_between(old, new)] == [("rules", ["own", "acc"])]


def test_equal_contents_have_no_changes(store):
    content = publish(store).content
    assert changes_between(content, content | {"rules": [dict(rule) for rule in content["rules"]]}) == ()


def test_a_version_names_the_secrets_of_a_function_and_holds_no_value(store, tmp_path, monkeypatch):
    monkeypatch.setenv("REWARD_CONSOLE_HOME", str(tmp_path))
    SecretStore().keep("MY_TOKEN", "very-secret-value")
    store.save_draft("function", "own", function(0.25) | {"secrets": ["MY_TOKEN"]}, base_revision=1)
    version = publish(store)
    assert version.content["functions"]["own"]["secrets"] == ["MY_TOKEN"]
    assert "very-secret-value" not in str(version.content)
    source = open_version(version).resolve(open_version(version).mix.rules[1]).source
    assert dict(source.secrets) == {"MY_TOKEN": "very-secret-value"}
    with Executor() as executor:
        files = exported_files(open_version(version), TARGETS["verl"], executor=executor)
    assert "very-secret-value" not in "".join(files.values())
    assert "MY_TOKEN" in files["README.md"]


def test_the_newest_version_is_the_one_with_the_highest_number_whatever_the_clock_says(tmp_path):
    days = iter([9, 8, 7, 6])
    store = Store(f"sqlite:///{tmp_path}/store.sqlite3", now=lambda: datetime(2026, 1, next(days), tzinfo=UTC))
    publish_function(store, "f", function(0.1))
    publish_function(store, "f", function(0.2))
    assert find_published(store, "f").number == 2
    store.close()
