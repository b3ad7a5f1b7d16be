"""What every store URL holds: drafts, conflicts, versions."""

from datetime import UTC, timedelta

import pytest

from rewards_lib.errors import InputError, NotFoundError, StoreError
from rewards_lib.store import DraftConflict

ONE = {"source": "def reward_fn(context, sample, completions): ...", "requirements": "", "allow_hosts": []}
TWO = ONE | {"requirements": "numpy"}
THREE = ONE | {"requirements": "sympy"}


def test_a_saved_draft_is_loaded_as_it_was(store):
    saved = store.save_draft("function", "boxed", ONE, base_revision=None)
    assert store.load_draft("function", "boxed") == saved
    assert (saved.content, saved.revision, saved.saved_at.tzinfo) == (ONE, 1, UTC)


def test_each_save_raises_the_revision(store):
    first = store.save_draft("function", "boxed", ONE, base_revision=None)
    second = store.save_draft("function", "boxed", TWO, base_revision=first.revision)
    assert second.revision == 2
    assert second.saved_at - first.saved_at == timedelta(seconds=1)


def test_saving_what_is_there_changes_nothing(store):
    saved = store.save_draft("mix", "math", {"a": 1, "b": 2}, base_revision=None)
    for base in (None, 1, 7):
        assert store.save_draft("mix", "math", {"b": 2, "a": 1}, base_revision=base) == saved


def test_a_save_over_an_unseen_text_is_refused_with_both_texts(store):
    store.save_draft("function", "boxed", ONE, base_revision=None)
    theirs = store.save_draft("function", "boxed", TWO, base_revision=1)
    with pytest.raises(DraftConflict) as caught:
        store.save_draft("function", "boxed", THREE, base_revision=1)
    assert (caught.value.mine, caught.value.theirs) == (THREE, theirs)
    assert store.load_draft("function", "boxed") == theirs


def test_a_new_draft_does_not_replace_one_of_that_name(store):
    store.save_draft("function", "boxed", ONE, base_revision=None)
    with pytest.raises(DraftConflict):
        store.save_draft("function", "boxed", TWO, base_revision=None)


def test_keeping_mine_after_a_conflict_saves_over_theirs(store):
    store.save_draft("function", "boxed", ONE, base_revision=None)
    with pytest.raises(DraftConflict) as caught:
        store.save_draft("function", "boxed", TWO, base_revision=None)
    kept = store.save_draft("function", "boxed", caught.value.mine, base_revision=caught.value.theirs.revision)
    assert kept.content == TWO


def test_a_save_after_a_deletion_elsewhere_is_a_conflict_without_another_text(store):
    store.save_draft("function", "boxed", ONE, base_revision=None)
    store.delete_draft("function", "boxed")
    with pytest.raises(DraftConflict) as caught:
        store.save_draft("function", "boxed", TWO, base_revision=1)
    assert caught.value.theirs is None
    assert store.save_draft("function", "boxed", TWO, base_revision=None).content == TWO


def test_a_tab_of_before_a_deletion_cannot_overwrite_the_new_draft(store):
    store.save_draft("function", "boxed", ONE, base_revision=None)
    store.delete_draft("function", "boxed")
    store.save_draft("function", "boxed", TWO, base_revision=None)
    with pytest.raises(DraftConflict):
        store.save_draft("function", "boxed", THREE, base_revision=1)


def test_drafts_are_listed_by_kind_and_name(store):
    for kind, name in [("mix", "b"), ("function", "b"), ("function", "a"), ("payload", "c")]:
        store.save_draft(kind, name, {}, base_revision=None)
    store.delete_draft("function", "b")
    assert [draft.name for draft in store.list_drafts("function")] == ["a"]
    assert [(draft.kind, draft.name) for draft in store.list_drafts()] == [
        ("function", "a"), ("mix", "b"), ("payload", "c"),
    ]  # fmt: skip


def test_a_renamed_draft_keeps_its_text_and_leaves_its_old_name(store):
    store.save_draft("function", "old", ONE, base_revision=None)
    renamed = store.rename_draft("function", "old", "new")
    assert (renamed.name, renamed.content) == ("new", ONE)
    assert store.list_drafts("function") == (renamed,)
    assert store.rename_draft("function", "new", "new") == renamed
    with pytest.raises(DraftConflict):
        store.save_draft("function", "old", TWO, base_revision=1)


def test_a_draft_is_not_renamed_over_another(store):
    store.save_draft("function", "one", ONE, base_revision=None)
    store.save_draft("function", "two", TWO, base_revision=None)
    with pytest.raises(StoreError, match="already a draft named two"):
        store.rename_draft("function", "one", "two")
    assert store.load_draft("function", "one").content == ONE


def test_a_missing_draft_is_told_with_the_drafts_there_are(store):
    with pytest.raises(NotFoundError, match=r"no function draft named x\. There are none yet."):
        store.load_draft("function", "x")
    for number in range(12):
        store.save_draft("function", f"f{number:02}", {}, base_revision=None)
    with pytest.raises(NotFoundError, match=r"There are: f00, f01, .*, f09, and 2 more"):
        store.delete_draft("function", "x")


def test_versions_are_numbered_from_one_by_kind_and_name(store):
    assert [store.publish("function", "boxed", text).number for text in (ONE, TWO, ONE)] == [1, 2, 3]
    assert store.publish("function", "other", ONE).label == "other@1"
    assert store.publish("mix", "boxed", ONE).number == 1


def test_a_version_keeps_content_note_and_hash(store):
    published = store.publish("function", "boxed", ONE, " first ")
    assert store.load_version("function", "boxed", 1) == published
    assert (published.content, published.note) == (ONE, "first")
    assert published.sha256 == store.save_draft("function", "boxed", ONE, base_revision=None).sha256


def test_publishing_the_newest_content_again_makes_no_version(store):
    first = store.publish("function", "boxed", ONE, "first")
    again = store.publish("function", "boxed", ONE, "again")
    assert (again, again.repeated, first.repeated, again.note) == (first, True, False, "first")
    assert store.versions("function", "boxed") == (first,)


def test_a_withdrawn_version_keeps_its_content_and_number(store):
    store.publish("function", "boxed", ONE)
    withdrawn = store.withdraw("function", "boxed", 1)
    assert withdrawn.withdrawn_at is not None
    assert store.withdraw("function", "boxed", 1) == withdrawn
    assert store.load_version("function", "boxed", 1) == withdrawn
    assert store.publish("function", "boxed", ONE).number == 2


def test_without_a_number_the_newest_served_version_is_loaded(store):
    for text in (ONE, TWO, THREE):
        store.publish("function", "boxed", text)
    store.withdraw("function", "boxed", 3)
    assert store.load_version("function", "boxed").number == 2


def test_versions_are_listed_newest_first_withdrawn_included(store):
    for text in (ONE, TWO):
        store.publish("function", "boxed", text)
    store.publish("mix", "math", {})
    store.withdraw("function", "boxed", 2)
    assert [(version.name, version.number) for version in store.versions()] == [
        ("boxed", 2), ("boxed", 1), ("math", 1),
    ]  # fmt: skip
    assert [version.number for version in store.versions("function", "boxed")] == [2, 1]


def test_a_missing_version_is_told_with_what_there_is(store):
    with pytest.raises(NotFoundError, match=r"no published function named boxed\. There are none yet."):
        store.load_version("function", "boxed")
    store.publish("function", "boxed", ONE)
    store.publish("function", "boxed", TWO)
    with pytest.raises(NotFoundError, match=r"no published function named x\. There are: boxed."):
        store.load_version("function", "x")
    with pytest.raises(NotFoundError, match=r"boxed has no version 7\. There are: 1, 2."):
        store.withdraw("function", "boxed", 7)
    store.withdraw("function", "boxed", 1)
    store.withdraw("function", "boxed", 2)
    with pytest.raises(NotFoundError, match="Every version of boxed is withdrawn"):
        store.load_version("function", "boxed")


@pytest.mark.parametrize("name", ["a", "奖励_函数-2.py", "_x", "x" * 80, "Über", "e\u0301cart"])
def test_a_name_of_any_script_is_kept(store, name):
    assert store.save_draft("function", name, {}, base_revision=None) == store.load_draft("function", name)


@pytest.mark.parametrize("name", ["", "x" * 81, "a b", "a/b", "..", ".env", "-rf", "a@1", "a\n", "\ud800", "a\0"])
def test_a_name_that_could_not_be_an_address_is_refused(store, name):
    with pytest.raises(InputError, match="not a usable name"):
        store.save_draft("function", name, {}, base_revision=None)


def test_one_name_in_two_unicode_spellings_is_one_draft(store):
    store.save_draft("function", "\u00e9cart", ONE, base_revision=None)
    assert store.load_draft("function", "e\u0301cart").content == ONE


def test_an_unknown_kind_is_refused(store):
    with pytest.raises(InputError, match="not a kind"):
        store.save_draft("picture", "x", {}, base_revision=None)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ({"x": float("nan")}, "strict JSON"),
        ({"x": {1, 2}}, "strict JSON"),
        ({"x": "y" * 8_000_000}, "limit is 8000000"),
    ],
)
def test_a_content_that_cannot_be_kept_is_refused(store, content, reason):
    with pytest.raises(InputError, match=reason):
        store.publish("function", "x", content)


@pytest.mark.parametrize(
    ("note", "reason"), [("x" * 2001, "2001 characters"), ("a\0b", "no text"), ("\udcff", "no text")]
)
def test_a_note_that_cannot_be_kept_is_refused(store, note, reason):
    with pytest.raises(InputError, match=reason):
        store.publish("function", "x", ONE, note)


def test_hostile_text_and_large_numbers_come_back_as_they_were(store):
    content = {"source": "\0 '; DROP TABLE drafts; -- \ud800 <script>", "n": 10**30, "x": 0.1, "列": [None, True]}
    store.save_draft("payload", "x", content, base_revision=None)
    assert store.load_draft("payload", "x").content == content
