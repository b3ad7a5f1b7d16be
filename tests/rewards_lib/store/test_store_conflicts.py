"""Two tabs and one draft: whatever they do, in whatever order, no text is lost unseen."""

from hypothesis import given, settings
from hypothesis import strategies as st

from rewards_lib.errors import StoreError
from rewards_lib.store import DraftConflict, Store

ACTIONS = st.tuples(st.sampled_from(["save", "look", "delete", "keep mine"]), st.integers(0, 1), st.integers(0, 3))


def try_to_save(store, content, base):
    try:
        return store.save_draft("function", "f", content, base_revision=base), None
    except DraftConflict as conflict:
        return None, conflict


@settings(deadline=None, max_examples=60)
@given(st.lists(ACTIONS, max_size=25))
def test_a_save_replaces_only_what_its_tab_has_seen(actions):
    store = Store("sqlite://")
    stored, seen, revisions = None, [None, None], [None, None]  # what stands there; what each tab has last seen
    for action, tab, text in actions:
        if action == "look":
            drafts = store.list_drafts("function")
            seen[tab], revisions[tab] = (drafts[0].content, drafts[0].revision) if drafts else (None, None)
        elif action == "delete" and stored is not None:
            store.delete_draft("function", "f")
            stored = None
        elif action in {"save", "keep mine"}:
            content = {"text": text}
            draft, conflict = try_to_save(store, content, revisions[tab])
            if conflict is None:
                assert stored in (seen[tab], content)
            else:
                assert conflict.mine == content
                assert (conflict.theirs.content if conflict.theirs else None) == stored
                if action == "save":
                    continue
                base = conflict.theirs.revision if conflict.theirs else None
                draft = store.save_draft("function", "f", content, base_revision=base)
            stored, seen[tab], revisions[tab] = content, content, draft.revision
        assert [draft.content for draft in store.list_drafts()] == ([] if stored is None else [stored])
    store.close()


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), max_size=12))
def test_renaming_never_loses_a_text(moves):
    store = Store("sqlite://")
    for name in "ab":
        store.save_draft("mix", name, {"text": name}, base_revision=None)
    for old, new in moves:
        try:
            store.rename_draft("mix", old, new)
        except StoreError:
            continue
    assert sorted(draft.content["text"] for draft in store.list_drafts()) == ["a", "b"]
    store.close()
