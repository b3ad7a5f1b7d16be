"""Uploads: kept once, listed with their size, removed for good."""

import pytest

from rewards_lib.errors import StoreError
from rewards_lib.rollouts.uploads import keep_upload, list_uploads, remove_upload


def test_an_upload_is_kept_once_and_listed_with_its_size(tmp_path):
    path = keep_upload(tmp_path / "uploads", "a.jsonl", b"{}\n")
    assert keep_upload(tmp_path / "uploads", "a.jsonl", b"{}\n") == path
    [found] = list_uploads(tmp_path / "uploads")
    assert (found.paths, found.size_bytes) == ((path,), 3)


def test_one_content_under_two_names_is_one_upload_and_goes_at_once(tmp_path):
    for name in ("a.jsonl", "b.jsonl"):
        keep_upload(tmp_path, name, b"same")
    keep_upload(tmp_path, "c.jsonl", b"other")
    kept = {tuple(path.name for path in one.paths): one for one in list_uploads(tmp_path)}
    assert kept[("a.jsonl", "b.jsonl")].size_bytes == 8
    remove_upload(tmp_path, kept[("a.jsonl", "b.jsonl")].digest)
    assert [path.name for one in list_uploads(tmp_path) for path in one.paths] == ["c.jsonl"]


@pytest.mark.parametrize("name", ["../../x.jsonl", "/etc/x.jsonl", "..", ".", ".hidden", "x" * 300, ""])
def test_no_name_leads_out_of_the_folder_or_hides_the_file(tmp_path, name):
    path = keep_upload(tmp_path / "uploads", name, b"1")
    assert path.parent.parent == tmp_path / "uploads"
    assert list_uploads(tmp_path / "uploads")[0].paths == (path,)


@pytest.mark.parametrize("digest", ["..", "../jobs", "", "0" * 15, "260101-000000-abcd"])
def test_removing_looks_at_nothing_but_uploads(tmp_path, digest):
    (tmp_path / "jobs").mkdir()
    (tmp_path / "uploads").mkdir()
    remove_upload(tmp_path / "uploads", digest)
    assert (tmp_path / "jobs").is_dir()
    assert (tmp_path / "uploads").is_dir()


def test_what_a_killed_writer_left_is_listed_and_can_be_removed(tmp_path):
    path = keep_upload(tmp_path, "a.jsonl", b"12345")
    path.rename(path.with_name(".0123.new"))
    [left] = list_uploads(tmp_path)
    assert (left.paths, left.size_bytes) == ((), 5)
    remove_upload(tmp_path, left.digest)
    assert list_uploads(tmp_path) == []


def test_a_folder_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be kept"):
        keep_upload(tmp_path / "file", "a.jsonl", b"1")
