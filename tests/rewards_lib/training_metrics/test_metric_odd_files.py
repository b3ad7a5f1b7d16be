"""Quirks of files that people really have: each is read as it was meant."""

from contextlib import suppress
from time import process_time

import pytest

from rewards_lib.errors import InputError
from rewards_lib.training_metrics import read_export, report_exports


def series(text: str):
    return report_exports([read_export(text.encode(), "run.csv")])["series"]


@pytest.mark.parametrize("gap", ["\\N", "(null)", "NULL", "#N/A", "-nan", "-nan(ind)", "1.#QNAN"])
def test_a_gap_may_be_spelled_as_databases_and_c_programs_do(gap):
    export = read_export(f"step,a\n1,1\n2,{gap}\n3,3\n".encode(), "run.csv")
    assert report_exports([export])["series"] == {"a": [[1, 1], [3, 3]]}
    assert not any("not numbers" in str(note) for note in export.notes)


@pytest.mark.parametrize("word", ["nan", "-nan", "-nan(ind)"])
def test_a_loss_that_became_no_number_is_told_however_it_is_spelled(word):
    rows = "".join(f"{step},{word if step > 30 else 1},0.5\n" for step in range(1, 41))
    export = read_export(f"step,actor/loss,actor/lr\n{rows}".encode(), "run.csv")
    assert export.nan_cells == {"actor/loss": 10}
    assert len(export.runs[0].non_finite("actor/loss")) == 10


def test_steps_may_be_counted_in_thousands_and_millions():
    assert series("step,a\n500,1\n1k,2\n1.5k,3\n2M,4\n") == {"a": [[500, 1], [1000, 2], [1500, 3], [2_000_000, 4]]}


def test_a_reward_that_rises_in_whole_numbers_is_not_taken_for_the_steps():
    rows = "".join(f"2026-01-{day:02},{day}\n" for day in range(1, 20))
    assert list(series(f"date,reward\n{rows}")) == ["reward"]
    with pytest.raises(InputError, match="No column counts the steps"):
        series("who,reward\nx,1\ny,2\nz,3\n")


def test_signs_that_nobody_sees_are_no_part_of_a_name():
    export = read_export("\ufeff\ufeffstep,\u200ba\n1,2\n2,3\n".encode(), "run.csv")
    assert (export.x, export.columns) == ("step", ("step", "a"))


@pytest.mark.parametrize(
    "text",
    [
        "a" * 30_000, "{'a':" * 15_000, "1," * 30_000, "a\tb " * 30_000, "step,a\n1," + "1" * 30_000 + "x\n",
        "step,a\n1," + "%" * 30_000 + "\n",
        "noise\n" + "x" * 300_000 + "\n{'loss': " * 3000,
    ],
    ids=["one word", "open braces", "numbers as names", "names of one kind", "digits", "percents", "open dictionaries"],
)  # fmt: skip
def test_what_repeats_itself_takes_no_time_that_grows_with_its_square(text):
    begin = process_time()
    with suppress(InputError):
        read_export(text.encode(), "run.csv")
    assert process_time() - begin < 5


def test_a_quotation_mark_inside_the_last_cell_opens_nothing():
    export = read_export(b'step,loss,note\n1,0.5,a\n2,0.25,24"\n', "run.csv")
    assert export.runs[0].series("loss").values.tolist() == [0.5, 0.25]
