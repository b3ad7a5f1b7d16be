"""What the charts of training metrics show, looked at without a screen."""

import json
from pathlib import Path

import numpy as np
import pytest

from components import theme
from components.metrics.charts import drawn_names, main_charts, series_chart
from components.metrics.controls import picks_of
from components.metrics.drawing import Limits, Look, ends, short_number
from components.metrics.facts import facts_of
from rewards_lib.training_metrics import Series, read_export, rule_book, runs_of

EXAMPLES = Path(__file__).parents[3] / "examples" / "training_metrics"
LOOK = Look(weight=0.8)
LIMITS = Limits.of(rule_book())


def read(text: str, name: str = "run.csv"):
    return read_export(text.encode(), name)


def charts(*exports, look=LOOK):
    return {chart.title: chart for chart in main_charts(runs_of(exports), look, LIMITS)}


def test_the_zone_of_cut_answers_begins_where_the_visitors_rule_does():
    limits = Limits.of(rule_book().with_thresholds({"truncation_high": {"limit": 0.6}}))
    (chart,) = main_charts(
        runs_of([read("step,train/generation/response_length.clipfrac\n1,0.1\n2,0.5\n")]), LOOK, limits
    )
    assert chart.figure.layout.yaxis2.tickvals == (0, 0.6, 1)
    assert [shape.y0 for shape in chart.figure.layout.shapes] == [0.6]


def hacked():
    return read_export(EXAMPLES / "hacked.csv")


def traces(chart):
    return {trace.name: trace for trace in chart.figure.data if trace.name and trace.showlegend is not False}


def test_an_ark_export_gives_reward_length_each_function_and_clipping():
    found = charts(hacked())
    assert list(found) == [
        "Final reward", "Train and test", "Length and truncation", "math_accuracy", "think_answer_format", "Clipping"
    ]  # fmt: skip
    assert set(traces(found["math_accuracy"])) == {"train won to bon", "train", "test won to bon", "test"}
    assert set(traces(found["Clipping"])) == {"clipfrac", "high", "low", "clipfrac2"}


def test_clipping_is_logarithmic_with_a_line_at_the_dual_clip_limit():
    figure = charts(hacked())["Clipping"].figure
    assert figure.layout.yaxis.type == "log"
    assert [shape.y0 for shape in figure.layout.shapes if shape.type == "line"] == [1e-4]


def test_tests_are_drawn_as_they_were_measured_and_training_smoothed_over_its_raw_values():
    export = hacked()
    name = "test/reward/final_rewards"
    figure = charts(export)["Final reward"].figure
    shown = {trace.name: trace for trace in figure.data}
    assert np.array_equal(shown["test"].y, export.runs[0].series(name).values)
    assert len([trace for trace in figure.data if trace.name == "train"]) == 2
    assert len([t for t in charts(export, look=Look())["Final reward"].figure.data if t.name == "train"]) == 1


def test_curves_differ_by_dash_or_mark_and_not_by_colour_alone():
    for chart in charts(hacked()).values():
        styles = [(t.line.dash, t.mode, t.yaxis, t.line.width) for t in traces(chart).values()]
        if chart.title != "Clipping":  # clipfrac and clipfrac2 lie decades apart
            assert len(set(styles)) == len(styles)


def test_the_alternative_text_says_where_each_curve_goes():
    alt = charts(hacked())["Final reward"].alt
    assert alt.startswith("Final reward: train from 0.43")
    assert "test from" in alt


def test_one_mean_is_told_with_its_count_and_the_original_name():
    chart = charts(read("step,rewards/code\n1,0.2\n2,nan\n3,NaN\n4,0.9\n"))["code"]
    assert chart.small == "rewards/code · mean 0.55 over 2 steps"


def test_the_step_range_cuts_curves_and_means():
    chart = charts(read("step,reward\n1,1\n2,2\n3,6\n"), look=Look((2, 3)))["Final reward"]
    assert chart.figure.data[-1].x.tolist() == [2, 3]
    assert chart.small == "reward · mean 4 over 2 steps"


def test_a_restart_is_marked_unless_it_lies_outside_the_range():
    text = "step,reward\n1,1\n2,2\n3,3\n2,4\n3,5\n4,6\n"
    assert [note.text for note in charts(read(text))["Final reward"].figure.layout.annotations] == ["restart"]
    assert not charts(read(text), look=Look((3, 4)))["Final reward"].figure.layout.annotations


def test_a_single_point_is_drawn_as_a_mark():
    assert charts(read("step,reward\n5,1\n"))["Final reward"].figure.data[0].mode == "lines+markers"


def test_zeros_are_kept_for_smoothing_and_left_out_of_the_log_scale():
    export = read("step,actor/pg_clipfrac\n1,0\n2,0.01\n3,0\n")
    raw = charts(export, look=Look())["Clipping"]
    assert raw.figure.data[0].y.tolist() == [0.01]
    assert "zeros are not drawn" in raw.small
    assert len(charts(export, look=Look(weight=0.5))["Clipping"].figure.data[0].y) == 2


def test_several_runs_are_overlaid_without_bands():
    found = charts(hacked(), read_export(EXAMPLES / "healthy.csv"))
    assert set(traces(found["math_accuracy"])) == {
        "hacked.csv train", "hacked.csv test", "healthy.csv train", "healthy.csv test"
    }  # fmt: skip


def test_hostile_names_are_text_and_never_markup():
    export = read("step,rewards/<a href='x'>f</a>\n1,1\n2,2\n")
    (chart,) = main_charts(runs_of([export]), LOOK, LIMITS)
    assert all("<" not in (trace.name or "") for trace in chart.figure.data)


def test_a_million_points_leave_as_two_thousand_with_their_extremes():
    steps = np.arange(1, 1_000_001)
    values = np.sin(steps / 5e4)
    values[[123_456, 777_777]] = 9, -9
    run = runs_of([read("step,reward\n1,1\n")])[""]
    long = type(run)("", ("reward",), steps.astype(float), values[None, :])
    (chart,) = main_charts({"": long}, Look(), LIMITS)
    assert len(chart.figure.to_json()) < 100_000
    assert (chart.figure.data[0].y.max(), chart.figure.data[0].y.min()) == (9, -9)
    assert f"of {theme.count(1_000_000)} points drawn, extremes kept" in chart.small


def test_a_range_of_steps_refines_the_down_sampling_up_to_every_point():
    steps = np.arange(1, 1_000_001)
    run = runs_of([read("step,reward\n1,1\n")])[""]
    long = type(run)("", ("reward",), steps.astype(float), np.sin(steps)[None, :])
    (chart,) = main_charts({"": long}, Look(step_range=(400_000, 401_000)), LIMITS)
    assert list(chart.figure.data[0].x) == list(range(400_000, 401_001))


def test_every_series_is_either_charted_or_offered():
    for exports in ([hacked()], [hacked(), read_export(EXAMPLES / "healthy.csv")]):
        runs = runs_of(exports)
        drawn = drawn_names(main_charts(runs, LOOK, LIMITS))
        offered = {name for pick in picks_of(exports, runs, drawn).values() for name in pick.members.values()}
        assert drawn | offered == set(exports[0].names)
        assert not drawn & offered


def test_custom_metrics_are_offered_first_and_constant_series_last():
    export = read("step,b,a(max),a(mean),a(min),flat\n1,1,3,2,1,7\n2,2,4,3,2,7\n")
    assert list(picks_of([export], runs_of([export]), frozenset())) == ["a", "b", "flat"]


def test_a_custom_metric_is_drawn_as_a_mean_within_its_band():
    export = read("step,a(max),a(mean),a(min)\n1,3,2,1\n2,4,3,2\n")
    members = {"mean": "a(mean)", "min": "a(min)", "max": "a(max)"}
    chart = series_chart(runs_of([export]), members, "a", LOOK, key="a")
    assert set(traces(chart)) == {"min to max", "mean"}


def test_facts_leave_out_what_a_run_does_not_report():
    assert [label for label, _ in facts_of(read("step,loss\n1,1\n2,2\n").runs[0], LOOK)] == ["Steps"]
    assert [label for label, _ in facts_of(hacked().runs[0], LOOK)] == [
        "Steps", "Final reward", "Best test", "Response tokens", "Truncation"
    ]  # fmt: skip


@pytest.mark.parametrize(("count", "first", "last"), [(1, 0, 0), (3, 0, 2), (100, 9.5, 89.5)])
def test_first_and_last_are_means_of_up_to_twenty_points(count, first, last):
    values = np.arange(float(count))
    assert ends(Series(values, values)) == (first, last)


def test_very_small_numbers_keep_their_size():
    assert (short_number(5.2e-6), short_number(-0.1), short_number(None)) == ("5.2e−06", "−0.1", "—")


def test_figures_are_strict_json():
    json.loads(charts(hacked())["Length and truncation"].figure.to_json(), parse_constant=pytest.fail)
