"""Rows are parsed in parts on several cores: the same table wherever it is cut, odd rows and quotation marks too."""

import io

import pandas as pd
import pytest
from hypothesis import assume, given

from rewards_lib.errors import InputError
from rewards_lib.training_metrics import plain_rows, read_export, row_parts
from tests.rewards_lib.training_metrics.test_metric_plain_rows import tables, told


@pytest.fixture
def short_parts(monkeypatch):
    """Parts of a row or two, so that a small table has many."""
    cut_short(monkeypatch)
    monkeypatch.setattr(plain_rows, "is_quicker", lambda: False)


def cut_short(monkeypatch):
    for name, value in (("LEAST_PART_ROWS", 1), ("PART_CELLS", 1), ("MOST_PARTS", 10**9), ("LEAST_BYTES", 0)):
        monkeypatch.setattr(row_parts, name, value)


@given(tables())
def test_a_table_in_many_parts_is_the_table_in_one(text):
    """Of two faults either may be told; a column that mixes decimal commas and points is looked at below."""
    assume("1,5" not in text)
    with pytest.MonkeyPatch.context() as patch:
        whole = told(text, False, patch)
        cut_short(patch)
        parted = told(text, False, patch)
    assert parted == whole or (isinstance(parted, str) and isinstance(whole, str))


def test_the_rows_are_read_in_more_than_one_part(short_parts):
    rows = io.BytesIO(b"".join(b"%d,1.5\n" % row for row in range(10, 60)))
    parts = list(row_parts.read_parts(rows, {"names": ["a", "b"], "header": None, "sep": ","}))
    assert len(parts) == 50
    assert parts[-1][1] == len(rows.getvalue())
    assert pd.concat([part for part, _ in parts])["a"].tolist() == list(range(10, 60))


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


def test_commas_are_no_decimal_points_where_another_part_of_the_column_has_points(short_parts):
    export = read_export(b"step;loss\n3;1,5\n4;0.5\n5;0,25\n6;0.75", "run.csv")
    assert export.runs[0].series("loss").values.tolist() == [0.5, 0.75]
    assert any("not numbers: 2" in str(note) for note in export.notes)
