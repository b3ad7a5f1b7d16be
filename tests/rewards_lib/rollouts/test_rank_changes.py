"""Order inside groups: counted for all groups of a size at once, equal to looking at each pair."""

import math
from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rewards_lib.rollouts.rank_changes import rank_changes

ROLLOUT = st.tuples(st.integers(0, 4), st.sampled_from([0.0, 0.5, 1.0, float("nan")]), st.sampled_from([0.0, 1.0, 2.0]))


def sign(one, other):
    return (one > other) - (one < other)


def pair_by_pair(rollouts):
    flips = broken = made = pairs = 0
    taus = []
    for group in {number for number, *_ in rollouts}:
        own = [(a, b) for number, a, b in rollouts if number == group and not math.isnan(a)]
        signs = [(sign(x[0], y[0]), sign(x[1], y[1])) for x, y in combinations(own, 2)]
        pairs += len(signs)
        flips += sum(a * b < 0 for a, b in signs)
        broken += sum(a == 0 and b != 0 for a, b in signs)
        made += sum(a != 0 and b == 0 for a, b in signs)
        ordered = sum(a != 0 for a, _ in signs) * sum(b != 0 for _, b in signs)
        taus += [sum(a * b for a, b in signs) / math.sqrt(ordered)] if ordered else []
    return pairs, flips, broken, made, sum(taus) / len(taus) if taus else None


@given(st.lists(ROLLOUT, min_size=1, max_size=30))
def test_counts_are_those_of_looking_at_each_pair(rollouts):
    group_of, a, b = (np.array(column) for column in zip(*rollouts, strict=True))
    found = rank_changes(a.astype(float), b.astype(float), group_of)
    pairs, flips, broken, made, tau = pair_by_pair(rollouts)
    assert (found.pairs, found.flips, found.ties_broken, found.ties_made) == (pairs, flips, broken, made)
    assert (found.kendall_tau is None) == (tau is None)
    assert tau is None or math.isclose(found.kendall_tau, tau, abs_tol=1e-9)
