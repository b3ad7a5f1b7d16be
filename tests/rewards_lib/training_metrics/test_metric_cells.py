"""A cell is a number, a gap, or told as neither."""

import math

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards_lib.training_metrics import read_export, report_exports
from rewards_lib.training_metrics.cells import GAPS, parse_cell
from rewards_lib.training_metrics.number_columns import NumberColumns


def read(text: str):
    return read_export(text.encode(), "run.csv")


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1,234.5", 1234.5), ("-1,234,567", -1234567), ("12%", 0.12), ("-50 %", -0.5), ("1e-5", 1e-5), (".5", 0.5),
        ("np.float64(0.25)", 0.25), ("numpy.float32(1)", 1), ("True", 1), ("false", 0), ("inf", math.inf),
        ("-Infinity", -math.inf), ("+7", 7),
    ],
)  # fmt: skip
def test_numbers_are_read_however_they_are_written(text, number):
    assert parse_cell(text) == number


@pytest.mark.parametrize("text", ["about 3", "1,23", "0x1F", "1_000", "2024-01-02", "np.array([1])", "%", "1 2", "١"])
def test_what_is_no_number_is_never_made_one(text):
    assert parse_cell(text) is None


@pytest.mark.parametrize("text", [*sorted(GAPS), "NaN", "None", "NULL"])
def test_tokens_that_say_there_is_no_value_are_gaps(text):
    value = parse_cell(text)
    assert value is not None
    assert math.isnan(value)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_written_float_is_read_back(value):
    assert parse_cell(repr(value)) == value


@given(st.integers(-(10**12), 10**12))
def test_thousands_separators_change_nothing(value):
    assert parse_cell(f"{value:,}") == value
    assert parse_cell(f"{value:,}".replace(",", ".") + ",5", decimal_comma=True) == float(f"{value}.5")


def test_a_coerced_cell_is_told_with_count_line_and_text():
    text = 'step,r\n1,0.1\n\n2,"x\ny"\n3,oops\n4,0.5\n5,1\n6,1\n'
    export = read(text)
    assert [str(note) for note in export.notes] == [
        "Cells of r that are not numbers: 2, the first 'x\\ny' in line 4; they are gaps."
    ]
    assert report_exports([export])["series"]["r"] == [[1, 0.1], [4, 0.5], [5, 1], [6, 1]]


def test_a_column_of_mostly_text_is_no_series():
    export = read("step,tag,r\n1,a,1\n2,b,2\n3,7,3\n")
    assert export.names == ("r",)
    assert "Columns of text are not drawn: tag." in map(str, export.notes)


def test_half_text_is_still_numbers():
    assert read("step,r\n1,x\n2,0.5\n").names == ("r",)


def test_blank_columns_are_listed_and_no_series():
    export = read("step,r,empty,dash\n1,1,,-\n2,2,,nan\n")
    assert (export.names, export.blank) == (("r",), ("empty", "dash"))


def test_nan_cells_are_gaps_and_counted():
    export = read("step,r\n1,0.2\n2,nan\n3,NaN\n4,0.9\n")
    assert export.nan_cells == {"r": 2}
    assert report_exports([export])["summary"]["r"] == {"mean": 0.55, "min": 0.2, "max": 0.9, "last": 0.9, "n": 2}


def test_infinite_values_leave_the_series_and_are_told():
    export = read("step,r\n1,inf\n2,0.5\n3,-Infinity\n")
    assert report_exports([export])["series"] == {"r": [[2, 0.5]]}
    assert [str(note) for note in export.notes] == ["Infinite values of r: 2, the first at step 1; they were left out."]
    assert export.runs[0].non_finite("r").tolist() == [1, 3]


def test_integers_for_three_thousand_rows_and_then_a_fraction():
    text = "step,r\n" + "".join(f"{i},{i}\n" for i in range(3000)) + "3000,1.5\n"
    assert report_exports([read(text)])["series"]["r"][-1] == [3000, 1.5]


def test_blanks_for_two_thousand_rows_and_then_a_fraction():
    text = "step,r\n" + "".join(f'"{i}",""\n' for i in range(2000)) + "2000,1.5\n"
    assert report_exports([read(text)])["series"] == {"r": [[2000, 1.5]]}


def test_a_boolean_column_is_read_as_ones_and_zeros():
    columns = NumberColumns(["b"])
    columns.put(0, pd.DataFrame({"b": [True, False]}))
    assert columns.numbers().column("b").tolist() == [1, 0]
