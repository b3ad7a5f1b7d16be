"""What is shown, as one CSV."""

from rewards_lib.training_metrics import read_export, runs_of, wide_csv

TEXT = "step,a,b\n1,0.5,\n2,0.25,3\n3,1e-06,4\n"


def test_a_shown_series_leaves_as_it_came():
    runs = runs_of([read_export(TEXT.encode(), "a.csv")])
    assert wide_csv(runs, {"a", "b"}).decode() == "step,a,b\n1,0.5,\n2,0.25,3.0\n3,1e-06,4.0\n"
    assert wide_csv(runs, {"b"}, step_range=(2, 2), x="step").decode() == "step,b\n2,3.0\n"


def test_several_runs_stand_beside_each_other_under_their_names():
    runs = runs_of([read_export(TEXT.encode(), "a.csv"), read_export(b"step,a\n2,7\n5,8\n", "b.csv")])
    assert wide_csv(runs, {"a"}).decode() == "step,a.csv - a,b.csv - a\n1,0.5,\n2,0.25,7.0\n3,1e-06,\n5,,8.0\n"
