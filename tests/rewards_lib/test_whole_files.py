"""A file written beside and put in place: whole or not at all."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from rewards_lib.whole_files import write_whole


def test_the_old_file_stands_until_the_new_one_is_complete(tmp_path: Path):
    path = tmp_path / "kept.json"
    path.write_bytes(b"old")
    with write_whole(path) as file:
        file.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_block_that_fails_leaves_the_old_file_and_nothing_beside_it(tmp_path: Path):
    path = tmp_path / "kept.json"
    path.write_bytes(b"old")

    def write_half() -> None:
        with write_whole(path) as file:
            file.write(b"half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_half()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_of_many_writers_at_once_the_file_is_always_one_of_theirs_whole(tmp_path: Path):
    path = tmp_path / "kept.json"
    contents = [bytes([letter]) * 50_000 for letter in b"abcd"]
    path.write_bytes(contents[0])
    start = threading.Barrier(len(contents) + 1)

    def write(content: bytes) -> None:
        start.wait()
        for _ in range(10):
            with write_whole(path) as file:
                for begin in range(0, len(content), 10_000):
                    file.write(content[begin : begin + 10_000])

    writers = [threading.Thread(target=write, args=(content,)) for content in contents]
    for writer in writers:
        writer.start()
    start.wait()
    while any(writer.is_alive() for writer in writers):
        assert path.read_bytes() in contents
    assert path.read_bytes() in contents
    assert list(tmp_path.iterdir()) == [path]


def test_without_replacing_the_first_file_stays(tmp_path: Path):
    path = tmp_path / "key"
    for content in (b"first", b"second"):
        with write_whole(path, mode=0o600, replaces=False) as file:
            file.write(content)
    assert path.read_bytes() == b"first"
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [path]
