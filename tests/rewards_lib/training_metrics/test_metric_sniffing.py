"""Encodings are told apart by their bytes, and what is no table is refused by what it looks like."""

import pytest

from rewards_lib.errors import InputError
from rewards_lib.training_metrics import read_export, report_exports
from rewards_lib.training_metrics.sniffing import CHUNK_BYTES, sniff_text

TEXT = "步数,奖励\n1,0.25\n2,0.5\n"


@pytest.mark.parametrize(
    ("codec", "label"),
    [
        ("utf-8", "UTF-8"), ("utf-8-sig", "UTF-8"), ("gbk", "GB18030"), ("gb18030", "GB18030"),
        ("utf-16", "UTF-16"), ("utf-16-le", "UTF-16"), ("utf-16-be", "UTF-16"),
    ],
)  # fmt: skip
def test_the_same_table_is_read_from_every_encoding(codec, label):
    export = read_export(TEXT.encode(codec), "run.csv")
    assert (export.x, export.names, export.reading.values["encoding"]) == ("步数", ("奖励",), label)
    assert report_exports([export])["series"] == {"奖励": [[1, 0.25], [2, 0.5]]}


def test_an_encoding_other_than_utf8_is_told():
    assert [str(note) for note in read_export(TEXT.encode("gbk"), "run.csv").notes] == ["Read as GB18030."]
    assert not read_export(TEXT.encode(), "run.csv").notes


@pytest.mark.parametrize(
    ("data", "look"),
    [
        (b"", "empty"), (b" \r\n\n", "empty"), (b"\xef\xbb\xbf", "empty"),
        (b"<!DOCTYPE html><html><body>Log in</body></html>", "HTML"), (b"\n <html>", "HTML"),
        (b"PK\x03\x04 xl/workbook.xml", "XLSX"), (b"PAR1....", "Parquet"),
        (b"step,a\n1,\x00\x01\x02\n", "binary"), (b"\x89PNG\r\n", "picture"),
    ],
)  # fmt: skip
def test_what_is_no_table_is_refused_by_what_it_looks_like(data, look):
    with pytest.raises(InputError, match=look) as refused:
        read_export(data, "run.csv")
    assert refused.value.where == "run.csv"
    assert refused.value.exit_status == 2


def test_bytes_in_no_known_encoding_are_refused_with_the_offset_of_the_first():
    with pytest.raises(InputError, match="byte 6"):
        read_export(b"step,d\xe9,b\n1,2,3\n", "run.csv")


def test_a_character_across_two_chunks_is_still_utf8():
    padding = CHUNK_BYTES - len("step,a\n") - 1
    data = ("step,a\n" + "x" * padding + "步\n").encode()
    assert sniff_text(data, "run.csv").encoding == "UTF-8"


def test_a_nul_far_into_the_file_is_found():
    data = b"step,a\n" + b"1,2\n" * (CHUNK_BYTES // 4) + b"\0\n"
    with pytest.raises(InputError, match="NUL"):
        sniff_text(data, "run.csv")


def test_a_file_on_disk_reads_like_its_bytes(tmp_path):
    path = tmp_path / "run.csv"
    path.write_bytes(TEXT.encode("gbk"))
    assert report_exports([read_export(path)]) == report_exports([read_export(TEXT.encode("gbk"), "run.csv")])
