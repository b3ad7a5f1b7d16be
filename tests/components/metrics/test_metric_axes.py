"""Axes that are not linear: curves, notes and what hovering says."""

import numpy as np
import pytest

from components.metrics.charts import main_charts, mark_findings
from components.metrics.drawing import Look
from rewards_lib.training_metrics import diagnose, read_export, runs_of


def final_reward(text: str, look: Look):
    export = read_export(text.encode(), "run.csv")
    charts = main_charts(runs_of([export]), look)
    mark_findings(diagnose(export.runs[0]).findings, charts)
    return next(chart for chart in charts if chart.title == "Final reward")


ROWS = "step,reward\n" + "".join(f"{step},{(step - 3) * 10}\n" for step in range(40))


def test_values_of_both_signs_stand_in_order_and_are_told_as_they_were_read():
    chart = final_reward(ROWS, Look(log_y=True))
    (line,) = chart.figure.data
    assert (np.diff(line.y) > 0).all()
    assert list(line.customdata) == [(step - 3) * 10 for step in range(40)]
    assert line.hovertemplate == "%{customdata:.4g}"
    ticks = dict(zip(chart.figure.layout.yaxis.ticktext, chart.figure.layout.yaxis.tickvals, strict=True))
    assert ticks["0"] == 0
    assert ticks["−100"] == -ticks["100"] < 0
    assert "log scale on both sides of 0" in chart.small


def test_positive_values_get_a_plain_logarithmic_axis():
    chart = final_reward("step,reward\n1,1\n2,10\n3,100\n", Look(log_y=True))
    assert chart.figure.layout.yaxis.type == "log"
    assert chart.figure.data[0].customdata is None


def test_logarithmic_steps_begin_at_the_first_above_0():
    chart = final_reward(ROWS, Look(log_x=True))
    axis = chart.figure.layout.xaxis
    assert axis.type == "log"
    assert axis.range[0] == pytest.approx(0, abs=0.05)
    assert 10 ** axis.range[1] == pytest.approx(39, rel=0.1)


def test_notes_stand_beside_their_curves_on_logarithmic_axes():
    text = "step,train/reward,eval_reward\n" + "".join(
        f"{step},{step},{100 - abs(step - 10) if step % 10 == 0 else ''}\n" for step in range(1, 101)
    )
    plain, spread = (final_reward(text, Look(log_x=log, log_y=log)) for log in (False, True))
    best = next(note for note in plain.figure.layout.annotations if "best test" in note.text)
    moved = next(note for note in spread.figure.layout.annotations if "best test" in note.text)
    assert (moved.x, moved.y) == pytest.approx((np.log10(best.x), np.log10(best.y)))
