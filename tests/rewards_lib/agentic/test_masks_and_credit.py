"""Masks, shifts and credit: the worked numbers, and what holds for every trajectory."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards_lib.agentic import (
    assign_advantage,
    assign_reward_kl_weighted,
    assign_reward_last_token,
    assign_reward_uniform,
    build_loss_mask,
    mask_from_labels,
    shift_mask_for_clm,
)
from rewards_lib.errors import InputError

ROLES = ["system", "user", "assistant", "tool"]
SPANS = [("system", 0, 2), ("user", 2, 5), ("assistant", 5, 8), ("tool", 8, 10), ("assistant", 10, 12)]
MASK = [0, 0, 1, 1, 0, 1, 1, 1, 0]
KL = [0, 0, 0.1, 0.5, 0, 2.0, 0.1, 0.3, 0]

masks = st.lists(st.integers(0, 1), min_size=1, max_size=40)
rewards = st.floats(-1e6, 1e6)
tilings = st.lists(st.tuples(st.sampled_from(ROLES), st.integers(0, 5)), max_size=12)


class FakeTensor:
    """Behaves as a torch tensor that needs gradients on another device: numpy cannot read it by itself."""

    def __init__(self, values, ready=frozenset()):
        self.values, self.ready = values, ready

    def detach(self):
        return FakeTensor(self.values, self.ready | {"detached"})

    def cpu(self):
        return FakeTensor(self.values, self.ready | {"on the cpu"})

    def double(self):
        return FakeTensor(self.values, self.ready | {"as doubles"})

    def numpy(self):
        assert self.ready == {"detached", "on the cpu", "as doubles"}
        return np.array(self.values, dtype=np.float64)

    def __array__(self, *_args, **_kwargs):
        raise TypeError("can't convert this tensor to numpy")


def test_the_worked_trajectory_has_the_worked_mask():
    assert build_loss_mask(range(12), SPANS).tolist() == [0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 1, 1]


def test_the_loss_of_the_first_assistant_token_stands_at_the_last_prompt_token():
    shifted = shift_mask_for_clm(build_loss_mask(range(12), SPANS))
    assert shifted.tolist() == [0, 0, 0, 0, 1, 1, 1, 0, 0, 1, 1]
    assert (shifted.sum(), len(shifted)) == (5, 11)


def test_the_worked_reward_reaches_the_worked_tokens():
    assert assign_reward_last_token(1.0, MASK).tolist() == [0, 0, 0, 0, 0, 0, 0, 1, 0]
    assert assign_reward_uniform(1.0, MASK).tolist() == pytest.approx([0, 0, 0.2, 0.2, 0, 0.2, 0.2, 0.2, 0])
    weighted = [0, 0, 0.033333, 0.166667, 0, 0.666667, 0.033333, 0.1, 0]
    assert assign_reward_kl_weighted(1.0, MASK, KL).tolist() == pytest.approx(weighted, abs=1e-6)


def test_grpo_puts_one_advantage_on_every_trained_token_not_on_the_last_alone():
    """The course says that GRPO uses the last token only; verl, TRL and OpenRLHF broadcast over the mask."""
    assert assign_advantage(0.5, MASK).tolist() == [0, 0, 0.5, 0.5, 0, 0.5, 0.5, 0.5, 0]


@given(tilings)
def test_exactly_the_assistants_tokens_are_in_the_mask(turns):
    spans, roles = [], []
    for role, length in turns:
        spans.append((role, len(roles), len(roles) + length))
        roles += [role] * length
    assert build_loss_mask(roles, spans).tolist() == [int(role == "assistant") for role in roles]


@given(tilings, st.randoms())
def test_the_order_in_which_spans_are_given_does_not_matter(turns, random):
    spans, start = [], 0
    for role, length in turns:
        spans.append((role, start, start + length))
        start += length
    mixed = random.sample(spans, len(spans))
    assert build_loss_mask(range(start), mixed).tolist() == build_loss_mask(range(start), spans).tolist()


@given(masks)
def test_a_shift_drops_the_first_entry_and_nothing_else(mask):
    shifted = shift_mask_for_clm(mask)
    assert len(shifted) == len(mask) - 1
    assert all(shifted[t] == mask[t + 1] for t in range(len(shifted)))
    assert shifted.sum() == sum(mask) - mask[0]


def test_a_batch_is_shifted_along_its_last_axis():
    assert shift_mask_for_clm([[0, 1, 1], [1, 0, 1]]).tolist() == [[1, 1], [0, 1]]


@given(masks, rewards, st.data())
def test_what_is_assigned_adds_up_to_the_reward_and_stays_within_the_mask(mask, reward, data):
    kl = data.draw(st.lists(st.floats(-100, 100), min_size=len(mask), max_size=len(mask)))
    for assigned in (
        assign_reward_last_token(reward, mask),
        assign_reward_uniform(reward, mask),
        assign_reward_kl_weighted(reward, mask, kl),
    ):
        assert math.isclose(assigned.sum(), reward if any(mask) else 0.0, rel_tol=1e-9, abs_tol=1e-9)
        assert all(value == 0 for value, trained in zip(assigned, mask, strict=True) if not trained)


@given(masks, rewards)
def test_a_broadcast_advantage_grows_with_the_length(mask, advantage):
    assigned = assign_advantage(advantage, mask)
    assert math.isclose(assigned.sum(), advantage * sum(mask), rel_tol=1e-9, abs_tol=1e-9)


def test_without_divergence_the_reward_is_shared_out_evenly():
    tiny = [1e-9] * len(MASK)
    assert assign_reward_kl_weighted(1.0, MASK, tiny).tolist() == assign_reward_uniform(1.0, MASK).tolist()


def test_divergence_outside_the_mask_earns_nothing_even_where_it_is_no_number():
    assert assign_reward_kl_weighted(1.0, [0, 1, 1], [math.nan, 1, 1]).tolist() == [0, 0.5, 0.5]


def test_an_empty_mask_gets_nothing():
    for assigned in (
        assign_reward_last_token(1.0, [0, 0]),
        assign_reward_uniform(1.0, [0, 0]),
        assign_reward_kl_weighted(1.0, [0, 0], [1, 1]),
        assign_advantage(1.0, [0, 0]),
    ):
        assert assigned.tolist() == [0, 0]


def test_tensors_are_read_without_torch():
    tensor = FakeTensor([0, 1, 1])
    assert shift_mask_for_clm(tensor).tolist() == [1, 1]
    assert assign_reward_kl_weighted(1.0, tensor, FakeTensor([0, 1, 3])).tolist() == [0, 0.25, 0.75]


def test_real_tensors_are_read():
    torch = pytest.importorskip("torch", reason="torch is not installed here; the stand-in above holds the contract")
    kl = torch.tensor([0.0, 1.0, 3.0], dtype=torch.bfloat16, requires_grad=True)
    assert assign_reward_kl_weighted(1.0, torch.tensor([0, 1, 1]), kl).tolist() == [0, 0.25, 0.75]


def test_labels_with_minus_hundred_become_a_mask():
    assert mask_from_labels([-100, 5, 0, -100]).tolist() == [0, 1, 1, 0]


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: build_loss_mask(range(3), [("assistant", 1, 4)]), "does not lie within the 3 tokens"),
        (lambda: build_loss_mask(range(3), [("assistant", 2, 1)]), "does not lie within"),
        (lambda: build_loss_mask(range(4), [("assistant", 0, 3), ("tool", 2, 4)]), "begins before"),
        (lambda: shift_mask_for_clm([0, 2]), "holds 0 and 1"),
        (lambda: shift_mask_for_clm([-100, 5]), "mask_from_labels"),
        (lambda: shift_mask_for_clm(["a"]), "not numbers"),
        (lambda: assign_reward_uniform(math.nan, [1]), "cannot be assigned"),
        (lambda: assign_reward_last_token(1.0, [[1]]), "has one mask"),
        (lambda: assign_reward_kl_weighted(1.0, [1, 1], [1]), "1 KL values for 2 tokens"),
        (lambda: assign_reward_kl_weighted(1.0, [1], [math.inf]), "not a finite number"),
    ],
)
def test_what_makes_no_sense_is_refused_in_a_sentence(call, says):
    with pytest.raises(InputError, match=says):
        call()
