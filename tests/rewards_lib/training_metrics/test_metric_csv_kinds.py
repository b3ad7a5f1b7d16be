"""Delimited files as people and tools write them: what divides the cells, how numbers look, what stands around them."""

import pytest

from rewards_lib.errors import InputError
from rewards_lib.training_metrics import RELATIVE_TIME, read_export


def points(text, **options):
    """Every series of the one run in a text, and the notes."""
    export = read_export(text.encode(), "run.csv", **options)
    (run,) = export.runs
    return {name: run.series(name).to_json() for name in run.names}, " ".join(map(str, export.notes))


PLAIN = {"loss": [[1, 0.5], [2, 0.4]]}


@pytest.mark.parametrize(
    "text",
    [
        "step;loss\n1;0,5\n2;0,4\n",
        "step\tloss\n1\t0,5\n2\t0,4\n",
        'step,loss\n1,"0,5"\n2,"0,4"\n',
        "step|loss\n1|0.5\n2|0.4\n",
        "step loss\n1 0.5\n2 0.4\n",
        "step    loss\n1       0.5\n2       0.4\n",
        "| step | loss |\n|---|---:|\n| 1 | 0.5 |\n| 2 | 0.4 |\n",
        "step，loss\n1，0.5\n2，0.4\n",
        "sep=;\nstep;loss\n1;0,5\n2;0,4\n",
        "# run 3, of host a\n# seed 1\nstep,loss\n1,0.5\n2,0.4\n",
        "#step,loss\n1,0.5\n2,0.4\n",
        "Export of a run\n\nstep,loss\n1,0.5\n2,0.4\n",
        "step,loss\n1.0,５e-1\n2.0,０.4\n",
        "step,loss\n1,tensor(0.5)\n2,\"tensor(0.4, device='cuda:0')\"\n",
        "step,loss\nstep 1,0.5\nstep 2,0.4\n",
        "step,loss\n1/500,0.5\n2/500,0.4\n",
        "step,loss,\n1,0.5,\n2,0.4,\n",
    ],
)
def test_the_same_two_points_are_read_however_they_are_divided(text):
    assert points(text)[0] == PLAIN


def test_blanks_before_quoted_cells_are_no_part_of_them():
    assert points('step, "loss, x", acc\n1, "0.5", 1\n2, "0.4", 2\n')[0] == {
        "loss, x": [[1, 0.5], [2, 0.4]], "acc": [[1, 1], [2, 2]]
    }  # fmt: skip


@pytest.mark.parametrize("tokens", ["12 345", "12\u202f345", "12\u00a0345", "12'345", '"12,345"', "12345.0"])
def test_thousands_are_grouped_as_the_country_has_it(tokens):
    assert points(f"step,tokens\n1,{tokens}\n2,{tokens}\n")[0] == {"tokens": [[1, 12345], [2, 12345]]}


def test_semicolons_with_grouped_thousands_do_not_make_decimal_commas():
    assert points("step;tokens\n1;1,234.5\n2;2,345.5\n")[0] == {"tokens": [[1, 1234.5], [2, 2345.5]]}


def test_points_that_group_thousands_before_a_decimal_comma_are_read_between_quotes_too():
    found, _ = points('step,r\n1,"1.234,5"\n2,"999,5"\n3,"2.345.678,25"\n')
    assert found == {"r": [[1, 1234.5], [2, 999.5], [3, 2345678.25]]}


def test_a_quotation_mark_inside_a_name_is_part_of_it_and_costs_no_row():
    found, _ = points('step,screen 15",r\n1,24",0.1\n2,27,0.2\n3,28,0.3\n')
    assert found["r"] == [[1, 0.1], [2, 0.2], [3, 0.3]]


def test_typographic_minus_signs_and_infinities_are_read():
    series, notes = points("step,r\n1,−0.5\n2,∞\n3,1.#IND\n4,0.5\n")
    assert series == {"r": [[1, -0.5], [4, 0.5]]}
    assert "Infinite values of r: 1, the first at step 2" in notes


def test_lines_above_the_header_are_told():
    assert "Lines above the header that were passed over: 1, the first '# seed 7'." in points(
        "# seed 7\nstep,a\n1,2\n"
    )[1]  # fmt: skip


def test_a_row_of_units_is_told_and_left_out():
    series, notes = points("step,loss\n[-],[nats]\n1,0.5\n2,0.4\n3,0.3\n")
    assert series == {"loss": [[1, 0.5], [2, 0.4], [3, 0.3]]}
    assert "the first '[nats]' in line 2" in notes


def test_without_steps_a_clock_counts_them():
    series, notes = points("time,loss\n2026-01-01 00:00:00,0.5\n2026-01-01 00:01:00,0.4\n")
    assert series == {"loss": [[1767225600, 0.5], [1767225660, 0.4]]}
    assert "Text was read as numbers in time" in notes
    series, _ = points("time,loss\n2026-01-01T00:00:00Z,0.5\n2026-01-01T00:01:00Z,0.4\n", x=RELATIVE_TIME)
    assert series == {"loss": [[0, 0.5], [60, 0.4]]}


def test_an_epoch_with_many_rows_does_not_count_the_steps_where_iterations_do():
    assert points("epoch,iter,loss\n0,100,0.5\n0,200,0.4\n1,300,0.3\n")[0] == {
        "loss": [[100, 0.5], [200, 0.4], [300, 0.3]]
    }


@pytest.mark.parametrize(
    "text", ['{"step": [1, 2], "loss": [0.5, 0.4]}', '{"step": {"0": 1, "1": 2}, "loss": {"0": 0.5, "1": 0.4}}']
)
def test_json_that_is_written_by_columns_is_read(text):
    assert points(text)[0] == PLAIN


def test_utf_32_is_read():
    export = read_export("step,loss\n1,0.5\n2,0.4\n".encode("utf-32"), "run.csv")
    assert export.runs[0].series("loss").to_json() == PLAIN["loss"]
    assert "Read as UTF-32." in map(str, export.notes)


# --- broken rows ---------------------------------------------------------------------------------------------------


def refused(text):
    with pytest.raises(InputError) as told:
        read_export(text.encode(), "run.csv")
    return str(told.value)


def test_a_quotation_mark_that_is_never_closed_is_named_by_its_line():
    assert "opened in line 3 is never closed" in refused('step,a\n1,1\n2,"oops\n3,3\n4,4\n')


def test_a_quotation_mark_that_swallows_rows_is_named_by_its_line():
    assert "opened in line 3 is closed only in a later line" in refused('step,a\n1,1\n2,"oops\n3,3\n4,4"x\n5,5\n6,6\n')


def long_file(*overlong):
    return "step,a\n" + "".join(f"{k},{k}{',9,9' if k in overlong else ''}\n" for k in range(1, 201))


def test_one_row_that_is_too_long_among_many_is_left_out_and_told():
    series, notes = points(long_file(57))
    assert [step for step, _ in series["a"]] == [step for step in range(1, 201) if step != 57]
    assert "left out: 1, the first is line 58 with 4 cells instead of 2" in notes


def test_notes_after_a_row_that_was_left_out_still_name_their_line():
    assert "the first 'oops' in line 101" in points(long_file(57).replace("\n100,100\n", "\n100,oops\n"))[1]


def test_rows_that_are_too_long_again_and_again_are_refused():
    assert "Line 11 has 4 cells, the header has 2." in refused(long_file(*range(10, 60)))


def test_blank_cells_beyond_the_header_hide_no_longer_row():
    assert points("step,a\n1,1,,,\n2,2,,\n")[0] == {"a": [[1, 1], [2, 2]]}
    assert "Line 3 has 5 cells, the header has 2." in refused("step,a\n1,1,,,\n2,2,,9,9\n")


def test_one_cell_of_a_megabyte_refuses_nothing():
    series, _ = points(f"step,a,text\n1,1,{'x' * 1_000_000}\n2,oops,y\n3,3,z\n4,4,z\n")
    assert series["a"] == [[1, 1], [3, 3], [4, 4]]


def test_a_line_of_a_log_that_is_too_long_is_told():
    long = "step:3 - a:1 - " + "x" * 200_000
    series, notes = points(f"step:1 - a:0.5\nstep:2 - a:0.4\n{long}\nstep:4 - a:0.3\n")
    assert series == {"a": [[1, 0.5], [2, 0.4], [4, 0.3]]}
    assert "too long to be read: 1, the first is line 3" in notes
