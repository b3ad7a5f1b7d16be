"""Rows are parsed in parts on several cores: the same table wherever it is cut, odd rows and quotation marks too."""

import io

import pytest
from hypothesis import assume, given

from rewards_lib.errors import InputError
from rewards_lib.training_metrics import plain_rows, read_export, row_parts
from rewards_lib.training_metrics.sniffing import TextSource
from tests.rewards_lib.training_metrics.test_metric_plain_rows import tables, told


@pytest.fixture
def short_parts(monkeypatch):
    """Parts of a row or two, so that a small table has many."""
    cut_short(monkeypatch)
    monkeypatch.setattr(plain_rows, "is_quicker", lambda: False)


def cut_short(monkeypatch):
    for name in ("LEAST_PART_ROWS", "MOST_PART_CELLS", "LEAST_PARTS", "LEAST_STRETCH_ROWS", "LEAST_STRETCH_BYTES"):
        monkeypatch.setattr(row_parts, name, 1)
    monkeypatch.setattr(row_parts.os, "cpu_count", lambda: 3)


@given(tables())
def test_a_table_in_many_parts_is_the_table_in_one(text):
    """Of two faults either may be told; a column that mixes decimal commas and points is looked at below."""
    assume("1,5" not in text)
    with pytest.MonkeyPatch.context() as patch:
        whole = told(text, False, patch)
        cut_short(patch)
        parted = told(text, False, patch)
    assert parted == whole or (isinstance(parted, str) and isinstance(whole, str))


def parts_of(text: bytes, most: int = 4) -> tuple[bool, dict[int, list[int]]]:
    """Whether the places were right, and the first column of each part by its place."""
    found = {}
    source = TextSource("run.csv", text, "UTF-8")
    stretches = row_parts.divide_rows(source, 0, len(text), ",", most=most)
    right = row_parts.read_parts(
        source, stretches, {"names": ["a", "b"], "header": None, "sep": ","},
        lambda place, part: found.update({place: part["a"].tolist()}),
    )  # fmt: skip
    return right, found


def test_every_part_is_put_where_its_rows_stand(short_parts):
    right, found = parts_of(b"".join(b"%d,1.5\n" % row for row in range(10, 60)))
    assert right
    assert found == {row - 10: [row] for row in range(10, 60)}


def test_stretches_of_unequal_rows_are_read_in_equally_many_parts(monkeypatch):
    """A part of a few rows that are left over costs as much time for its columns as a whole one."""
    monkeypatch.setattr(row_parts, "LEAST_STRETCH_BYTES", 1)
    monkeypatch.setattr(row_parts.os, "cpu_count", lambda: 2)
    right, found = parts_of(b"7,1.50000\n" * 7000 + b"7,1.5\n" * 7000)
    assert right
    assert len(found) == 2 * row_parts.LEAST_PARTS


def test_a_first_row_that_is_longer_than_the_others_does_not_keep_a_text_on_one_core(monkeypatch):
    monkeypatch.setattr(row_parts, "LEAST_STRETCH_BYTES", 1)
    monkeypatch.setattr(row_parts.os, "cpu_count", lambda: 2)
    text = b"7,1." + b"5" * 200_000 + b"\n" + b"7,1.5\n" * 2 * row_parts.LEAST_STRETCH_ROWS
    assert len(row_parts.divide_rows(TextSource("run.csv", text, "UTF-8"), 0, len(text), ",")) == 2


def test_blank_lines_are_told_by_reading_in_several_stretches_and_do_no_harm_in_one(short_parts):
    text = b"1,2\n" * 3 + b"\n \n" + b"4,5\n" * 20
    assert not parts_of(text)[0]
    right, found = parts_of(text, most=1)
    assert right
    assert [row for place in sorted(found) for row in found[place]] == [1] * 3 + [4] * 20


@pytest.mark.parametrize("place", [0, 5, 39, 40])
def test_a_table_with_blank_lines_is_read_whole(short_parts, place):
    rows = [f"{row},{row % 3 or 'x'}" for row in range(40)]
    rows.insert(place, "\n" * 200)
    text = "step,loss\n" + "\n".join(rows)
    series = read_export(text.encode(), "run.csv").runs[0].series("loss")
    assert series.steps.tolist() == [row for row in range(40) if row % 3]


@pytest.mark.parametrize("line", [2, 7, 8])
def test_a_row_that_is_too_long_is_refused_wherever_a_part_begins(short_parts, line):
    rows = ["step,loss", *[f"{row},0.5" for row in range(10)]]
    rows[line - 1] += ",1,2"
    with pytest.raises(InputError, match=f"Line {line} has 4 cells"):
        read_export("\n".join(rows).encode(), "run.csv")


def test_a_quoted_line_end_behind_the_first_parts_stays_inside_its_cell(short_parts):
    lines = ["step,loss,note", *[f"{row},0.5,x" for row in range(8)], '8,0.25,"two\nlines"', "9,0.125,y"]
    run = read_export("\n".join(lines).encode(), "run.csv").runs[0]
    assert run.series("loss").values.tolist() == [0.5] * 8 + [0.25, 0.125]


def test_short_rows_are_told_beside_a_number_beyond_64_bits():
    export = read_export(b"step,loss,count\n1,\n2,,\n3,,9223372036854775808", "run.csv")
    assert any("Cells missing at the ends of rows: 1" in str(note) for note in export.notes)


def test_commas_are_no_decimal_points_where_another_part_of_the_column_has_points(short_parts):
    export = read_export(b"step;loss\n3;1,5\n4;0.5\n5;0,25\n6;0.75", "run.csv")
    assert export.runs[0].series("loss").values.tolist() == [0.5, 0.75]
    assert any("not numbers: 2" in str(note) for note in export.notes)


def test_lone_carriage_returns_put_no_row_beyond_the_room_that_was_made_for_all(short_parts):
    """Making more would take the rows away that other threads are putting."""
    right, found = parts_of(b"1,2\n" * 40 + b"3,4\r" * 30)
    assert not right
    assert max(found) <= 40


@pytest.mark.parametrize("begin", [0, 13, 30])
def test_a_table_with_lone_carriage_returns_in_one_stretch_is_read_whole(short_parts, begin):
    rows = [f"{row},0.5" + ("\r" if begin <= row < begin + 10 else "\n") for row in range(40)]
    series = read_export(("step,loss\n" + "".join(rows)).encode(), "run.csv").runs[0].series("loss")
    assert series.steps.tolist() == list(range(40))


def read_while_it_becomes(later: bytes, path, monkeypatch):
    """What is read of a small table that is rewritten as soon as somebody has looked at its size."""
    path.write_bytes(b"step,loss\n1,0.5\n2,0.25\n3")
    opened = TextSource.open

    class Changing(io.BufferedReader):
        def seek(self, offset: int, whence: int = 0) -> int:
            place = super().seek(offset, whence)
            if whence == io.SEEK_END:
                path.write_bytes(later)
            return place

    monkeypatch.setattr(TextSource, "open", lambda source, offset=0: Changing(opened(source, offset).detach()))
    return read_export(path)


def test_a_table_that_grows_while_it_is_read_ends_where_it_ended_at_first(short_parts, tmp_path, monkeypatch):
    """Or its last row would be judged by what was written after it."""
    export = read_while_it_becomes(b"step,loss\n1,0.5\n2,0.25\n345,0.125\n", tmp_path / "run.csv", monkeypatch)
    assert export.runs[0].series("loss").steps.tolist() == [1, 2]
    assert "still being written" in str(export.notes[0])


def test_a_table_that_is_no_text_any_more_when_it_is_read_is_one_error(short_parts, tmp_path, monkeypatch):
    with pytest.raises(InputError, match="changed while it was read"):
        read_while_it_becomes(b"step,loss\n1,\xe9\n2,0.25\n3", tmp_path / "run.csv", monkeypatch)


@pytest.mark.parametrize("quicker", [False, True])
@pytest.mark.parametrize("before", range(10))
def test_a_table_that_is_emptied_while_it_is_read_is_one_error(before, quicker, short_parts, tmp_path, monkeypatch):
    """It is opened again and again: before any of these times it may be emptied."""
    monkeypatch.setattr(plain_rows, "is_quicker", lambda: quicker)
    path, opened, times = tmp_path / "run.csv", TextSource.open, iter(range(before))
    path.write_bytes(b"step,loss\n" + b"1,0.5\n" * 50 + b"2,x")

    def emptied(source: TextSource, offset: int = 0):
        if next(times, None) is None:
            path.write_bytes(b"st")
        return opened(source, offset)

    monkeypatch.setattr(TextSource, "open", emptied)
    with pytest.raises(InputError):
        read_export(path)
