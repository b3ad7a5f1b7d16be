"""Windows, trends, robust deviations and stretches of hits."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards_lib.training_metrics.diagnostics import trends
from rewards_lib.training_metrics.diagnostics.evidence import Line
from rewards_lib.training_metrics.diagnostics.trends import (
    noise,
    robust_deviations,
    stretches,
    thirds,
    trend,
    window_means,
)

LINES = st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=60).map(np.array)


@pytest.mark.parametrize("huge", [1e12, -1e18])
def test_one_huge_value_costs_the_windows_after_it_no_digit(huge):
    values = np.full(100, 0.01)
    values[40] = huge
    _ends, means = window_means(values, 20)
    assert np.allclose(means[[0, 60, 80]], 0.01, rtol=1e-12)


@given(LINES, st.integers(1, 20))
def test_window_means_are_the_means_of_their_windows(values, window):
    ends, means = window_means(values, window)
    expected = [values[end - window + 1 : end + 1].mean() for end in ends]
    assert np.allclose(means, expected, atol=1e-9)
    assert len(means) == max(0, len(values) - window + 1)


def test_no_window_reaches_over_a_start():
    ends, means = window_means(np.arange(10.0), 3, [5])
    assert ends.tolist() == [2, 3, 4, 7, 8, 9]
    assert means.tolist() == [1, 2, 3, 6, 7, 8]


@given(LINES, st.floats(-5, 5))
def test_a_straight_line_rises_by_its_slope_times_its_span(noise_free, slope):
    steps = np.arange(float(max(3, len(noise_free))))
    found = trend(steps, slope * steps)
    assert found.change == pytest.approx(slope * (len(steps) - 1), abs=1e-6)
    assert found.error == pytest.approx(0, abs=1e-6)


def test_noise_is_no_trend_and_two_points_are_none():
    values = np.random.default_rng(1).normal(size=200)
    assert not trend(np.arange(200.0), values).rises
    assert not trend(np.arange(2.0), np.arange(2.0)).rises


def test_deviations_begin_after_a_whole_history():
    values = np.ones(40)
    values[10] = values[30] = 5
    z, medians = robust_deviations(values, 20)
    assert z.nonzero()[0].tolist() == [30]
    assert medians[30] == 1


def test_a_history_of_zeros_gives_no_deviation():
    values = np.zeros(40)
    values[30] = 5
    assert not robust_deviations(values, 20)[0].any()


@given(st.lists(st.booleans(), max_size=40), st.integers(1, 5))
def test_stretches_are_all_hits_long_enough_and_apart(hits, least):
    found = stretches(np.array(hits, dtype=bool), least)
    covered = {place for begin, end in found for place in range(begin, end + 1)}
    assert all(hits[place] for place in covered)
    assert all(end - begin + 1 >= least for begin, end in found)
    assert all(b - a > 1 for (_, a), (b, _) in pairwise(found))


def test_thirds_and_noise_of_a_smooth_curve():
    values = np.linspace(0, 1, 300)
    assert [round(mean, 2) for mean, _ in thirds(values)] == [0.17, 0.5, 0.83]
    assert noise(values) < 1e-9


HISTORIES = st.one_of(
    st.lists(st.floats(-5, 50), max_size=80),
    st.lists(st.sampled_from([-1.0, 0.0, 0.0, 1.0, 7.0]), max_size=80),
    st.lists(st.floats(allow_nan=False, allow_infinity=False, width=32), max_size=80),
).map(lambda values: np.array(values, dtype="float64"))


def by_the_formula(values, window):
    """Deviations and medians as they are defined, a window at a time."""
    z, medians = np.zeros(len(values)), np.zeros(len(values))
    for place in range(window, len(values)):
        history = values[place - window : place]
        medians[place] = np.median(history)
        scale = max(1.4826 * np.median(abs(history - medians[place])), 0.05 * abs(medians[place]))
        z[place] = (values[place] - medians[place]) / scale if scale else 0
    return z, medians


@given(HISTORIES, st.integers(1, 23))
def test_deviations_are_what_the_formula_says_to_the_last_digit(values, window):
    z, medians = robust_deviations(values, window)
    exact_z, exact_medians = by_the_formula(values, window)
    assert z.tolist() == exact_z.tolist()
    assert medians.tolist() == exact_medians.tolist()


def test_long_series_are_looked_at_in_chunks_that_do_not_show(monkeypatch):
    values = np.random.default_rng(5).standard_cauchy(500)
    whole = robust_deviations(values, 20, [130])
    monkeypatch.setattr(trends, "CHUNK_POINTS", 7)
    assert [part.tolist() for part in robust_deviations(values, 20, [130])] == [part.tolist() for part in whole]


def test_only_the_points_that_are_asked_for_have_a_deviation(monkeypatch):
    monkeypatch.setattr(trends, "CHUNK_POINTS", 7)
    values = np.random.default_rng(6).normal(1, 0.1, 300)
    among = np.zeros(300, dtype=bool)
    among[[3, 50, 51, 222]] = True
    for whole, some in zip(robust_deviations(values, 20), robust_deviations(values, 20, among=among), strict=True):
        assert (some == np.where(among, whole, 0)).all()


@given(
    st.lists(st.floats(-10, 10), min_size=1, max_size=40),
    st.sets(st.integers(1, 39), max_size=4),
    st.integers(1, 10),
)
def test_the_first_and_the_last_window_reach_over_no_restart(values, starts, window):
    starts = tuple(sorted(place for place in starts if place < len(values)))
    line = Line("loss", np.arange(float(len(values))), np.array(values), starts)
    ends, means = line.windows(window)
    if len(ends):
        assert [line.first(window), line.last(window)] == pytest.approx([means[0], means[-1]], abs=1e-9)
    else:
        assert line.first(window) == np.mean(values[:window])
        assert line.last(window) == np.mean(values[-window:])
