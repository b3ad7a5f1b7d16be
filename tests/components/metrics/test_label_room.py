"""Words in a chart stand where its curves leave room."""

import plotly.graph_objects as go
import pytest

from components.metrics.label_room import free_level, value_at


def chart(*curves, **layout):
    figure = go.Figure([go.Scatter(x=list(range(len(values))), y=values) for values in curves])
    figure.update_layout(**layout)
    return figure


def test_words_over_a_low_curve_stand_high_and_under_a_high_one_low():
    rising = chart([0.0, 0.1, 0.2, 8.0, 9.0, 10.0])
    assert free_level(rising, 0, 2) > 0.5
    assert free_level(rising, 3, 5) < 0.5


def test_words_between_two_curves_stand_apart_from_both():
    assert 0.3 < free_level(chart([0.0] * 5, [10.0] * 5), 0, 4) < 0.7


def test_a_logarithmic_axis_is_measured_by_its_exponents():
    figure = chart([1e-6] * 5, [1e-1] * 5, [1e-2] * 5, yaxis={"type": "log"})
    assert 0.2 < free_level(figure, 0, 4) < 0.7
    assert value_at(figure, 0.0) == pytest.approx(-6)


def test_a_chart_without_a_point_there_has_room_everywhere():
    assert 0 <= free_level(chart([1.0, 2.0]), 50, 60) <= 1
