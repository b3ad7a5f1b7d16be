"""Encodings are told apart by their bytes, and what is no table is refused by what it looks like."""

import os
from pathlib import Path

import pytest

from rewards_lib.errors import InputError
from rewards_lib.training_metrics import read_export, report_exports
from rewards_lib.training_metrics.followed_files import followed_path
from rewards_lib.training_metrics.sniffing import CHUNK_BYTES, HEAD_BYTES, sniff_text

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


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "gb18030", "utf-16", "utf-16-be", "utf-32"])
@pytest.mark.parametrize("missing", [1, 2, 3])
def test_a_text_that_ends_within_a_character_is_read_without_it_and_says_so(codec, missing, tmp_path):
    """As a log has it that is being written, and not as one of another encoding."""
    whole = "step,奖励,说明\n1,0.5,好\n2,0.25,很好\n"
    last = "步"
    data = (whole + "3,0.125," + last).encode(codec)
    size = len(last.encode(codec.removesuffix("-sig") + "-le" * (codec in ("utf-16", "utf-32"))))
    if missing >= size:
        return
    path = tmp_path / "run.csv"
    path.write_bytes(data[:-missing])
    for given in (data[:-missing], path):
        export = read_export(given, "run.csv")
        assert export.runs[0].series("奖励").to_json() == [[1, 0.5], [2, 0.25], [3, 0.125]]
        told = (
            f"The file ends within a character, as one that is being written; its {size - missing} bytes were left out."
        )
        assert any(str(note).startswith(told) for note in export.notes)


def test_a_nul_far_into_the_file_is_found():
    data = b"step,a\n" + b"1,2\n" * (CHUNK_BYTES // 4) + b"\0\n"
    with pytest.raises(InputError, match="NUL"):
        sniff_text(data, "run.csv")


def test_a_file_on_disk_reads_like_its_bytes(tmp_path):
    path = tmp_path / "run.csv"
    path.write_bytes(TEXT.encode("gbk"))
    assert report_exports([read_export(path)]) == report_exports([read_export(TEXT.encode("gbk"), "run.csv")])


LOGS = {
    "table": TEXT,
    "rows of a table that is longer than the head": "step,a\n" + "".join(f"{row},0.5\n" for row in range(10_000)),
    "JSON lines": '{"step": 1, "loss": 0.5}\n{"step": 2, "loss": 0.25}\n',
    "console log": "step:1 - actor/loss:0.5\nstep:2 - actor/loss:0.25\n",
}


def told_with_nuls(data: bytes | Path, count: int) -> dict:
    """What is read, without the note on so many NULs, which must be there."""
    report = report_exports([read_export(data, "run.log")])
    told = f"The file ends with {count} NUL bytes, as after a crash of the writer; they were left out."
    assert report["notes"][0] == told
    return report | {"notes": report["notes"][1:]}


@pytest.mark.parametrize("count", [1, 7, 2 * HEAD_BYTES])
@pytest.mark.parametrize("kind", LOGS)
def test_nuls_that_run_to_the_end_are_left_out_and_told(kind, count, tmp_path):
    whole = report_exports([read_export(LOGS[kind].encode(), "run.log")])
    data = LOGS[kind].encode() + bytes(count)
    (tmp_path / "run.log").write_bytes(data)
    assert told_with_nuls(data, count) == whole
    assert told_with_nuls(followed_path(str(tmp_path / "run.log"), [tmp_path]), count) == whole


@pytest.mark.parametrize("codec", ["utf-8-sig", "gb18030", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_nuls_at_the_end_are_no_part_of_the_last_character_in_any_encoding(codec):
    data = TEXT.encode(codec)
    assert told_with_nuls(data + bytes(400), 400) == report_exports([read_export(data, "run.log")])


def test_a_row_that_is_cut_before_nuls_is_left_out_like_any_other():
    export = read_export(b"step,a,b\n1,2,3\n4,5" + bytes(100), "run.csv")
    assert [str(note)[:21] for note in export.notes] == ["The file ends with 10", "The last row was left"]


@pytest.mark.parametrize("place", [20, HEAD_BYTES + 20])
def test_a_nul_before_others_at_the_end_is_refused_as_ever(place):
    text = b"step,a\n" + b"1,2\n" * HEAD_BYTES
    with pytest.raises(InputError, match="binary data"):
        read_export(text[:place] + b"\0" + text[place:] + bytes(5000), "run.csv")


def test_a_file_that_holds_nothing_but_nuls_is_empty():
    with pytest.raises(InputError, match="empty"):
        read_export(bytes(3 * HEAD_BYTES), "run.csv")


def test_a_pipe_or_a_device_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "run.csv")
    for path in (tmp_path / "run.csv", Path(os.devnull)):
        if path.exists() and not path.is_file():
            with pytest.raises(InputError, match="a pipe, a device or a folder"):
                read_export(path)
