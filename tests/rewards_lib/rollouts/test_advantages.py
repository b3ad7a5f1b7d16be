"""The worked advantages of the trainers, to six places, and what holds for any rewards."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards_lib.rollouts.advantages import advantages, gdpo

WORKED = {
    (1, 0, 0, 1): {"grpo": 0.866024, "grpo_trl": 0.865875, "grpo_openrlhf": 0.866025, "rloo": 0.666667, "dr_grpo": 0.5},
    (1, 0, 0, 0, 0, 0, 0, 0): {
        "grpo": 2.474867, "grpo_trl": 2.474174, "grpo_openrlhf": 2.474874, "rloo": 1.0, "dr_grpo": 0.875,
    },
    (1.2, 0.2, 1.2, -0.3): {
        "grpo": 0.833332, "grpo_trl": 0.833222, "grpo_openrlhf": 0.833333, "rloo": 0.833333, "dr_grpo": 0.625,
    },
}  # fmt: skip


def of(*rewards, groups=None):
    values = np.array([np.nan if reward is None else reward for reward in rewards], dtype=float)
    return advantages(values, np.array(groups or [0] * len(rewards)))


@pytest.mark.parametrize("rewards", WORKED)
def test_the_first_advantage_is_the_trainers(rewards):
    found = of(*rewards)
    assert {name: round(float(found[name][0]), 6) for name in WORKED[rewards]} == WORKED[rewards]


def test_the_last_advantage_of_the_worked_group_is_the_trainers():
    found = of(1.2, 0.2, 1.2, -0.3)
    assert round(float(found["grpo"][3]), 6) == -1.166665
    assert round(float(found["rloo"][3]), 6) == -1.166667


def test_an_unscored_rollout_has_no_advantage_and_moves_nobodys():
    found, without = of(1, None, 0, 0), of(1, 0, 0)
    assert np.isnan(found["grpo"][1])
    assert np.delete(found["grpo"], 1) == pytest.approx(without["grpo"])


def test_equal_rewards_and_rewards_equal_but_for_rounding_have_advantage_zero():
    assert of(0.1 + 0.2, 0.3, 0.3)["grpo_openrlhf"].tolist() == [0.0, 0.0, 0.0]


def test_a_rollout_alone_in_its_group_keeps_its_reward_under_verl():
    found = of(0.7, 1, 0, groups=[0, 1, 1])
    assert (found["grpo"][0], found["rloo"][0], found["grpo_trl"][0]) == (0.7, 0.7, 0.0)


@given(st.lists(st.tuples(st.integers(0, 3), st.floats(-10, 10)), min_size=1, max_size=24))
def test_advantages_of_a_group_add_up_to_zero(pairs):
    groups, rewards = np.array([g for g, _ in pairs]), np.array([r for _, r in pairs])
    found = advantages(rewards, groups)
    for group in set(groups.tolist()):
        if (groups == group).sum() > 1:
            for values in found.values():
                assert abs(values[groups == group].sum()) < 1e-6


def test_gdpo_tells_apart_what_equal_sums_hide():
    rules = {"a": np.array([1.0, 0.0, 0.0]), "b": np.array([0.0, 1.0, 1.0])}
    rewards = rules["a"] + rules["b"]
    found = gdpo(rules, {"a": 1.0, "b": 1.0}, rewards, np.zeros(3, dtype=int))
    assert advantages(rewards, np.zeros(3, dtype=int))["grpo"].tolist() == [0, 0, 0]
    assert abs(found.sum()) < 1e-9
    weighted = gdpo(rules, {"a": 2.0, "b": 1.0}, rewards, np.zeros(3, dtype=int))
    assert weighted[0] > 0 > weighted[1]
