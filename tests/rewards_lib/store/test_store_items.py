"""Records of jobs, cases and data sets: the newest counts, kinds stay apart."""


def test_a_record_takes_the_place_of_the_earlier_one(store):
    store.put_item("job", "a1", {"state": "running"})
    store.put_item("job", "a1", {"state": "done"})
    assert store.find_item("job", "a1").content == {"state": "done"}
    assert len(store.list_items("job")) == 1


def test_kinds_do_not_see_each_other(store):
    store.put_item("job", "a1", {"n": 1})
    assert store.find_item("case", "a1") is None
    assert store.list_items("case") == ()


def test_the_newest_record_comes_first_and_a_removed_one_is_gone(store):
    for name in ("first", "second", "third"):
        store.put_item("case", name, {"name": name})
    store.remove_item("case", "second")
    store.remove_item("case", "never there")
    assert {item.id for item in store.list_items("case")} == {"first", "third"}
