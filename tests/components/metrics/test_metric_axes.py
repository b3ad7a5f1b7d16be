"""Axes that are not linear: curves, notes and what hovering says."""

import numpy as np
import pytest

from components.metrics.charts import main_charts, mark_findings
from components.metrics.drawing import Limits, Look
from rewards_lib.training_metrics import diagnose, read_export, rule_book, runs_of

LIMITS = Limits.of(rule_book())


def final_reward(text: str, look: Look):
    export = read_export(text.encode(), "run.csv")
    charts = main_charts(runs_of([export]), look, LIMITS)
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


# --- two axes ------------------------------------------------------------------------------------------------------


def length_chart(shares: list[float], look: Look):
    rows = "".join(f"{step},{100 * step},{200 * step},{share}\n" for step, share in enumerate(shares, start=1))
    names = ",".join(f"train/generation/response_length.{part}" for part in ("mean", "max", "clipfrac"))
    charts = main_charts(runs_of([read_export(f"step,{names}\n{rows}".encode(), "run.csv")]), look, LIMITS)
    return next(chart for chart in charts if chart.key == "chart_length")


def test_a_zero_on_the_right_axis_leaves_the_left_one_plainly_logarithmic():
    chart = length_chart([0, 0.001, 0.01, 0.1, 0.5], Look(log_y=True))
    layout = chart.figure.layout
    assert layout.yaxis.type == "log"
    assert "log scale on both sides of 0" not in chart.small
    assert "right: log scale from 0 on" in chart.small
    lengths, _longest, shares = chart.figure.data
    assert list(lengths.y) == [100, 200, 300, 400, 500]
    assert (list(shares.customdata), shares.y[0]) == ([0, 0.001, 0.01, 0.1, 0.5], 0)
    marks = dict(zip(layout.yaxis2.ticktext, layout.yaxis2.tickvals, strict=True))
    assert marks["0%"] == layout.yaxis2.range[0] == 0
    assert marks["100%"] == layout.yaxis2.range[1]
    (zone,) = (shape for shape in layout.shapes if shape.yref == "y2")
    assert (zone.y0, zone.y1) == (marks["30%"], marks["100%"])


def test_shares_above_0_get_a_plain_logarithmic_axis_of_their_own():
    chart = length_chart([0.001, 0.01, 0.1, 0.5], Look(log_y=True))
    axis = chart.figure.layout.yaxis2
    assert axis.type == "log"
    assert axis.range[0] < np.log10(0.001)
    assert list(axis.ticktext) == ["0.1%", "1%", "10%", "30%", "100%"]
    assert list(chart.figure.data[2].y) == [0.001, 0.01, 0.1, 0.5]


def test_values_out_of_view_are_those_of_the_left_axis():
    chart = length_chart([1.0, *[0.0] * 98, 1.0], Look(clip=True))
    assert "points above: 2, farthest 20000.0 at step 100" in chart.small
    assert list(chart.figure.layout.yaxis2.range) == [0, 1]
