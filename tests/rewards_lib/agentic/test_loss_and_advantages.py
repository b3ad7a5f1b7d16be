"""Group advantages and the four ways to aggregate a loss, against the page's and the trainers' numbers."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards_lib.agentic import ALGORITHMS, LossMode, aggregate_loss, group_advantages
from rewards_lib.errors import InputError

# An advantage of +1 on two tokens and of -1 on six; the loss is minus the advantage.
LOSSES = [[-1, -1, 0, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1, 0, 0]]
MASK = [[1, 1, 0, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1, 0, 0]]
WORKED = {
    "token-mean": 0.5, "seq-mean-token-mean": 0.0, "seq-mean-token-sum": 2.0, "seq-mean-token-sum-norm": 0.25,
}  # fmt: skip
GROUPS = {
    (1, 0, 0, 1): {"grpo": 0.866024, "grpo_trl": 0.865875, "grpo_openrlhf": 0.866025, "rloo": 0.666667, "dr_grpo": 0.5},
    (1, 0, 0, 0, 0, 0, 0, 0): {
        "grpo": 2.474867, "grpo_trl": 2.474174, "grpo_openrlhf": 2.474874, "rloo": 1.0, "dr_grpo": 0.875,
    },
    (1.2, 0.2, 1.2, -0.3): {
        "grpo": 0.833332, "grpo_trl": 0.833222, "grpo_openrlhf": 0.833333, "rloo": 0.833333, "dr_grpo": 0.625,
    },
}  # fmt: skip
batches = st.integers(1, 5).flatmap(
    lambda width: st.lists(
        st.tuples(
            st.lists(st.floats(-100, 100), min_size=width, max_size=width),
            st.lists(st.integers(0, 1), min_size=width, max_size=width),
        ),
        min_size=1, max_size=5,
    )
)  # fmt: skip


@pytest.mark.parametrize("mode", WORKED)
def test_the_worked_batch_has_the_worked_loss(mode):
    assert set(WORKED) == set(LossMode)
    assert aggregate_loss(LOSSES, MASK, mode) == pytest.approx(WORKED[mode])


@given(batches)
def test_the_four_modes_agree_on_one_trajectory_but_for_its_length(batch):
    (losses, mask), *_ = batch
    if any(mask):
        total = aggregate_loss([losses], [mask], LossMode.MEAN_OF_SEQUENCE_SUMS)
        assert aggregate_loss([losses], [mask], LossMode.MEAN_OVER_TOKENS) * sum(mask) == pytest.approx(total)
        assert aggregate_loss([losses], [mask], LossMode.MEAN_OF_SEQUENCE_MEANS) * sum(mask) == pytest.approx(total)
        norm = aggregate_loss([losses], [mask], LossMode.MEAN_OF_SEQUENCE_SUMS_OVER_HORIZON, horizon=7)
        assert norm * 7 == pytest.approx(total)


@given(batches, st.floats(-1e6, 1e6))
def test_what_stands_outside_the_mask_does_not_count(batch, junk):
    losses, mask = [list(row) for row, _ in batch], [row for _, row in batch]
    if any(map(any, mask)):
        spoilt = [
            [value if kept else junk for value, kept in zip(*rows, strict=True)]
            for rows in zip(losses, mask, strict=True)
        ]
        for mode in LossMode:
            assert aggregate_loss(spoilt, mask, mode) == aggregate_loss(losses, mask, mode)


@pytest.mark.parametrize("mode", LossMode)
def test_a_trajectory_without_a_trained_token_changes_no_mean(mode):
    longer = aggregate_loss([*LOSSES, [9] * 8], [*MASK, [0] * 8], mode)
    assert longer == aggregate_loss(LOSSES, MASK, mode)


def test_a_batch_without_a_trained_token_has_no_loss_rather_than_zero():
    with pytest.raises(InputError, match="it has no loss"):
        aggregate_loss([[1.0]], [[0]], LossMode.MEAN_OVER_TOKENS)


@pytest.mark.parametrize(("losses", "mask", "mode", "says"), [
    ([[1, 2]], [[1]], "token-mean", "shape"), ([1, 2], [1, 1], "token-mean", "shape"),
    ([[1]], [[1]], "mean", "Use one of token-mean"),
])  # fmt: skip
def test_shapes_and_modes_that_do_not_fit_are_refused(losses, mask, mode, says):
    with pytest.raises(InputError, match=says):
        aggregate_loss(losses, mask, mode)


@pytest.mark.parametrize("rewards", GROUPS)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_first_member_of_the_worked_groups_has_the_worked_advantage(rewards, algorithm):
    assert group_advantages(rewards, algorithm=algorithm)[0] == pytest.approx(GROUPS[rewards][algorithm], abs=1e-6)


@given(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=16), st.sampled_from(ALGORITHMS))
def test_the_advantages_of_a_group_add_up_to_zero(rewards, algorithm):
    assert math.isclose(group_advantages(rewards, algorithm=algorithm).sum(), 0.0, abs_tol=1e-6)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_equal_rewards_teach_nothing_and_unscored_ones_take_no_part(algorithm):
    assert group_advantages([0.3, 0.1 + 0.2, 0.3], algorithm=algorithm).tolist() == [0, 0, 0]
    with_gap = group_advantages([1, None, 0], algorithm=algorithm).tolist()
    assert math.isnan(with_gap[1])
    assert [with_gap[0], with_gap[2]] == group_advantages([1, 0], algorithm=algorithm).tolist()


def test_a_group_of_one_gets_its_reward_from_verl_and_nothing_from_the_others():
    found = {name: group_advantages([0.7], algorithm=name).tolist()[0] for name in ALGORITHMS}
    assert found == {"grpo": 0.7, "grpo_trl": 0, "grpo_openrlhf": 0, "dr_grpo": 0, "rloo": 0.7}


def test_an_unknown_algorithm_is_refused_with_the_known_ones():
    with pytest.raises(InputError, match="Use one of grpo, grpo_trl"):
        group_advantages([1, 0], algorithm="ppo")
