"""Figures of a scored file: bo1, boN, pass at k, zero variance, readiness, rules, metrics, weights."""

import json
import math
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards_lib.errors import InputError
from rewards_lib.rollouts import Recorded, Rollout, analyze, open_rollouts, read_table, reweigh
from rewards_lib.rollouts.group_statistics import group_table, interval, pass_at, passes, wilson
from rewards_lib.rollouts.readiness import judge_readiness
from rewards_lib.rollouts.reward_table import build_table

SAMPLE = {"messages": [], "extra": {}, "tools": []}


def rollouts(*groups, rules=None, extra=None):
    """Groups of rewards; None is unscored."""
    found = []
    for number, rewards in enumerate(groups):
        for reward in rewards:
            line = len(found) + 1
            own = rules(reward) if rules else {"r": reward}
            sample = SAMPLE | {"extra": extra(number) if extra else {}}
            found.append(Rollout(line, str(line), f"g{number}", sample, "x" * line, Recorded(reward, own)))
    return found


def figures(*groups, **options):
    return analyze(build_table(rollouts(*groups)), **options)


def test_best_mean_and_worst_of_n_are_means_over_groups():
    found = figures([1, 0, 0, 0], [1, 1], [0, 0])
    assert (found["bo1"], found["bon"], found["won"]) == pytest.approx(((0.25 + 1 + 0) / 3, 2 / 3, 1 / 3))
    assert found["pass_at"] == pytest.approx({"1": (0.25 + 1 + 0) / 3, "2": (0.5 + 1 + 0) / 3})


def test_unscored_rollouts_are_counted_and_enter_no_mean():
    found = figures([1, None, 0], [None, None])
    assert (found["groups"], found["scored"], found["unscored"], found["bo1"]) == (2, 2, 3, 0.5)
    assert found["rules"]["r"] == pytest.approx({"mean": 0.5, "std": math.sqrt(0.5), "min": 0, "max": 1, "n": 2})
    assert found["advantages"]["grpo"][1] is None


def test_zero_variance_groups_are_told_apart_by_whether_they_are_right():
    found = figures([1, 1], [0, 0], [0, 0], [1, 0])
    assert found["zero_variance_share"] == 0.75
    assert found["zero_variance"] == {"all_right": 1, "all_wrong": 2}


def test_the_worked_pass_at_k():
    assert [round(pass_at(8, 2, k), 6) for k in (1, 4, 8)] == [0.25, 0.785714, 1.0]


@given(st.lists(st.lists(st.sampled_from([0.0, 1.0]), min_size=1, max_size=9), min_size=1, max_size=9))
def test_pass_at_one_is_the_share_of_right_rollouts_and_pass_at_k_grows(groups):
    table = group_table(build_table(rollouts(*groups)), right=0.5)
    found = {k: values.mean() for k, values in passes(table).items()}
    assert found[1] == pytest.approx(table.means.mean())
    assert list(found.values()) == sorted(found.values())
    assert max(found) <= min(map(len, groups))


_REWARD = st.one_of(st.none(), st.sampled_from([0.0, 0.3, 0.5, 1.0, -2.5]))


@given(
    st.one_of(
        st.lists(st.lists(_REWARD, min_size=1, max_size=9), min_size=1, max_size=9),
        st.integers(1, 9).flatmap(lambda n: st.lists(st.lists(_REWARD, min_size=n, max_size=n), min_size=1)),
    )
)
def test_groups_of_one_size_and_of_many_are_summed_up_alike(groups):
    found = group_table(build_table(rollouts(*groups)), right=0.5)
    scored = [own for group in groups if (own := [reward for reward in group if reward is not None])]
    assert found.sizes.tolist() == list(map(len, scored))
    assert found.best.tolist() == list(map(max, scored))
    assert found.worst.tolist() == list(map(min, scored))
    assert found.right.tolist() == [sum(reward >= 0.5 for reward in own) for own in scored]
    assert found.means.tolist() == pytest.approx([sum(own) / len(own) for own in scored])


@pytest.mark.parametrize(
    ("verdict", "groups", "unscored"),
    [
        ("too_few", [[1, 0]] * 9, 0.0),
        ("too_few", [[1]] * 40, 0.0),
        ("unscored", [[1, 0]] * 40, 0.06),
        ("not_needed", [[1, 1]] * 40, 0.0),
        ("rft_first", [[0, 0]] * 30 + [[1, 0]] * 10, 0.0),
        ("no_headroom", [[1, 1]] * 30 + [[0, 0]] * 10, 0.0),
        ("ready", [[1, 0]] * 40, 0.0),
    ],
)
def test_the_first_verdict_that_holds_is_given(verdict, groups, unscored):
    table = group_table(build_table(rollouts(*groups)), right=0.5)
    assert judge_readiness(table, unscored_share=unscored).verdict == verdict


def test_a_verdict_over_few_groups_says_that_it_is_uncertain():
    table = group_table(build_table(rollouts(*[[1, 0]] * 12)), right=0.5)
    assert "uncertain" in str(judge_readiness(table, unscored_share=0.0).why)


def test_right_is_half_of_the_largest_reward_and_can_be_set():
    assert figures([1.2, 0.5], [0.7, 0.1])["pass_at"]["1"] == 0.5
    assert figures([1.2, 0.5], [0.7, 0.1], right=1.0)["pass_at"]["1"] == 0.25
    assert figures([0, -1], [0, 0])["pass_at"]["1"] == 0.0


def test_intervals_hold_the_mean_and_are_the_same_every_time():
    values = np.array([0.0, 1.0] * 40)
    low, high = interval(values)
    assert low < 0.5 < high
    assert interval(values) == (low, high)
    assert interval(values[:1]) is None
    assert wilson(0, 0) == (0.0, 1.0)


def test_the_weights_are_found_when_the_rewards_settle_them():
    def table(rules):
        return build_table(rollouts([1.3, 0.3], [1.0, 0.0], rules=rules))

    found = analyze(table(lambda reward: {"a": float(reward >= 1), "b": float(reward in (1.3, 0.3))}))
    assert found["weights"] == {"a": 1.0, "b": 0.3}
    assert "gdpo" in found["advantages"]
    unsettled = analyze(table(lambda reward: {"a": reward, "b": reward}))
    assert unsettled["weights"] is None
    assert "gdpo" not in unsettled["advantages"]


def test_other_weights_change_the_rewards_without_scoring():
    table = build_table(rollouts([1.0, 0.5], [None, 0.2], rules=lambda reward: {"a": reward, "b": 0.1}))
    found = reweigh(table, {"a": Decimal("0.35"), "b": Decimal(2)})
    assert found.rewards.tolist()[:2] == [0.55, 0.375]
    assert math.isnan(found.rewards[2])
    with pytest.raises(InputError, match="a, b"):
        reweigh(table, {"a": Decimal(1)})


def test_slices_give_the_figures_by_a_field():
    found = analyze(
        build_table(rollouts([1, 0], [1, 1], [0, None], extra=lambda n: {"level": n % 2}), by="level"), right=0.5
    )["slices"]
    assert found["0"]["unscored"] == 1
    assert (found["0"]["bo1"], found["1"]["bo1"], found["1"]["is_few"]) == (0.25, 1.0, True)


def test_metrics_are_averaged_over_the_rollouts_that_have_them(write):
    rows = [{"id": n, "group": "g", "reward": 1.0, "rules": {"r": 1.0, "s": 1.0}} for n in range(3)]
    rows[0]["metrics"] = {"r": {"calls": 2.0, "n": 1.0}, "s": {"n": 5.0}}
    rows[1]["metrics"] = {"r": {"calls": 4.0}}
    found = analyze(read_table(open_rollouts(write(rows))))["metrics"]
    assert found["calls"] == {"mean": 3.0, "min": 2.0, "max": 4.0, "n": 2}
    assert found["r/n"]["mean"] == 1.0
    assert found["s/n"]["mean"] == 5.0


def test_the_result_is_strict_json():
    json.dumps(figures([1, None], [0.5, 0.25]), allow_nan=False)
    json.dumps(figures([None, None]), allow_nan=False)
