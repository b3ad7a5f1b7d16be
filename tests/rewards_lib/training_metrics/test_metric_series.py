"""Smoothing, cutting, down-sampling and summing up one series."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards_lib.errors import InputError
from rewards_lib.training_metrics import Series, downsample, drawn_points, means_around, series, smooth_series

numbers = st.floats(-1e6, 1e6)


def line(values, steps=None) -> Series:
    values = np.asarray(values, dtype="float64")
    return Series(np.arange(1.0, len(values) + 1) if steps is None else np.asarray(steps, dtype="float64"), values)


def test_smoothing_is_debiased_at_the_start():
    assert smooth_series(line([1, 2, 3]), 0.5).values == pytest.approx([1, 5 / 3, 17 / 7])


@given(st.lists(numbers, min_size=1, max_size=40), st.floats(0, 0.99))
def test_smoothing_is_the_weighted_mean_of_what_came_before(values, weight):
    smoothed = smooth_series(line(values), weight).values
    for place in range(len(values)):
        shares = [weight ** (place - k) if weight or place != k else 1.0 for k in range(place + 1)]
        expected = math.fsum(s * v for s, v in zip(shares, values, strict=False)) / math.fsum(shares)
        assert smoothed[place] == pytest.approx(expected, rel=1e-9, abs=1e-6)


@pytest.mark.parametrize("weight", [0.3, 0.8, 0.99, 0.9999])
def test_smoothing_in_blocks_changes_no_digit(weight, monkeypatch):
    whole = line(np.random.default_rng(7).standard_cauchy(40_000))
    smoothed = smooth_series(whole, weight).values
    monkeypatch.setattr(series, "BLOCK_POINTS", len(whole))
    assert smooth_series(whole, weight).values.tolist() == smoothed.tolist()


@pytest.mark.parametrize("weight", [-0.1, 1, 1.5, math.nan])
def test_a_weight_outside_zero_to_one_is_refused(weight):
    with pytest.raises(InputError, match="from 0 to below 1"):
        smooth_series(line([1, 2]), weight)


@given(st.integers(0, 2**32 - 1), st.integers(2100, 5000))
def test_downsampling_keeps_minimum_maximum_and_both_ends(seed, size):
    rng = np.random.default_rng(seed)
    whole = line(rng.standard_cauchy(size), np.cumsum(rng.integers(1, 5, size)))
    kept = downsample(whole, 200)
    assert len(kept) <= 204
    assert (kept.values.min(), kept.values.max()) == (whole.values.min(), whole.values.max())
    assert (kept.steps[0], kept.steps[-1]) == (whole.steps[0], whole.steps[-1])
    assert (np.diff(kept.steps) > 0).all()
    assert set(zip(kept.steps, kept.values, strict=True)) <= set(zip(whole.steps, whole.values, strict=True))


def test_a_short_series_is_drawn_whole():
    assert downsample(line([1, 2, 3])).values.tolist() == [1, 2, 3]


def test_a_line_breaks_at_a_gap_of_more_than_five_median_steps():
    steps, values = drawn_points(line([1, 2, 3, 4, 5], [1, 2, 3, 9, 10]))
    assert steps.tolist() == [1, 2, 3, 6, 9, 10]
    assert np.isnan(values).tolist() == [False, False, False, True, False, False]


def test_a_line_does_not_break_at_a_gap_of_five_median_steps():
    assert len(drawn_points(line([1, 2, 3, 4], [1, 2, 3, 8]))[0]) == 4


def test_a_gap_is_still_a_gap_after_downsampling():
    steps = np.concatenate([np.arange(5000.0), np.arange(9000.0, 14000.0)])
    drawn, values = drawn_points(line(np.sin(steps), steps), 100)
    assert np.isnan(values).sum() == 1
    assert 4999 < drawn[np.isnan(values)][0] < 9000


def test_a_range_holds_both_its_ends():
    assert line([1, 2, 3, 4]).within((2, 3)).steps.tolist() == [2, 3]
    assert line([1, 2, 3, 4]).within((None, 2)).steps.tolist() == [1, 2]
    assert line([1, 2, 3, 4]).within((9, None)).summary() == {
        "mean": None,
        "min": None,
        "max": None,
        "last": None,
        "n": 0,
    }


def test_whole_steps_are_written_as_integers_and_fractions_as_they_are():
    assert line([0.5], [3]).to_json() == [[3, 0.5]]
    assert isinstance(line([0.5], [3]).to_json()[0][0], int)
    assert line([0.5, 1], [0.25, 3]).to_json() == [[0.25, 0.5], [3.0, 1]]


def test_training_is_averaged_round_each_evaluation_and_not_behind_it():
    steps = np.arange(1.0, 101.0)
    around = means_around(Series(steps, steps), np.array([0.0, 10.0, 50.0, 200.0]))
    assert around.steps.tolist() == [10, 50]
    assert around.values.tolist() == [10, 50]
