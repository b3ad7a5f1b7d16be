"""Windows that are sorted by comparing whole arrays."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rewards_lib.training_metrics.diagnostics.sorted_windows import merged, middle, middle_deviation, sorted_windows

VALUES = st.lists(st.floats(-9, 9) | st.sampled_from([-1.0, 0.0, 1.0]), min_size=1, max_size=70).map(np.array)


@given(VALUES, st.data())
def test_every_window_is_sorted_and_whole(values, data):
    window = data.draw(st.integers(1, len(values)))
    ranks = np.array(sorted_windows(values, window))
    expected = np.sort(np.lib.stride_tricks.sliding_window_view(values, window), axis=1)
    assert (expected == ranks.T).all()


@given(st.lists(st.floats(-9, 9), max_size=30), st.lists(st.floats(-9, 9), max_size=30))
def test_two_sorted_sets_of_any_sizes_are_merged(first, second):
    ranks = merged(*([np.array([value]) for value in sorted(values)] for values in (first, second)))
    assert [float(rank[0]) for rank in ranks] == sorted(first + second)


@given(VALUES, st.data())
def test_the_middle_and_its_deviation_are_the_medians(values, data):
    window = data.draw(st.integers(1, len(values)))
    ranks, windows = sorted_windows(values, window), np.lib.stride_tricks.sliding_window_view(values, window)
    medians = np.median(windows, axis=1)
    assert (middle(ranks) == medians).all()
    assert (middle_deviation(ranks, medians) == np.median(abs(windows - medians[:, None]), axis=1)).all()
