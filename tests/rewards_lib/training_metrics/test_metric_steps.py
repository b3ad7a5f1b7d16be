"""Steps: which column counts them, what is no metric, and where a run began again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards_lib.errors import InputError
from rewards_lib.training_metrics import ROW_NUMBER, StepColumnError, read_export, report_exports


def read(text: str, **options):
    return read_export(text.encode(), "run.csv", **options)


def series(text: str):
    return report_exports([read(text)])["series"]


def rows(*steps: int) -> str:
    return "step,r\n" + "".join(f"{step},{place}\n" for place, step in enumerate(steps))


@pytest.mark.parametrize(
    ("header", "x"),
    [
        ("_step,train/global_step,r", "train/global_step"), ("epoch,step,r", "step"), ("Wall time,Step,r", "Step"),
        ("r,_runtime,_step", "_step"), ("fps,time,total timesteps", "total timesteps"), ("步数,奖励,r", "步数"),
    ],
)  # fmt: skip
def test_a_known_step_column_is_found_wherever_it_stands(header, x):
    assert read(f"{header}\n1,2,3\n2,3,5\n").x == x


@pytest.mark.parametrize("name", ["global_step/max_steps", "current_steps"])
def test_steps_beside_an_epoch_count_as_ms_swift_and_llama_factory_write_them(name):
    written = [f"{step}/90" if "/" in name else str(step) for step in (10, 20, 30)]
    export = read(f"epoch,{name},r\n" + "".join(f"0.{i},{step},5\n" for i, step in enumerate(written)))
    assert (export.x, report_exports([export])["series"]) == (name, {"r": [[10, 5], [20, 5], [30, 5]]})


def test_a_known_step_column_that_is_nearly_empty_does_not_count_the_steps():
    assert read("global_step,step,r\n,1,5\n,2,6\n30,3,7\n,4,8\n").x == "step"


def test_an_unknown_rising_column_of_whole_numbers_counts_the_steps():
    assert read("reward,tick\n0.5,10\n0.6,20\n").x == "tick"


def test_among_unknown_columns_one_that_speaks_of_steps_is_preferred():
    assert read("tokens,my_epoch,num_epoch\n10,1,1\n20,3,2\n").x == "num_epoch"


def test_without_a_step_column_the_columns_are_named_and_choices_carried():
    with pytest.raises(StepColumnError, match="epoch_name, reward") as refused:
        read("epoch_name,reward\nalpha,0.1\nbeta,0.3\n")
    assert refused.value.choices == ("reward",)


def test_the_row_number_can_be_chosen():
    assert report_exports([read("name,r\na,5\nb,6\n", x=ROW_NUMBER)])["series"] == {"r": [[1, 5], [2, 6]]}


def test_another_column_can_be_chosen_and_the_first_choice_is_then_no_series():
    export = read("step,tokens,r\n1,100,5\n2,250,6\n", x="tokens")
    assert report_exports([export])["series"] == {"r": [[100, 5], [250, 6]]}


def test_a_choice_that_is_no_column_of_numbers_is_refused():
    with pytest.raises(InputError, match="columns of numbers are step, r"):
        read("step,r\n1,2\n", x="nope")


def test_clocks_are_choices_of_x_and_no_series():
    export = read("_step,_runtime,_timestamp,train/epoch,time/step,r\n0,1,9,0,3.2,1\n1,2,10,0,3.1,1\n2,4,11,1,3.3,1\n")
    assert export.names == ("time/step", "r")
    assert export.x_choices == (
        "_step", "_runtime", "_timestamp", "train/epoch", "relative time", "time/step", "r",
    )  # fmt: skip


def test_a_row_of_the_other_split_may_bring_its_own_step():
    text = "train/global_step,test/global_step,train/r,test/r\n1,,1,\n2,,2,\n,2,,9\n"
    assert series(text) == {"train/r": [[1, 1], [2, 2]], "test/r": [[2, 9]]}
    assert series(text.replace("/", ".")) == {"train.r": [[1, 1], [2, 2]], "test.r": [[2, 9]]}


@pytest.mark.parametrize("own", ["eval/global_step", "val/global_step", "_step"])
def test_an_evaluation_with_another_counter_than_the_training_stays(own):
    text = f"train/global_step,{own},train/r,eval/r\n1,{'1' if own == '_step' else ''},1,\n2,2,2,\n,3,,9\n"
    assert series(text) == {"train/r": [[1, 1], [2, 2]], "eval/r": [[3, 9]]}


def test_a_row_of_a_wandb_history_without_a_step_stands_at_the_step_before_it():
    export = read("_step,train/global_step,train/r,eval/epoch,eval/r\n0,10,1,,\n1,20,2,,\n2,,,1,9\n3,30,3,,\n")
    assert report_exports([export])["series"] == {"train/r": [[10, 1], [20, 2], [30, 3]], "eval/r": [[20, 9]]}
    assert "1; they stand at the step that was logged before them" in " ".join(map(str, export.notes))


def test_series_of_splits_that_count_apart_keep_their_own_steps():
    text = "rollout/step,rollout/r,train/step,train/l\n0,1,,\n,,0,5\n,,1,6\n1,2,,\n,,2,7\n,,3,8\n"
    assert series(text) == {"rollout/r": [[0, 1], [1, 2]], "train/l": [[0, 5], [1, 6], [2, 7], [3, 8]]}


def test_rows_without_a_step_are_left_out_and_told():
    export = read("step,r\n1,5\n,6\n3,7\n")
    assert report_exports([export])["series"] == {"r": [[1, 5], [3, 7]]}
    (note,) = export.notes
    assert str(note) == "Rows without a step in step: 1, the first is row 2; they were left out."


def test_a_train_row_and_a_test_row_of_one_step_both_stay():
    export = read("step,train/r,test/r\n1,0.2,\n2,0.3,\n2,,0.5\n3,0.4,\n")
    assert report_exports([export])["series"] == {"train/r": [[1, 0.2], [2, 0.3], [3, 0.4]], "test/r": [[2, 0.5]]}
    assert not export.notes


def test_after_a_restart_the_later_values_stand():
    export = read(rows(1, 2, 3, 4, 5, 3, 4, 5, 6))
    assert report_exports([export])["series"]["r"] == [[1, 0], [2, 1], [3, 5], [4, 6], [5, 7], [6, 8]]
    assert [str(note) for note in export.notes] == ["restart at step 3 (3 steps repeated): the later values are shown."]
    assert [restart.step for restart in export.runs[0].restarts] == [3]


def test_a_blank_after_a_restart_does_not_wipe_the_value_before_it():
    text = "step,r,t\n1,1,1\n2,2,2\n3,3,3\n2,9,\n3,9,\n"
    assert series(text) == {"r": [[1, 1], [2, 9], [3, 9]], "t": [[1, 1], [2, 2], [3, 3]]}


def test_two_restarts_are_two_restarts():
    assert [r.step for r in read(rows(1, 2, 3, 2, 3, 4, 5, 4, 5)).runs[0].restarts] == [2, 4]


def test_a_shuffled_file_is_sorted_and_no_restart():
    export = read(rows(3, 1, 2))
    assert report_exports([export])["series"]["r"] == [[1, 1], [2, 2], [3, 0]]
    assert export.runs[0].restarts == ()
    assert [str(note) for note in export.notes] == ["The rows were not in the order of step and were sorted."]


def test_a_step_logged_twice_in_place_is_one_point_and_no_restart():
    export = read("Wall time,Step,Value\n1700000000.5,100,0.7\n1700000003.1,100,0.75\n1700000900.0,200,0.80\n")
    assert report_exports([export])["series"] == {"Value": [[100, 0.75], [200, 0.8]]}
    (note,) = export.notes
    assert str(note) == "Steps that came more than once: 1, the first is 100; the last value of each is shown."
    assert export.runs[0].restarts == ()


def test_a_text_column_that_keeps_repeated_steps_apart_makes_runs():
    report = report_exports([read("step,run,r\n1,a,1\n2,a,2\n1,b,3\n2,b,4\n")])
    assert report["series"] == {"a - r": [[1, 1], [2, 2]], "b - r": [[1, 3], [2, 4]]}
    assert "Runs in this file: a, b." in report["notes"]


def test_a_column_of_seeds_that_keeps_repeated_steps_apart_makes_runs():
    found = series("seed,step,r\n0,1,1\n0,2,2\n7,1,3\n7,2,4\n")
    assert (found["seed 0 - r"], found["seed 7 - r"]) == ([[1, 1], [2, 2]], [[1, 3], [2, 4]])


def test_a_text_that_differs_in_every_row_does_not_make_a_run_of_each():
    assert series("step,r,file\n1,1,a\n2,2,b\n3,3,c\n2,4,d\n3,5,e\n") == {"r": [[1, 1], [2, 4], [3, 5]]}


@given(st.lists(st.integers(0, 30), min_size=1, max_size=60))
def test_steps_rise_strictly_and_the_last_value_of_each_stands(steps):
    line = read(rows(*steps)).runs[0].series("r")
    expected = {step: place for place, step in enumerate(steps)}
    assert line.steps.tolist() == sorted(expected)
    assert line.values.tolist() == [expected[step] for step in sorted(expected)]
