"""Windows, trends, robust deviations and stretches of hits."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rewards_lib.training_metrics.diagnostics.trends import (
    noise,
    robust_deviations,
    stretches,
    thirds,
    trend,
    window_means,
)

LINES = st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=60).map(np.array)


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
    z, medians = robust_deviations(values, 20, beyond=3)
    assert z.nonzero()[0].tolist() == [30]
    assert medians[30] == 1


def test_a_history_of_zeros_gives_no_deviation():
    values = np.zeros(40)
    values[30] = 5
    assert not robust_deviations(values, 20, beyond=3)[0].any()


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


@settings(deadline=None)  # the first call loads pandas
@given(st.lists(st.floats(-5, 50), min_size=8, max_size=60).map(np.array))
def test_every_deviation_beyond_the_limit_is_as_the_formula_says(values):
    z, _ = robust_deviations(values, 5, beyond=2)
    for place in range(5, len(values)):
        history = values[place - 5 : place]
        median = np.median(history)
        scale = max(1.4826 * np.median(abs(history - median)), 0.05 * abs(median))
        exact = (values[place] - median) / scale if scale else 0
        if exact > 2 + 1e-9:
            assert z[place] == pytest.approx(exact)
        else:
            assert z[place] <= 2 + 1e-6
