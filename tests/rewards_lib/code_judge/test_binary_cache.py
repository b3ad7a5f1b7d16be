"""Compiled programs are found again by their content, and only by it."""

from __future__ import annotations

import os
import threading

from hypothesis import given
from hypothesis import strategies as st

from rewards_lib.code_judge import anonymous_files
from rewards_lib.code_judge.binary_cache import BinaryCache


def keep(cache: BinaryCache, key: str, content: bytes) -> None:
    descriptor = anonymous_files.shared(content)
    with anonymous_files.closing(descriptor):
        cache.keep(key, descriptor)


def content(cache: BinaryCache, key: str) -> bytes | None:
    descriptor = cache.find(key)
    if descriptor is None:
        return None
    with anonymous_files.closing(descriptor):
        return anonymous_files.read_head(descriptor)


def test_what_was_kept_is_found_also_by_another_process_s_cache(tmp_path):
    keep(BinaryCache(tmp_path), "ab" * 32, b"program")
    cache = BinaryCache(tmp_path)
    assert content(cache, "ab" * 32) == b"program"
    assert content(cache, "cd" * 32) is None
    assert (cache.hits, cache.misses) == (1, 1)


def test_the_least_recently_used_go_when_it_is_full(tmp_path):
    cache = BinaryCache(tmp_path, most_bytes=100)
    for number, name in enumerate(("aa", "bb", "cc")):
        keep(cache, name * 32, b"x" * 30)
        os.utime(tmp_path / name / (name * 32), (number, number))
    os.utime(tmp_path / "aa" / ("aa" * 32), (9, 9))
    keep(cache, "dd" * 32, b"x" * 30)
    assert [name for name in ("aa", "bb", "cc", "dd") if content(cache, name * 32)] == ["aa", "cc", "dd"]


def test_a_folder_that_cannot_be_written_costs_the_cache_alone(tmp_path):
    place = tmp_path / "file"
    place.write_text("in the way")
    keep(BinaryCache(place), "ab" * 32, b"program")
    assert content(BinaryCache(place), "ab" * 32) is None


def test_who_comes_second_waits_for_who_compiles(tmp_path):
    cache, order = BinaryCache(tmp_path), []
    entered = threading.Event()

    def second() -> None:
        entered.wait()
        with cache.making("k"):
            order.append("second")

    thread = threading.Thread(target=second)
    thread.start()
    with cache.making("k"):
        entered.set()
        order.append("first")
    thread.join()
    assert order == ["first", "second"]


@given(st.lists(st.text(max_size=5), max_size=4), st.lists(st.text(max_size=5), max_size=4))
def test_keys_differ_when_any_part_does(one, other):
    assert (BinaryCache.key(*one) == BinaryCache.key(*other)) == (one == other)
