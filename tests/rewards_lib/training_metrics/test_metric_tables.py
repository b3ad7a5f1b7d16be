"""Delimiters, headers and rows: what fits is read as it stands, what does not is refused with its line or told."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards_lib.errors import InputError
from rewards_lib.training_metrics import StepColumnError, read_export, report_exports
from rewards_lib.training_metrics.csv_header import unique_names


def read(text: str, **options):
    return read_export(text.encode(), "run.csv", **options)


def series(text: str):
    return report_exports([read(text)])["series"]


def notes(text: str):
    return [str(note) for note in read(text).notes]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_delimiters_and_line_ends_of_every_kind_give_one_table(delimiter, newline):
    text = newline.join(delimiter.join(row) for row in (("step", "a", "b"), ("1", "0.5", ""), ("2", "", "7"), ("",)))
    assert series(text) == {"a": [[1, 0.5]], "b": [[2, 7]]}


def test_a_delimiter_inside_quotes_does_not_count():
    assert series('"step";"a, b, c";"d"\n1;2;3\n') == {"a, b, c": [[1, 2]], "d": [[1, 3]]}


def test_a_semicolon_file_may_write_decimal_commas():
    assert series("step;a;b\n1;0,5;1.234,5\n2;0,25;7\n") == {"a": [[1, 0.5], [2, 0.25]], "b": [[1, 1234.5], [2, 7]]}


def test_a_semicolon_file_may_write_decimal_points():
    assert series("step;a\n1;0.5\n") == {"a": [[1, 0.5]]}


def test_columns_of_one_name_stay_apart():
    export = read("step,reward,reward,reward.1\n1,0.1,0.2,0.3\n")
    assert export.columns == ("step", "reward", "reward (2)", "reward.1")
    assert series("step,reward,reward,reward.1\n1,0.1,0.2,0.3\n")["reward (2)"] == [[1, 0.2]]


@given(st.lists(st.sampled_from(["a", "b", "a (2)", "", " a ", "column 2"]), min_size=1, max_size=8))
def test_names_become_unique_and_single_ones_keep_their_own(cells):
    names = unique_names(cells)
    assert len(set(names)) == len(cells)
    assert all(name == cell.strip() for name, cell in zip(names, cells, strict=True)
               if cell.strip() and [other.strip() for other in cells].count(cell.strip()) == 1
               and not cell.startswith("column"))  # fmt: skip


@pytest.mark.parametrize(
    "text", ["step,a\n1,1,\n2,2,\n", "step,a,\n1,1,\n2,2,\n", "step,a,\n1,1\n2,2\n"], ids=["rows", "both", "header"]
)
def test_a_trailing_comma_makes_no_column(text):
    export = read(text)
    assert (export.columns, export.notes) == (("step", "a"), ())
    assert series(text) == {"a": [[1, 1], [2, 2]]}


@pytest.mark.parametrize(
    ("text", "line", "cells"),
    [
        ("step,a\n1,1\n2,2\n3,3,4\n", 4, 3), ("step,a\n1,1,9\n2,2\n", 2, 3), ("step,a\n1,1\n2,2,3,4,5\n", 3, 5),
        ("step,a\n\n1,1\n\n2,2,3\n", 5, 3), ('"st\nep",a\n1,1\n2,2,3\n', 4, 3),
    ],
)  # fmt: skip
def test_a_row_longer_than_the_header_is_refused_with_its_line_and_both_counts(text, line, cells):
    with pytest.raises(InputError, match=f"Line {line} has {cells} cells, the header has 2"):
        read(text)


def test_a_short_last_row_is_left_out_with_a_note():
    text = "step,a,b\n1,0.1,1\n2,0.2\n"
    assert series(text) == {"a": [[1, 0.1]], "b": [[1, 1]]}
    assert notes(text) == ["The last row was left out: it has 2 of 3 cells, so the file was still being written."]


def test_a_last_row_cut_inside_quotes_is_left_out_with_a_note():
    text = '"step","a"\n"1","0.5"\n"2","0.'
    assert series(text) == {"a": [[1, 0.5]]}
    assert "inside quotation marks" in notes(text)[0]


def test_rows_that_all_leave_their_blank_ends_away_are_kept():
    text = "step,a,b\n1,0.1\n2,0.2\n3,0.3\n"
    assert series(text) == {"a": [[1, 0.1], [2, 0.2], [3, 0.3]]}
    assert notes(text)[0] == "Cells missing at the ends of rows: 3; they count as gaps."


@pytest.mark.parametrize("text", ["step,reward\n", "step,reward", "step,reward\n\n \n", "step,a,b\n1,2\n"])
def test_a_header_without_a_whole_row_is_refused_naming_its_columns(text):
    with pytest.raises(InputError, match=r"no whole row of values; its columns are step, "):
        read(text)


def test_one_column_without_a_delimiter_is_refused_and_named():
    with pytest.raises(InputError, match="one column, 'loss of run'"):
        read("loss of run\n1\n2\n")


def test_numbers_in_place_of_names_are_refused():
    with pytest.raises(InputError, match="numbers where the names"):
        read("1,0.5\n2,0.6\n")


def test_a_quotation_mark_that_is_never_closed_is_refused():
    with pytest.raises(InputError, match="never closed"):
        read('step,a\n1,"2\n2,3\n3,4\n')


@pytest.mark.parametrize("cell", ["1", '"1"', "x"])
def test_a_table_without_any_column_that_is_wanted_says_that_none_counts_the_steps(cell):
    with pytest.raises(StepColumnError):
        read(f"loss,reward\n0.5,{cell}\n0.25,{cell}\n", only=["grad_norm"])


def test_of_a_large_file_only_the_named_columns_and_the_clocks_are_held():
    text = "note,global_step,a,b,c\nx,1,2,3,4\ny,2,3,4,5\n"
    export = read(text, only=["b"])
    assert (export.columns, export.names) == (("note", "global_step", "a", "b", "c"), ("b",))
    assert export.runs[0].series("b").to_json() == [[1, 3], [2, 4]]


@pytest.mark.parametrize(("row", "cells"), [("1,2,3,4", 4), ("1,2,3,4,5,6", 6)])
def test_a_row_too_long_is_refused_also_when_only_some_columns_are_held(row, cells):
    with pytest.raises(InputError, match=r"Line 3 has \d cells, the header has 3"):
        read(f"step,a,b\n0,1,2\n{row}\n", only=["b"])
    assert cells


def is_read_or_refused(data: bytes) -> bool:
    try:
        return read_export(data, "run.csv").columns != ()
    except InputError as error:
        return str(error) != ""


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data):
    assert is_read_or_refused(data)


@given(st.text(alphabet='stepa,;\t"\n\r01.-n步', max_size=60))
def test_anything_below_a_header_is_read_or_refused(text):
    assert is_read_or_refused(("step,a\n" + text).encode())


def test_a_line_of_two_quotes_is_a_row_and_the_lines_after_it_are_counted_right():
    export = read_export(b'step,a,b\n1,2,3\n""\n3,x,4\n', "run.csv")
    assert any("line 4" in str(note) for note in export.notes)
